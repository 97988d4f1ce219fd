/**
 * Timers as a dependency, so that tests decide when time passes. The shape is XState's `Clock`: its `SimulatedClock` fits, and
 * so does `simulatedClock` of `sixgates/testing`.
 */
export interface Clock {
  /** Calls `fire` once after `ms` milliseconds; returns the timer's id, of whatever kind the clock likes. */
  setTimeout(fire: () => void, ms: number): unknown;
  /** Calls a timer off. An id that is unknown or has fired is ignored. */
  clearTimeout(id: unknown): void;
}

/** A clock that can also tell how much time has passed. */
export interface MonotonicClock extends Clock {
  /** Milliseconds that never run backwards; only differences mean anything. */
  now(): number;
}

/** Node's timers hold 31 bits and fire at once beyond them; 24 days stand for anything longer. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** The real clock. */
export const systemClock: MonotonicClock = {
  setTimeout: (fire, ms) => setTimeout(fire, Math.min(ms, MAX_TIMER_MS)),
  // Node's Timeout objects convert to a numeric id, but to ask for that makes them dearer; elsewhere ids are numbers.
  clearTimeout: (id) => {
    if (isTimeout(id) || typeof id === 'number') clearTimeout(id);
  },
  now: () => performance.now(),
};

const isTimeout = (id: unknown): id is NodeJS.Timeout => id instanceof Object && 'refresh' in id && typeof id.refresh === 'function';

/** Lets a timer begin anew, or sets it where there is none; returns its id. `fire` and `ms` must be those that it was set with. */
export function restart(clock: Clock, id: unknown, fire: () => void, ms: number): unknown {
  // Pushing one timer on costs less than calling it off and setting another: this happens at every piece of an answer.
  if (isTimeout(id)) return id.refresh();
  if (id !== undefined) clock.clearTimeout(id);
  return clock.setTimeout(fire, ms);
}

/** Sets a timer; the returned function calls it off. */
export function after(clock: Clock, ms: number, fire: () => void): () => void {
  const id = clock.setTimeout(fire, ms);
  return () => clock.clearTimeout(id);
}

/** Like `after`, but the timer alone does not keep the process alive. */
export function idlyAfter(clock: Clock, ms: number, fire: () => void): () => void {
  const id = clock.setTimeout(fire, ms);
  if (id instanceof Object && 'unref' in id && typeof id.unref === 'function') id.unref();
  return () => clock.clearTimeout(id);
}
