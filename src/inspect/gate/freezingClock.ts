import { type Clock, type MonotonicClock, systemClock } from '../../model/clock.js';

interface Timer {
  readonly work: () => void;
  /** Milliseconds left when it was last set going. */
  left: number;
  since: number;
  handle: { readonly id: unknown } | null;
}

/** A clock whose timers stand still while frozen, and go on with what was left. */
export class FreezingClock implements Clock {
  readonly #timers = new Map<number, Timer>();
  #next = 1;
  #frozen = false;

  constructor(readonly base: MonotonicClock = systemClock) {}

  get size(): number {
    return this.#timers.size;
  }

  setTimeout(work: () => void, ms: number): number {
    const id = this.#next++;
    const timer: Timer = { work, left: ms, since: 0, handle: null };
    this.#timers.set(id, timer);
    if (!this.#frozen) this.#run(id, timer);
    return id;
  }

  clearTimeout(id: unknown): void {
    if (typeof id !== 'number') return;
    const timer = this.#timers.get(id);
    if (timer?.handle) this.base.clearTimeout(timer.handle.id);
    this.#timers.delete(id);
  }

  freeze(): void {
    if (this.#frozen) return;
    this.#frozen = true;
    for (const timer of this.#timers.values()) {
      if (!timer.handle) continue;
      this.base.clearTimeout(timer.handle.id);
      timer.handle = null;
      timer.left = Math.max(0, timer.left - (this.base.now() - timer.since));
    }
  }

  thaw(): void {
    if (!this.#frozen) return;
    this.#frozen = false;
    for (const [id, timer] of this.#timers) this.#run(id, timer);
  }

  #run(id: number, timer: Timer): void {
    timer.since = this.base.now();
    const work = (): void => {
      this.#timers.delete(id);
      timer.work();
    };
    timer.handle = { id: this.base.setTimeout(work, timer.left) };
  }
}
