/** Time as hooks see it, so that tests need not wait. */
export interface HookClock {
  /** Milliseconds; only differences matter. */
  now(): number;
  /** Calls `fire` once after `ms`; the returned function calls it off. An `idle` timer alone does not keep the process alive. */
  after(ms: number, fire: () => void, idle?: boolean): () => void;
}

export const systemClock: HookClock = {
  now: () => performance.now(),
  after(ms, fire, idle = false) {
    // setTimeout fires at once beyond 2^31-1 ms; a longer limit is as good as that one.
    const timer = setTimeout(fire, Math.min(ms, 2 ** 31 - 1));
    if (idle) timer.unref();
    return () => clearTimeout(timer);
  },
};
