import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { isProcessAlive } from '../processLife.js';
import { endOf } from '../tasks/taskEnd.js';
import type { BackgroundTaskStart } from '../tool/types.js';
import { type Post, warnOf } from './post.js';
import type { AdoptedTask } from './toolStep.js';

/** Of calls that were refused and never begin, the oldest are forgotten. */
const MOST_ALLOWED = 10_000;

/**
 * The work of one worker process, for all sessions. A background task belongs to the process that started it; the session, wherever it
 * is rebuilt, hears of the end by message.
 */
export class TaskDesk {
  private readonly running = new Map<string, BackgroundTaskStart>();
  /** Calls that may begin in this process and have not: the attempt that said so, by session and call. */
  private readonly allowed = new Map<string, string>();

  constructor(private readonly post: Post) {}

  /** An attempt in this process has written down that it may begin a call. */
  allow(sessionId: string, callId: string, attempt: string): void {
    this.allowed.set(`${sessionId}/${callId}`, attempt);
    const [oldest] = this.allowed.keys();
    if (this.allowed.size > MOST_ALLOWED && oldest !== undefined) this.allowed.delete(oldest);
  }
  /** Whether the call that `attempt` was to begin has certainly not begun. True once. */
  begin(sessionId: string, callId: string, attempt: string): boolean {
    const key = `${sessionId}/${callId}`;
    return this.allowed.get(key) === attempt && this.allowed.delete(key);
  }

  /** Takes work over. The id follows from session and call, so that it is the same for everybody. */
  adopt(sessionId: string, name: string, start: BackgroundTaskStart): string {
    const id = `task_${createHash('sha256').update(`${sessionId}:${name}`).digest('hex').slice(0, 12)}`;
    this.running.set(`${sessionId}/${id}`, start);
    endOf(start.done)
      .then(async (end) => {
        await this.post(sessionId, { type: 'taskEnded', taskId: id, end }, `ended:${id}`);
        this.running.delete(`${sessionId}/${id}`);
      })
      .catch(warnOf(`The end of background task ${id}`));
    return id;
  }

  /** Ends the work, where it runs in this process. */
  stop(sessionId: string, taskId: string): void {
    this.running.get(`${sessionId}/${taskId}`)?.stop();
  }
  askToStop(sessionId: string, taskId: string): Promise<void> {
    return this.post(sessionId, { type: 'stopTask', taskId });
  }

  /** Tells a session of a task whose process is gone. Where that process is on another host nothing is known, and nothing said. */
  async reportLost(sessionId: string, { id, host, pid, life }: AdoptedTask): Promise<void> {
    if (host !== hostname() || this.running.has(`${sessionId}/${id}`)) return;
    if (pid !== process.pid && isProcessAlive(pid, life)) return;
    const summary = 'Lost: the worker that ran it is gone. It may have been cut off; it was not started again.';
    await this.post(sessionId, { type: 'taskEnded', taskId: id, end: { status: 'failed', exitCode: null, summary } }, `lost:${id}`);
  }
}
