import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callsToModify, callsToStart, callToYield, freeSlot, type Schedule, type ScheduledCall } from '../../machines/schedule.js';

const call = (n: number, patch: Partial<ScheduledCall> = {}): ScheduledCall => ({
  slot: `call-${n}`,
  callId: `t${n}`,
  name: 'Tool',
  index: n,
  stage: 'queued',
  safe: true,
  resourceKeys: [],
  outcome: null,
  modified: true,
  ...patch,
});
const done = { kind: 'succeeded', isError: false, summary: 'done' } as const;
const schedule = (calls: readonly ScheduledCall[], patch: Partial<Schedule> = {}): Schedule => ({
  calls,
  maxConcurrency: 10,
  eager: 'all',
  streaming: false,
  ...patch,
});
const ids = (calls: readonly ScheduledCall[]): readonly string[] => calls.map(({ callId }) => callId);

describe('which calls start', () => {
  it('runs [Read, Read, Write, Read] as {1,2},{3},{4}', () => {
    const calls = [call(1), call(2), call(3, { safe: false }), call(4)];
    expect(ids(callsToStart(schedule(calls)))).toEqual(['t1', 't2']);
    const second = calls.map((one, n) => (n < 2 ? { ...one, stage: 'completed' as const, outcome: done } : one));
    expect(ids(callsToStart(schedule(second)))).toEqual(['t3']);
    const third = calls.map((one, n) => (n < 3 ? { ...one, stage: 'completed' as const, outcome: done } : one));
    expect(ids(callsToStart(schedule(third)))).toEqual(['t4']);
  });

  it('never lets a call overtake one that has not said whether it is safe', () => {
    expect(callsToStart(schedule([call(1, { stage: 'new' }), call(2)]))).toEqual([]);
  });

  it('keeps within the cap', () => {
    expect(ids(callsToStart(schedule([call(1), call(2), call(3)], { maxConcurrency: 2 })))).toEqual(['t1', 't2']);
  });

  it('keeps two calls with the same resource key apart, and lets others overlap', () => {
    const calls = [call(1, { resourceKeys: ['a'] }), call(2, { resourceKeys: ['b'] }), call(3, { resourceKeys: ['a'] })];
    expect(ids(callsToStart(schedule(calls)))).toEqual(['t1', 't2']);
  });

  it('starts only safe calls during the stream when eager is "safe", and none when it is "never"', () => {
    const calls = [call(1), call(2, { safe: false })];
    expect(ids(callsToStart(schedule(calls, { streaming: true, eager: 'safe' })))).toEqual(['t1']);
    expect(callsToStart(schedule(calls, { streaming: true, eager: 'never' }))).toEqual([]);
    expect(callsToStart(schedule([call(2, { safe: false })], { streaming: true, eager: 'safe' }))).toEqual([]);
  });
});

describe('results and modifiers', () => {
  it('hands results over in block order', () => {
    const calls = [call(1, { stage: 'running' }), call(2, { stage: 'completed', outcome: done })];
    expect(callToYield(calls)).toBeUndefined();
    const first = calls.map((one) => ({ ...one, stage: 'completed' as const, outcome: done }));
    expect(callToYield(first)?.callId).toBe('t1');
    expect(callToYield(first.map((one, n) => (n === 0 ? { ...one, stage: 'yielding' as const } : one)))).toBeUndefined();
    expect(callToYield(first.map((one, n) => (n === 0 ? { ...one, stage: 'yielded' as const } : one)))?.callId).toBe('t2');
  });

  it('applies the modifiers of a concurrent batch at its end, in block order', () => {
    const calls = [
      call(1, { stage: 'running' }),
      call(2, { stage: 'completed', outcome: done, modified: false }),
      call(3, { stage: 'completed', outcome: done, modified: false }),
    ];
    expect(callsToModify(calls)).toEqual([]);
    expect(ids(callsToModify([{ ...call(1), stage: 'completed', outcome: done, modified: false }, ...calls.slice(1)]))).toEqual([
      't1',
      't2',
      't3',
    ]);
  });

  it('re-uses the slot of a call that has yielded, and no other', () => {
    expect(freeSlot([call(0, { stage: 'completed', outcome: done }), call(1)])).toBe('call-2');
    expect(freeSlot([call(0, { stage: 'yielded', outcome: done }), call(1)])).toBe('call-0');
  });
});

describe('for every schedule', () => {
  const arbitraryCalls = fc
    .array(
      fc.record({
        safe: fc.boolean(),
        keys: fc.subarray(['a', 'b', 'c']),
        stage: fc.constantFrom<ScheduledCall['stage']>('queued', 'running', 'completed', 'new'),
      }),
      {
        maxLength: 12,
      },
    )
    .map((list) =>
      list.map(({ safe, keys, stage }, n) => call(n, { safe, resourceKeys: keys, stage, outcome: stage === 'completed' ? done : null })),
    );

  it('what starts overlaps only what it may, and nothing is overtaken', () => {
    fc.assert(
      fc.property(arbitraryCalls, fc.integer({ min: 1, max: 5 }), (calls, maxConcurrency) => {
        const started = callsToStart(schedule(calls, { maxConcurrency }));
        const running = calls.filter((one) => one.stage === 'running');
        for (const one of started) {
          const others = [...running, ...started.filter((other) => other !== one)];
          if (others.length > 0) {
            expect(one.safe).toBe(true);
            expect(others.every((other) => other.safe)).toBe(true);
            expect(others.some((other) => other.resourceKeys.some((key) => one.resourceKeys.includes(key)))).toBe(false);
          }
          const earlier = calls.slice(0, one.index);
          expect(earlier.every((other) => other.outcome !== null || other.stage === 'running' || started.includes(other))).toBe(true);
        }
        if (started.length > 0) expect(running.length + started.length).toBeLessThanOrEqual(Math.max(maxConcurrency, running.length + 1));
      }),
    );
  });
});
