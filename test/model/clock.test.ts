import { afterEach, describe, expect, it, vi } from 'vitest';
import { restart, systemClock } from '../../src/model/clock.js';
import { simulatedClock } from '../../src/testing/index.js';

afterEach(() => {
  vi.useRealTimers();
});

describe('a timer that is restarted', () => {
  const simulated = simulatedClock();
  it.each([
    ['Node', systemClock, (ms: number): unknown => vi.advanceTimersByTime(ms)],
    ['simulated', simulated, (ms: number): unknown => simulated.advance(ms)],
  ])('fires once, the whole time after the last restart: %s', (_, clock, pass) => {
    vi.useFakeTimers();
    const fire = vi.fn();
    let id = restart(clock, undefined, fire, 100);
    for (let n = 0; n < 3; n++) {
      pass(99);
      id = restart(clock, id, fire, 100);
    }
    pass(99);
    expect(fire).not.toHaveBeenCalled();
    pass(1);
    expect(fire).toHaveBeenCalledTimes(1);
    pass(1_000);
    expect(fire).toHaveBeenCalledTimes(1);
  });
});

describe('the real clock', () => {
  it.each([
    ['an object', (id: unknown) => id],
    ['a number', Number],
  ])('calls a timer off by an id that is %s', async (_, as) => {
    const fire = vi.fn();
    systemClock.clearTimeout(as(systemClock.setTimeout(fire, 1)));
    // Timers of one length fire in the order in which they were set.
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(fire).not.toHaveBeenCalled();
  });
});
