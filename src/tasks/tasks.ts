import type { TaskEnd } from '../../machines/backgroundTask.js';
import type { JournalEntry } from '../messages/journal.js';
import type { Clock } from '../model/clock.js';
import { messageOf } from '../tool/errors.js';
import type { BackgroundTaskHandle, BackgroundTaskInfo, BackgroundTaskStart, BackgroundTasks } from '../tool/types.js';
import { taskNotificationId, taskNotificationText } from './notification.js';
import { readTaskEnd } from './taskEnd.js';

/** What tasks need of the session they belong to. */
export interface TaskHost {
  readonly now: () => number;
  readonly newId: () => string;
  journal(entry: JournalEntry): void;
  update(
    update:
      | { readonly type: 'task.started'; readonly task: BackgroundTaskInfo }
      | { readonly type: 'task.ended'; readonly task: BackgroundTaskInfo },
  ): void;
  /** Enqueues a notification for the model, under an id that is told once. */
  notify(text: string, id: string): void;
  nextNotification(signal: AbortSignal): Promise<void>;
  /** Starts the task's actor as a child of the session's. */
  spawn(task: { readonly taskId: string; readonly kind: string; readonly title: string }): void;
  /** Asks the task's actor to end it. */
  askToStop(taskId: string): void;
}

interface Entry {
  readonly start: BackgroundTaskStart;
  info: BackgroundTaskInfo;
  readonly ended: Promise<BackgroundTaskInfo>;
  readonly end: (info: BackgroundTaskInfo) => void;
}

/**
 * The background tasks of a session. Each has an actor that fixes its end; here is what tools and people ask about: the list, the
 * waiting and the stopping. A status goes from `running` to one terminal status and never back, and what is listed, told to the model
 * and written down are the same facts.
 */
export class SessionTasks implements BackgroundTasks {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly host: TaskHost) {}

  adopt(start: BackgroundTaskStart): BackgroundTaskHandle {
    // Under the id of another task, the end of one of them would never be told.
    const id = start.id === undefined || this.entries.has(start.id) ? this.freshId() : start.id;
    const { kind, title, callId, outputFile } = start;
    const info: BackgroundTaskInfo = { id, kind, title, callId, outputFile, startedAt: this.host.now(), status: 'running' };
    let end: Entry['end'] = () => {};
    const ended = new Promise<BackgroundTaskInfo>((resolve) => {
      end = resolve;
    });
    this.entries.set(id, { start, info, ended, end });
    this.host.journal({ type: 'task.started', taskId: id, kind, title, callId, outputFile });
    this.host.update({ type: 'task.started', task: info });
    this.host.spawn({ taskId: id, kind, title });
    return { id, outputFile };
  }

  list(): readonly BackgroundTaskInfo[] {
    return [...this.entries.values()].map(({ info }) => info);
  }
  get(id: string): BackgroundTaskInfo | undefined {
    return this.entries.get(id)?.info;
  }

  stop(id: string): Promise<BackgroundTaskInfo> {
    const entry = this.entries.get(id);
    if (!entry) return Promise.reject(new Error(`There is no background task ${id}.`));
    if (entry.info.status === 'running') this.host.askToStop(id);
    return entry.ended;
  }

  /** Resolves with the task as it is when it has ended or the signal fires, whichever comes first. */
  settled(id: string, signal: AbortSignal): Promise<BackgroundTaskInfo> {
    const entry = this.entries.get(id);
    if (!entry) return Promise.reject(new Error(`There is no background task ${id}.`));
    if (signal.aborted || entry.info.status !== 'running') return Promise.resolve(entry.info);
    return new Promise((resolve) => {
      const giveUp = () => resolve(entry.info);
      signal.addEventListener('abort', giveUp, { once: true });
      void entry.ended.then((info) => {
        signal.removeEventListener('abort', giveUp);
        resolve(info);
      });
    });
  }

  nextNotification(signal: AbortSignal): Promise<void> {
    return this.host.nextNotification(signal);
  }

  /** The port of a task's actor: settles when everything the task started is gone and its output is complete. */
  async awaitEnd(id: string): Promise<TaskEnd> {
    const entry = this.entries.get(id);
    if (!entry) return { status: 'failed', exitCode: null, summary: `There is no background task ${id}.` };
    return readTaskEnd(await entry.start.done);
  }

  /** Total: a task whose stop throws is still waited for. */
  stopWork(id: string): void {
    try {
      this.entries.get(id)?.start.stop();
    } catch (error) {
      this.host.notify(`Background task ${id} could not be told to stop: ${messageOf(error)}`, `${taskNotificationId(id)}:stop`);
    }
  }

  /**
   * Fixes a task's end, once. The notification is written down before the end itself: whoever finds a task without an end in the
   * journal of a dead process also knows whether it has been told.
   */
  settle(id: string, end: TaskEnd): void {
    const entry = this.entries.get(id);
    if (entry?.info.status !== 'running') return;
    entry.info = { ...entry.info, status: end.status, summary: end.summary, exitCode: end.exitCode };
    this.host.notify(taskNotificationText(entry.info), taskNotificationId(id));
    this.host.journal({ type: 'task.ended', taskId: id, ...end });
    this.host.update({ type: 'task.ended', task: entry.info });
    entry.end(entry.info);
  }

  /** Stops what runs and waits for it, no longer than `graceMs`. Returns what has not ended by then. */
  async close(graceMs: number, clock: Clock): Promise<readonly BackgroundTaskInfo[]> {
    const running = [...this.entries.values()].filter(({ info }) => info.status === 'running');
    if (running.length === 0) return [];
    for (const { info } of running) this.host.askToStop(info.id);
    let timer: unknown;
    const patience = new Promise<void>((resolve) => {
      timer = clock.setTimeout(resolve, graceMs);
    });
    await Promise.race([Promise.all(running.map(({ ended }) => ended)), patience]);
    clock.clearTimeout(timer);
    return running.map(({ info }) => info).filter(({ status }) => status === 'running');
  }

  /** Stops everything without its actors, which are gone: their session has broken. */
  stopAll(): void {
    for (const { info } of this.entries.values()) {
      if (info.status !== 'running') continue;
      this.stopWork(info.id);
      void this.awaitEnd(info.id).then((end) => this.settle(info.id, end));
    }
  }

  private freshId(): string {
    for (let chars = 8; ; chars += 4) {
      const id = `task_${this.host.newId().replaceAll('-', '').slice(0, chars)}`;
      if (!this.entries.has(id)) return id;
    }
  }
}
