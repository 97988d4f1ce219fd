import { setMaxListeners } from 'node:events';
import type { Clock } from '../model/clock.js';

/** A limit of time over several steps, on an injected clock. */
export class Deadline {
  private readonly controller = new AbortController();
  private readonly timer: unknown;

  constructor(
    ms: number,
    private readonly clock: Clock,
  ) {
    // One listener a request: a listing of many pages is no leak.
    setMaxListeners(0, this.controller.signal);
    this.timer = clock.setTimeout(() => this.controller.abort('timeout'), ms);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }
  get isOver(): boolean {
    return this.controller.signal.aborted;
  }

  /** Rejects when the time is over, whatever becomes of the work. */
  bound<T>(work: Promise<T>): Promise<T> {
    const { signal } = this.controller;
    return new Promise<T>((resolve, reject) => {
      const over = () => reject(new Error('out of time'));
      if (signal.aborted) over();
      signal.addEventListener('abort', over, { once: true });
      work.then(resolve, reject).finally(() => signal.removeEventListener('abort', over));
    });
  }

  /** Ends the work before its time. */
  cancel(): void {
    this.clear();
    this.controller.abort('cancelled');
  }

  clear(): void {
    this.clock.clearTimeout(this.timer);
  }
}
