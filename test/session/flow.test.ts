import { describe, expect, it } from 'vitest';
import { gate, text, toolUse } from '../../src/testing/index.js';
import { UP_TO_END } from '../support/callStates.js';
import { deferred, scene, testTool } from '../support/sessions.js';

const allow = (...rules: string[]) => ({ permissions: { allow: rules } });
const LIFE = [...UP_TO_END, 'completed.succeeded', 'yielded'];

describe('a flow through the real SDK against the scripted API', () => {
  it('passes every call through queued, the six gates, completed and yielded, in order', async () => {
    const { session, statesOf } = await scene([[toolUse('Echo', { a: 1 }), toolUse('Echo', { a: 2 })], [text('done')]], {
      tools: [testTool({ name: 'Echo' })],
      ...allow('Echo'),
    });
    await session.send('go').done;
    expect(statesOf('toolu_1_1')).toEqual(LIFE);
    expect(statesOf('toolu_1_2')).toEqual(LIFE);
  });

  it('starts and finishes calls while the stream goes on', async () => {
    const tail = gate();
    const { session, updates, of } = await scene([[toolUse('Echo', {}), toolUse('Echo', {}), text('…'), tail], [text('done')]], {
      tools: [testTool({ name: 'Echo' })],
      ...allow('Echo'),
      onUpdate: (update) => {
        if (update.type === 'call.result' && update.callId === 'toolu_1_2') tail.open();
      },
    });
    await session.send('go').done;
    const order = updates.map((update) => update.type);
    expect(order.lastIndexOf('call.result')).toBeLessThan(order.indexOf('model.ended'));
    expect(of('call.result')).toHaveLength(2);
  });

  it('sends results in call order, whatever order they finished in, in one message', async () => {
    const slow = deferred();
    const tool = testTool({
      name: 'Wait',
      call: async ({ n }) => {
        if (n === 1) await slow.promise;
        else slow.resolve();
        return { data: `n=${n}` };
      },
    });
    const { session, server, of } = await scene([[toolUse('Wait', { n: 1 }), toolUse('Wait', { n: 2 })], [text('done')]], {
      tools: [tool],
      ...allow('Wait'),
    });
    await session.send('go').done;
    expect(of('call.result').map((update) => update.callId)).toEqual(['toolu_1_2', 'toolu_1_1']);
    const last = server.requests[1]?.body.messages;
    const message = Array.isArray(last) ? last.at(-1) : undefined;
    expect(JSON.stringify(message)).toMatch(/n=1.*n=2/);
    server.assertConsumed();
  });

  it('goes on although stop_reason says end_turn, when a complete tool_use arrived', async () => {
    const { stop } = await import('../../src/testing/index.js');
    const { session, server } = await scene([[toolUse('Echo', {}), stop('end_turn')], [text('done')]], {
      tools: [testTool({ name: 'Echo' })],
      ...allow('Echo'),
    });
    expect((await session.send('go').done).text).toBe('done');
    server.assertConsumed();
  });

  it('keeps tools and prefix of the request byte-stable from turn to turn', async () => {
    const { session, server } = await scene([[toolUse('Echo', { a: 1 })], [toolUse('Echo', { a: 2 })], [text('done')]], {
      tools: [testTool({ name: 'Echo' }), testTool({ name: 'Another' })],
      ...allow('Echo'),
    });
    await session.send('go').done;
    const bodies = server.requests.map(({ body }) => body);
    for (let n = 1; n < bodies.length; n++) {
      const [before, after] = [bodies[n - 1], bodies[n]];
      expect(JSON.stringify(after?.tools)).toBe(JSON.stringify(before?.tools));
      const earlier = JSON.stringify(before?.messages).slice(0, -1);
      expect(JSON.stringify(after?.messages).startsWith(earlier)).toBe(true);
    }
  });

  it('runs 64 calls of one message, never more than ten at once', async () => {
    let running = 0;
    let most = 0;
    const tool = testTool({
      name: 'Echo',
      call: async ({ n }) => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return { data: String(n) };
      },
    });
    const calls = Array.from({ length: 64 }, (_, n) => toolUse('Echo', { n }));
    const { session, results, server } = await scene([calls, [text('done')]], { tools: [tool], ...allow('Echo') });
    await session.send('go').done;
    expect(results().size).toBe(64);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(10);
    server.assertConsumed();
  });

  it('runs a conversation of 200 turns', async () => {
    const script = Array.from({ length: 200 }, (_, n) => [toolUse('Echo', { n })]);
    const { session, server } = await scene([...script, [text('done')]], { tools: [testTool({ name: 'Echo' })], ...allow('Echo') });
    const ended = await session.send('go').done;
    expect(ended).toMatchObject({ end: 'completed', turns: 201, text: 'done' });
    server.assertConsumed();
  });

  it('delivers what the person types while calls run behind their results, in the same message', async () => {
    const { session, server } = await scene([[toolUse('Ask', {})], [text('done')]], {
      tools: [
        testTool({
          name: 'Ask',
          call: async () => {
            void session.send('also check b');
            return { data: 'a result' };
          },
        }),
      ],
      ...allow('Ask'),
    });
    await session.send('go').done;
    const messages = server.requests[1]?.body.messages;
    const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
    expect(JSON.stringify(last)).toMatch(/tool_result.*a result.*also check b/);
    server.assertConsumed();
  });
});

describe('the faces of a session', () => {
  it('gives updates by iteration up to the end of the query', async () => {
    const { session } = await scene([[text('hello')]]);
    const types: string[] = [];
    for await (const update of session.send('go')) types.push(update.type);
    expect(types[0]).toBe('query.started');
    expect(types.at(-1)).toBe('query.ended');
    expect(types).toContain('text.delta');
  });

  it('gives updates as an observable, and the XState actor', async () => {
    const { session } = await scene([[text('hello')]]);
    const types: string[] = [];
    session.updates$.subscribe((update) => types.push(update.type));
    await session.send('go').done;
    expect(types).toContain('session.started');
    expect(session.actor.getSnapshot().value).toMatchObject({ conversation: 'idle' });
  });
});

describe('progress of a running call', () => {
  it('is told while the call runs, coalesced, and never reaches the model', async () => {
    const made = await scene([[toolUse('Busy', {})], [text('done')]], {
      tools: [
        testTool({
          name: 'Busy',
          call: async (_, __, onProgress) => {
            for (let n = 0; n < 100_000; n++) onProgress({ message: `step ${n}` });
            return { data: 'finished' };
          },
        }),
      ],
      ...allow('Busy'),
    });
    const heard: string[] = [];
    made.session.actor.system.inspect((event) => {
      if (event.type === '@xstate.event') heard.push(event.event.type);
    });
    await made.session.send('go').done;
    expect(made.of('call.progress').length).toBeGreaterThan(0);
    expect(made.of('call.progress').length).toBeLessThan(1_000);
    expect(heard.filter((type) => type === 'tool.progressed').length).toBeGreaterThan(0);
    expect(heard.filter((type) => type === 'call.progress')).toHaveLength(heard.filter((type) => type === 'tool.progressed').length);
    expect(JSON.stringify(made.server.requests[1]?.body)).not.toContain('step 0');
  });
});

describe('the output of a tool', () => {
  const long = 'x'.repeat(60_000);
  const given = async () => ({ hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: 'short' } }) as const;
  it.each([
    ['that nothing waits for', 'short', {}],
    ['that goes to a file', long, {}],
    ['that a hook wants to see', 'short', { PostToolUse: [{ hooks: [async () => ({})] }] }],
    ['that is both', long, { PostToolUse: [{ hooks: [async () => ({})] }] }],
  ])('%s is mapped once', async (_, output, hooks) => {
    let mapped = 0;
    const tool = testTool({
      name: 'Counted',
      call: async () => ({ data: output }),
      mapToolResultToToolResultBlockParam: (data) => {
        mapped++;
        return { content: String(data) };
      },
    });
    const made = await scene([[toolUse('Counted', {})], [text('ok')]], { tools: [tool], permissions: { allow: ['Counted'] }, hooks });
    await made.session.send('go').done;
    expect(mapped).toBe(1);
  });

  it('that a hook replaces is mapped once for the hook, and its replacement once for the model', async () => {
    const mapped: string[] = [];
    const tool = testTool({
      name: 'Counted',
      call: async () => ({ data: 'long' }),
      mapToolResultToToolResultBlockParam: (data) => {
        mapped.push(String(data));
        return { content: String(data) };
      },
    });
    const made = await scene([[toolUse('Counted', {})], [text('ok')]], {
      tools: [tool],
      permissions: { allow: ['Counted'] },
      hooks: { PostToolUse: [{ hooks: [given] }] },
    });
    await made.session.send('go').done;
    expect(mapped).toEqual(['long', 'short']);
    expect(made.results().get('toolu_1_1')?.text).toBe('short');
  });
});
