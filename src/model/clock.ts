/**
 * Timers as a dependency, so that tests decide when time passes. The shape is XState's `Clock`: its `SimulatedClock` fits.
 */
export interface Clock {
  setTimeout(fn: () => void, ms: number): unknown;
  clearTimeout(id: unknown): void;
}

/** The real clock. */
export const systemClock: Clock = {
  setTimeout: (fn, ms) => setTimeout(fn, ms),
  // Node's Timeout objects convert to the numeric id that clearTimeout takes.
  clearTimeout: (id) => clearTimeout(Number(id)),
};
