import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkPairing } from '../../src/messages/pairing.js';
import { createSession } from '../../src/session/session.js';
import type { SessionUpdate } from '../../src/session/updates.js';
import { cutOff, errorEvent, type Gate, gate, type Step, scriptedModel, stop, text, toolUse } from '../../src/testing/index.js';
import type { AbortReason } from '../../src/tool/call.js';
import { FakeClock } from '../support/fakeClock.js';
import { testTool } from '../support/sessions.js';

/** What a call of a random schedule does. */
interface CallPlan {
  readonly safe: boolean;
  readonly ends: 'succeeds' | 'fails' | 'hangs';
  /** Whether the tool obeys its signal. */
  readonly obeys: boolean;
  /** Whether the stream stops before this block until the schedule lets it go on. */
  readonly gated: boolean;
  readonly modifies: boolean;
}
/** What happens next: a running call ends, the stream goes on, a timer fires, or somebody aborts. */
type Move =
  | { readonly do: 'end'; readonly which: number }
  | { readonly do: 'stream' }
  | { readonly do: 'time' }
  | { readonly do: 'abort'; readonly reason: AbortReason };

type Fault = 'none' | 'errorEvent' | 'cutOff' | 'refusal' | 'maxTokens' | 'duplicate';

interface Plan {
  readonly calls: readonly CallPlan[];
  readonly moves: readonly Move[];
  readonly fault: Fault;
  readonly maxConcurrency: number;
  readonly eager: 'all' | 'safe' | 'never';
}

const reasons: readonly AbortReason[] = ['userInterrupt', 'newMessage', 'sessionClosed', 'siblingError', 'streamDiscarded', 'timeout'];
const plans: fc.Arbitrary<Plan> = fc.record({
  calls: fc.array(
    fc.record({
      safe: fc.boolean(),
      ends: fc.constantFrom<CallPlan['ends']>('succeeds', 'succeeds', 'fails', 'hangs'),
      obeys: fc.boolean(),
      gated: fc.boolean(),
      modifies: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  moves: fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.record({ do: fc.constant<'end'>('end'), which: fc.nat(5) }) },
      { weight: 4, arbitrary: fc.constant<Move>({ do: 'stream' }) },
      { weight: 1, arbitrary: fc.constant<Move>({ do: 'time' }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant<'abort'>('abort'), reason: fc.constantFrom(...reasons) }) },
    ),
    { maxLength: 24 },
  ),
  fault: fc.constantFrom<Fault>('none', 'none', 'none', 'errorEvent', 'cutOff', 'refusal', 'maxTokens', 'duplicate'),
  maxConcurrency: fc.integer({ min: 1, max: 4 }),
  eager: fc.constantFrom<Plan['eager']>('all', 'all', 'safe', 'never'),
});

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs one schedule to its end and returns everything that can be observed of it. */
async function play(plan: Plan) {
  const clock = new FakeClock();
  const running = new Map<number, { end(): void; readonly safe: boolean }>();
  const starts: number[] = [];
  const overlaps: string[] = [];
  const modified: number[] = [];
  let most = 0;
  let aborted = false;

  const run = (n: number, signal: AbortSignal) =>
    new Promise<{ data: string; modify?: () => void }>((resolve, reject) => {
      const one = plan.calls[n];
      if (!one) throw new Error(`call ${n} is not planned`);
      starts.push(n);
      for (const [other, { safe }] of running) if (!one.safe || !safe) overlaps.push(`${n} beside ${other}`);
      const leave = () => running.delete(n);
      running.set(n, {
        safe: one.safe,
        end: () => {
          if (one.ends === 'hangs') return;
          leave();
          if (one.ends === 'fails') reject(new Error(`call ${n} failed`));
          else resolve({ data: `call ${n} done`, ...(one.modifies ? { modify: () => void modified.push(n) } : {}) });
        },
      });
      most = Math.max(most, running.size);
      signal.addEventListener('abort', () => {
        aborted = true;
        if (!one.obeys) return;
        leave();
        reject(new Error('aborted'));
      });
    });
  const tools = ['Safe', 'Unsafe'].map((name) =>
    testTool({
      name,
      isConcurrencySafe: () => name === 'Safe',
      interruptBehavior: 'cancel',
      call: ({ n }, { signal }) => run(Number(n), signal),
    }),
  );

  const gates: Gate[] = [];
  const steps: Step[] = plan.calls.flatMap((one, n): Step[] => {
    const block = toolUse(one.safe ? 'Safe' : 'Unsafe', { n }, { id: `t${n}` });
    if (!one.gated) return [block];
    const door = gate();
    gates.push(door);
    return [door, block];
  });
  const tail: Record<Fault, readonly Step[]> = {
    none: [],
    errorEvent: [errorEvent('overloaded_error')],
    cutOff: [cutOff()],
    refusal: [stop('refusal')],
    maxTokens: [toolUse('Safe', { n: 0 }, { id: 'cut', open: true }), stop('max_tokens')],
    duplicate: [toolUse(plan.calls[0]?.safe ? 'Safe' : 'Unsafe', { n: 0 }, { id: 't0' })],
  };
  const model = scriptedModel((_, n) => (n === 1 ? [...steps, ...tail[plan.fault]] : [text('done')]), { clock });
  const updates: SessionUpdate[] = [];
  const session = createSession({
    store: false,
    builtInTools: false,
    tools,
    cwd: '/',
    settings: { home: '/nowhere' },
    permissions: { allow: ['Safe', 'Unsafe'] },
    model: { client: model, retry: { maxRetries: 1, baseMs: 1 } },
    limits: { maxConcurrency: plan.maxConcurrency, eager: plan.eager, graceMs: 50 },
    clock,
    now: clock.now,
    onUpdate: (update) => updates.push(update),
  });
  const sending = session.send('go');
  let over = false;
  sending.done.then(
    () => {
      over = true;
    },
    () => {
      over = true;
    },
  );
  await settle();
  for (const move of plan.moves) {
    if (move.do === 'end') [...running.values()][move.which % Math.max(1, running.size)]?.end();
    else if (move.do === 'stream') gates.shift()?.open();
    else if (move.do === 'time') clock.fireNext();
    else session.actor.send({ type: 'abort', reason: move.reason });
    await settle();
  }
  // Whatever is left: the stream goes on, calls end, and who hangs is interrupted. It must come to an end.
  for (let round = 0; round < 200 && !over; round++) {
    gates.shift()?.open();
    const able = [...running].find(([n]) => plan.calls[n]?.ends !== 'hangs');
    if (able) able[1].end();
    else if (running.size > 0) session.actor.send({ type: 'abort', reason: 'userInterrupt' });
    if (!able && !clock.fireNext() && running.size === 0) gates.shift()?.open();
    await settle();
  }
  const messages = session.messages;
  const stuck = over ? undefined : JSON.stringify(session.actor.getSnapshot().value);
  await session.close();
  // A tool that ignores its abort is left behind by design, and may then run beside others.
  const leftBehind = aborted && plan.calls.some((call) => !call.obeys);
  return { starts, overlaps, modified, most, updates, messages, model, stuck, leftBehind };
}

describe('for every schedule of calls, completions, aborts and stream faults', () => {
  it('each call has one result, nothing overlaps that may not, nothing runs twice, and everything ends', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const { starts, overlaps, modified, most, updates, messages, model, stuck, leftBehind } = await play(plan);
        expect(stuck).toBeUndefined();
        // No call runs twice, whatever the stream repeats.
        expect(new Set(starts).size).toBe(starts.length);
        // Unsafe calls overlap nothing; safe ones stay within the cap.
        if (!leftBehind) {
          expect(overlaps).toEqual([]);
          expect(most).toBeLessThanOrEqual(plan.maxConcurrency);
        }
        // No call overtakes an earlier one that had to wait.
        expect(starts).toEqual([...starts].sort((a, b) => a - b));
        // Every outcome is written once, and every call that was admitted has one.
        const results = updates.flatMap((update) => (update.type === 'call.result' ? [update.callId] : []));
        const admitted = updates.flatMap((update) => (update.type === 'call.state' && update.state === 'queued' ? [update.callId] : []));
        expect([...results].sort()).toEqual([...admitted].sort());
        // Results are handed over in block order.
        const yielded = updates.flatMap((update) => (update.type === 'call.state' && update.state === 'yielded' ? [update.callId] : []));
        expect(yielded).toEqual(admitted);
        // Context modifiers are applied once each, in block order.
        expect(modified).toEqual([...modified].sort((a, b) => a - b));
        // Every request that was sent kept the pairing rules, and so does the history that is left.
        expect(model.refusals).toEqual([]);
        expect(checkPairing(messages).filter((problem) => problem.code !== 'trailing_assistant')).toEqual([]);
      }),
      { numRuns: Number(process.env.SIXGATES_SCHEDULE_RUNS ?? 10_000), verbose: false },
    );
  });
});
