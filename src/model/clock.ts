/**
 * Timers as a dependency, so that tests decide when time passes. The shape is XState's `Clock`: its `SimulatedClock` fits.
 */
export interface Clock {
  setTimeout(fn: () => void, ms: number): unknown;
  clearTimeout(id: unknown): void;
}

/** Node's timers hold 31 bits and fire at once beyond them; 24 days stand for anything longer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The real clock. */
export const systemClock: Clock = {
  setTimeout: (fn, ms) => setTimeout(fn, Math.min(ms, MAX_TIMER_MS)),
  // Node's Timeout objects convert to the numeric id that clearTimeout takes.
  clearTimeout: (id) => clearTimeout(Number(id)),
};
