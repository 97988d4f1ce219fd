import { z } from 'zod';
import { buildTool } from '../tool/build.js';
import { ToolFailure } from '../tool/errors.js';
import type { BackgroundTaskInfo, BackgroundTasks, ToolContext } from '../tool/types.js';

const inputSchema = z.strictObject({ task_id: z.string().min(1).describe('Id of the background task') });

/** The session's tasks and the one that is meant, or a failure that names those there are. */
export function taskOf(id: string, context: ToolContext): { readonly tasks: BackgroundTasks; readonly task: BackgroundTaskInfo } {
  const { tasks } = context.capabilities;
  if (tasks === undefined) throw new ToolFailure('This session has no background tasks.');
  const task = tasks.get(id);
  if (task !== undefined) return { tasks, task };
  const known = tasks.list().map((other) => `${other.id} (${other.status})`);
  throw new ToolFailure(`There is no background task ${id}. ${known.length === 0 ? 'There are none.' : `There are: ${known.join(', ')}.`}`);
}

/** Stops a background task and everything it started. */
export function taskStopTool() {
  return buildTool({
    name: 'TaskStop',
    aliases: ['KillShell', 'KillBash'],
    description: 'Stop a background task',
    prompt: 'Stops a background task by its id, with every process it started, and answers when they are gone.',
    inputSchema,
    searchHint: 'kill stop background task shell',
    shouldDefer: true,
    // A session may stop what it has started.
    checkPermissions: () => ({ behavior: 'allow', reason: 'It stops only what this session started.' }),
    async call({ task_id }, context) {
      const { tasks, task } = taskOf(task_id, context);
      return { data: task.status === 'running' ? await tasks.stop(task_id) : task };
    },
    mapToolResultToToolResultBlockParam: (task) => ({
      content: `Task ${task.id} (${task.title}) is ${task.status}. Its output is in ${task.outputFile}`,
    }),
    renderToolUseMessage: ({ task_id }) => ({ title: `Stop ${task_id}` }),
    renderToolResultMessage: (task) => ({ title: `${task.title}: ${task.status}` }),
  });
}
