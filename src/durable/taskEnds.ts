import type { Services } from '../session/services.js';
import type { BackgroundTaskEnd } from '../tool/types.js';
import type { TaskDesk } from './taskDesk.js';
import type { AdoptedTask } from './toolStep.js';

/** The background tasks of a session, as they become known to it: handed over with a call's step, ended by a message. */
export class TaskEnds {
  readonly adopted = new Map<string, AdoptedTask>();
  private readonly sessions = new Set<Services>();
  private readonly ends = new Map<string, (end: BackgroundTaskEnd) => void>();

  constructor(
    private readonly sessionId: string,
    private readonly desk: TaskDesk,
  ) {}

  adopt(task: AdoptedTask, callId: string, services: Services): void {
    const { id, kind, title, outputFile } = task;
    this.adopted.set(id, task);
    this.sessions.add(services);
    const done = new Promise<BackgroundTaskEnd>((resolve) => this.ends.set(id, resolve));
    services.tasks.adopt({ id, kind, title, callId, outputFile, done, stop: () => this.desk.stop(this.sessionId, id) });
  }

  /** Ends that come again change nothing. */
  end(taskId: string, end: BackgroundTaskEnd): void {
    this.ends.get(taskId)?.(end);
    this.ends.delete(taskId);
    this.adopted.delete(taskId);
  }

  get running(): number {
    let count = 0;
    for (const { tasks } of this.sessions) count += tasks.list().filter(({ status }) => status === 'running').length;
    return count;
  }

  /** Looks for tasks whose worker is gone. Live: what is found comes back as a message. */
  async report(): Promise<void> {
    for (const task of this.adopted.values()) await this.desk.reportLost(this.sessionId, task);
  }
}
