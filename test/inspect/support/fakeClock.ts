import type { BaseClock } from '../../../src/inspect/index.js';

/** Time that only `advance` moves; timers fire in order, also those set on the way. */
export class FakeClock implements BaseClock {
  #now = 0;
  #next = 1;
  readonly #timers = new Map<number, { readonly due: number; readonly work: () => void }>();

  now(): number {
    return this.#now;
  }
  setTimeout(work: () => void, ms: number): number {
    this.#timers.set(this.#next, { due: this.#now + ms, work });
    return this.#next++;
  }
  clearTimeout(id: unknown): void {
    if (typeof id === 'number') this.#timers.delete(id);
  }
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const next = [...this.#timers].filter(([, timer]) => timer.due <= end).sort((a, b) => a[1].due - b[1].due || a[0] - b[0])[0];
      if (!next) break;
      this.#timers.delete(next[0]);
      this.#now = next[1].due;
      next[1].work();
    }
    this.#now = end;
  }
}
