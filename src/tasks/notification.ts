import type { BackgroundTaskInfo } from '../tool/types.js';

/** The id under which a task's end is told: one task, one notification, also across restarts. */
export const taskNotificationId = (taskId: string): string => `task:${taskId}`;

/** A task's end as the model reads it. */
export function taskNotificationText(task: BackgroundTaskInfo): string {
  const code = task.exitCode === undefined || task.exitCode === null ? [] : [`Exit code: ${task.exitCode}`];
  return [
    `Background task ${task.id} (${task.title}) has ended.`,
    `Status: ${task.status}`,
    ...code,
    `Output file: ${task.outputFile}`,
    ...(task.summary ? [`Summary: ${task.summary}`] : []),
  ].join('\n');
}

/** What became of a task is unknown: the process that watched it is gone. */
export interface LostTask {
  readonly taskId: string;
  readonly title: string;
  readonly outputFile: string;
}

/** The notification for a task whose process died before it ended. */
export function lostTaskText({ taskId, title, outputFile }: LostTask): string {
  return [
    `Background task ${taskId} (${title}) is lost: the process that ran it ended before the task did.`,
    'Status: unknown. It may have been cut off, or what it started may still be running; it was not started again.',
    `Output file: ${outputFile}`,
  ].join('\n');
}
