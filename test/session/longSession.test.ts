import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { AnyActorRef } from 'xstate';
import type { Clock } from '../../src/model/clock.js';
import { systemClock } from '../../src/model/clock.js';
import { scriptedModel, text, toolUse } from '../../src/testing/index.js';
import { scene, testTool } from '../support/sessions.js';

const CALLS = 10_000;
const A_TURN = 50;

/** Every actor below this one that its parent still knows. */
const actorsBelow = (actor: AnyActorRef): readonly AnyActorRef[] => {
  const snapshot: { readonly children?: Readonly<Record<string, AnyActorRef | undefined>> } = actor.getSnapshot();
  return Object.values(snapshot.children ?? {}).flatMap((child) => (child ? [child, ...actorsBelow(child)] : []));
};

function countingClock(): Clock & { readonly armed: Set<unknown>; made: number } {
  const armed = new Set<unknown>();
  const clock = {
    armed,
    made: 0,
    setTimeout: (fire: () => void, ms: number) => {
      clock.made++;
      const id = systemClock.setTimeout(() => {
        armed.delete(id);
        fire();
      }, ms);
      armed.add(id);
      return id;
    },
    clearTimeout: (id: unknown) => {
      armed.delete(id);
      systemClock.clearTimeout(id);
    },
  };
  return clock;
}

describe('a session of ten thousand calls', () => {
  it('forgets actors, timers, listeners and questions as it goes; at its end nothing is left', { timeout: 300_000 }, async () => {
    const clock = countingClock();
    let signal: AbortSignal | undefined;
    let mostListeners = 0;
    let results = 0;
    let mostActors = 0;
    const tool = testTool({
      name: 'Work',
      timeoutMs: 60_000,
      idleTimeoutMs: 60_000,
      call: async (_, context, onProgress) => {
        onProgress({ message: 'on it' });
        signal = context.signal;
        mostListeners = Math.max(mostListeners, getEventListeners(context.signal, 'abort').length);
        return { data: 'x' };
      },
    });
    const turn = Array.from({ length: A_TURN }, (_, n) => toolUse('Work', { n }));
    const model = scriptedModel(({ n }) => (n % 21 === 0 ? [text('enough')] : turn));
    const quiet = { hooks: [async () => ({})] };
    const { session } = await scene([], {
      clock,
      model: { client: model },
      tools: [tool],
      permissions: { ask: ['Work'] },
      canUseTool: async () => ({ behavior: 'allow' }),
      hooks: { PreToolUse: [quiet], PostToolUse: [quiet] },
      limits: { compactAtTokens: 0 },
      onUpdate: ({ type }) => {
        if (type === 'call.result') results++;
        if (type === 'turn.started') mostActors = Math.max(mostActors, actorsBelow(session.actor).length);
      },
    });
    for (let query = 0; query < CALLS / A_TURN / 20; query++) expect((await session.send('go on').done).end).toBe('completed');
    expect(results).toBe(CALLS);
    expect(actorsBelow(session.actor)).toEqual([]);
    expect(mostActors, 'living actors do not grow with what has been').toBeLessThan(60);
    expect(clock.made).toBeGreaterThan(CALLS);
    expect(clock.armed.size).toBe(0);
    expect(mostListeners).toBeLessThan(5);
    expect(signal && getEventListeners(signal, 'abort').length).toBe(0);
    expect(session.openPermissions).toEqual([]);
    expect(JSON.stringify(session.actor.getPersistedSnapshot()).length, 'no context holds what has been').toBeLessThan(20_000);
  });
});

describe('a flood of progress', () => {
  it('of 100,000 signs reaches listeners thinned out, and harms nothing whatever it holds', async () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const tool = testTool({
      name: 'Loud',
      call: async (_, _context, onProgress) => {
        const say: (sign: unknown) => void = (sign) => Reflect.apply(onProgress, undefined, [sign]);
        for (const odd of [undefined, circular, 5n, () => {}]) say(odd);
        for (let n = 0; n < 100_000; n++) say({ message: `step ${n}` });
        return { data: 'done' };
      },
    });
    const { session, server, of } = await scene([[toolUse('Loud', {})], [text('ok')]], { tools: [tool], permissions: { allow: ['Loud'] } });
    const began = Date.now();
    expect((await session.send('go').done).text).toBe('ok');
    const tenths = (Date.now() - began) / 100;
    expect(of('call.progress').length).toBeLessThanOrEqual(tenths + 2);
    server.assertConsumed();
  });
});
