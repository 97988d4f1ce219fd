import type { Clock } from '../../src/model/clock.js';

/** A clock that stands still until the test moves it. Timers fire in order of their time, then of their making. */
export class FakeClock implements Clock {
  private time = 0;
  private nextId = 1;
  private readonly timers = new Map<number, { readonly at: number; readonly fire: () => void }>();

  readonly now = (): number => this.time;

  setTimeout(fire: () => void, ms: number): number {
    const id = this.nextId++;
    this.timers.set(id, { at: this.time + Math.max(0, ms), fire });
    return id;
  }
  clearTimeout(id: unknown): void {
    if (typeof id === 'number') this.timers.delete(id);
  }
  get pending(): number {
    return this.timers.size;
  }
  /** Moves time to the next timer and fires it; false when none is armed. */
  fireNext(): boolean {
    const [next] = [...this.timers].sort(([a, one], [b, other]) => one.at - other.at || a - b);
    if (!next) return false;
    const [id, { at, fire }] = next;
    this.timers.delete(id);
    this.time = Math.max(this.time, at);
    fire();
    return true;
  }
}
