import type { MonotonicClock } from '../model/clock.js';

/** Time that stands still until a test moves it. Fits a session's `clock` and `now`, a scripted model's `clock`, and XState's `clock`. */
export interface SimulatedTime extends MonotonicClock {
  /** Milliseconds since the epoch: what it was made with, and all that `advance` added. */
  now(): number;
  /** Moves time on, stopping at each timer that falls due on the way, so that a timer set by another one fires too. */
  advance(ms: number): void;
  /** Timers that have not fired. */
  readonly pending: number;
}

/**
 * Makes a clock that stands still.
 *
 * @param startAt - Milliseconds since the epoch. Default 0.
 */
export function simulatedClock(startAt = 0): SimulatedTime {
  const timers = new Map<number, { readonly at: number; readonly fire: () => void }>();
  let time = startAt;
  let next = 1;
  return {
    now: () => time,
    setTimeout: (fire, ms) => {
      const id = next++;
      timers.set(id, { at: time + Math.max(0, ms), fire });
      return id;
    },
    clearTimeout: (id) => {
      if (typeof id === 'number') timers.delete(id);
    },
    advance: (ms) => {
      const end = time + ms;
      for (;;) {
        const due = [...timers].filter(([, { at }]) => at <= end).sort(([a, first], [b, second]) => first.at - second.at || a - b)[0];
        if (due === undefined) break;
        const [id, { at, fire }] = due;
        timers.delete(id);
        time = at;
        fire();
      }
      time = end;
    },
    get pending() {
      return timers.size;
    },
  };
}
