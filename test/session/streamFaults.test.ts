import { describe, expect, it } from 'vitest';
import { readSession } from '../../src/session/stored.js';
import {
  block,
  cutOff,
  delay,
  errorEvent,
  event,
  gate,
  message,
  rawToolUse,
  stop,
  type Turn,
  text,
  thinking,
  toolUse,
} from '../../src/testing/index.js';
import { scene, tempDir, testTool } from '../support/sessions.js';

const allow = (...rules: string[]) => ({ permissions: { allow: rules } });
/** A tool that counts how often each input was run. */
function counter(name = 'Count') {
  const runs: unknown[] = [];
  const tool = testTool({
    name,
    call: async (input) => {
      runs.push(input);
      return { data: `run ${runs.length}` };
    },
  });
  return { tool, runs };
}
const retry = { model: { retry: { maxRetries: 2, baseMs: 1 } } };

describe('a stream that breaks', () => {
  it('before anything complete arrived: is asked again, and nothing of it stays', async () => {
    const made = await scene([[text('half', { open: true }), errorEvent('overloaded_error')], [text('whole')]], retry);
    expect((await made.session.send('go').done).text).toBe('whole');
    expect(JSON.stringify(made.session.messages)).not.toContain('half');
    expect(made.of('model.retry')).toHaveLength(1);
    made.server.assertConsumed();
  });

  it('after nothing but thinking: is asked again, and the thinking is gone, also from the transcript', async () => {
    const place = { cwd: tempDir(), store: tempDir() };
    const broken = [thinking('hm'), text('half', { open: true }), errorEvent('overloaded_error')];
    const made = await scene([broken, [thinking('anew'), text('whole')]], { ...retry, ...place });
    expect((await made.session.send('go').done).text).toBe('whole');
    expect(made.session.messages.at(-1)?.content).toMatchObject([{ thinking: 'anew' }, { text: 'whole' }]);
    expect(readSession(made.session.id, place).messages).toEqual(made.session.messages);
    made.server.assertConsumed();
  });

  it('after a complete text: what is there stays, with a notice that it may be incomplete', async () => {
    const made = await scene([[text('first'), cutOff()]], retry);
    expect((await made.session.send('go').done).text).toBe('first');
    expect(made.of('notice').map(({ message }) => message)).toEqual([expect.stringContaining('may be incomplete')]);
  });

  it('after a complete call: the call runs once, its result is kept, the model is not asked for it again', async () => {
    const { tool, runs } = counter();
    const made = await scene([[toolUse('Count', { n: 1 }), text('and', { open: true }), errorEvent('overloaded_error')], [text('ok')]], {
      tools: [tool],
      ...allow('Count'),
      ...retry,
    });
    expect((await made.session.send('go').done).end).toBe('completed');
    expect(runs).toEqual([{ n: 1 }]);
    expect(made.results().get('toolu_1_1')).toEqual({ text: 'run 1', isError: false });
    expect(made.of('model.retry')).toHaveLength(0);
    expect(made.of('model.ended')[0]).toMatchObject({ incomplete: true });
    made.server.assertConsumed();
  });

  it('by a socket that closes without message_stop: never counts as a normal end', async () => {
    const made = await scene([[text('partial'), cutOff()]], { model: { retry: { maxRetries: 0 } } });
    const ended = await made.session.send('go').done;
    expect(made.of('model.ended')[0]).toMatchObject({ incomplete: true });
    expect(ended.text).toBe('partial');
  });

  it('waiting to be asked again can be interrupted', async () => {
    const made = await scene([[errorEvent('overloaded_error')], [text('later')]], { model: { retry: { maxRetries: 3, baseMs: 60_000 } } });
    const retrying = new Promise<void>((resolve) => {
      made.session.updates$.subscribe((update) => update.type === 'model.retry' && setImmediate(resolve));
    });
    const sending = made.session.send('go');
    await retrying;
    await made.session.interrupt();
    expect((await sending.done).end).toBe('aborted');
    expect((await made.session.send('again').done).text).toBe('later');
  });

  it('gives up after the retries with the API’s own words', async () => {
    const made = await scene([[errorEvent('overloaded_error')], [errorEvent('overloaded_error')]], {
      model: { retry: { maxRetries: 1, baseMs: 1 } },
    });
    expect(await made.session.send('go').done).toMatchObject({ end: 'modelError' });
    made.server.assertConsumed();
  });
});

describe('a stream that repeats or splices', () => {
  it('the same tool_use twice: one execution, one result, and a notice', async () => {
    const { tool, runs } = counter();
    const made = await scene([[toolUse('Count', { n: 1 }, { id: 't1' }), toolUse('Count', { n: 1 }, { id: 't1' })], [text('ok')]], {
      tools: [tool],
      ...allow('Count'),
    });
    await made.session.send('go').done;
    expect(runs).toHaveLength(1);
    expect(made.of('notice').length).toBeGreaterThan(0);
    made.server.assertConsumed();
  });

  it('the same id with another input: what came second is not executed', async () => {
    const { tool, runs } = counter();
    const made = await scene([[toolUse('Count', { n: 1 }, { id: 't1' }), toolUse('Count', { n: 2 }, { id: 't1' })], [text('ok')]], {
      tools: [tool],
      ...allow('Count'),
    });
    await made.session.send('go').done;
    expect(runs).toEqual([{ n: 1 }]);
    made.server.assertConsumed();
  });

  it('an id that a later turn uses again: both run', async () => {
    const { tool, runs } = counter();
    const made = await scene(
      [[toolUse('Count', { n: 1 }, { id: 't1' })], [text('between')], [toolUse('Count', { n: 2 }, { id: 't2' })], [text('ok')]],
      {
        tools: [tool],
        ...allow('Count'),
      },
    );
    await made.session.send('go').done;
    await made.session.send('again').done;
    expect(runs).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('a second message_start of another id: nothing of the first remains, its call runs zero times', async () => {
    const { tool, runs } = counter();
    const start = (id: string) =>
      event({
        type: 'message_start',
        message: {
          id,
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 1, output_tokens: 1 },
        },
      });
    const made = await scene(
      [[text('of the first'), rawToolUse('Count', '{"n":', { open: true }), start('msg_other'), text('of the second')], [text('unused')]],
      { tools: [tool], ...allow('Count') },
    );
    const ended = await made.session.send('go').done;
    expect(runs).toHaveLength(0);
    expect(ended.text).toBe('of the second');
    expect(JSON.stringify(made.session.messages)).not.toContain('of the first');
  });
});

describe('an answer that goes on after a pause', () => {
  const paused = [text('so far'), block({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }), stop('pause_turn')];
  const found = block({ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] });
  it.each<[string, Turn]>([
    ['before any of its blocks', [message({ id: 'A' }), message({ id: 'B' }), found, text('and on')]],
    [
      'behind thinking that is not sent back',
      [message({ id: 'A' }), thinking('hm', { signature: '' }), message({ id: 'B' }), found, text('and on')],
    ],
  ])('keeps what came before the pause when its stream is spliced %s', async (_, spliced) => {
    const place = { cwd: tempDir(), store: tempDir() };
    const made = await scene([paused, spliced], place);
    await made.session.send('go').done;
    expect(made.session.messages.at(-1)?.content).toMatchObject([
      { text: 'so far' },
      { id: 'srvtoolu_1' },
      { type: 'web_search_tool_result' },
      { text: 'and on' },
    ]);
    expect(readSession(made.session.id, place).messages).toEqual(made.session.messages);
  });

  it.each<[string, Turn]>([
    ['nothing', [stop('refusal')]],
    ['mere thinking', [thinking('hm'), stop('end_turn')]],
  ])('lets a prompt be heard when %s came in place of what it waited for, also after a restart', async (_, odd) => {
    const place = { cwd: tempDir(), store: tempDir(), tools: [testTool({ name: 'Echo' })], ...allow('Echo') };
    const mixed = [block({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }), toolUse('Echo', {})];
    const made = await scene([mixed, odd, [stop('refusal')]], place);
    await made.session.send('one').done;
    await made.session.send('two').done;
    expect(made.session.messages.at(-1)?.content).toMatchObject([{ type: 'tool_result' }, { text: 'two' }]);
    expect(readSession(made.session.id, place).messages).toEqual(made.session.messages);
    expect(made.server.refusals).toEqual([]);
  });
});

describe('an answer that ends in its own way', () => {
  it('in a refusal: nothing of it stays, in the history or on file, and the next prompt is answered', async () => {
    const place = { cwd: tempDir(), store: tempDir() };
    const made = await scene([[text('Here is how'), stop('refusal')], [text('ok')]], place);
    expect(await made.session.send('go').done).toMatchObject({ end: 'refusal', text: '' });
    expect(made.session.messages).toHaveLength(1);
    expect(made.of('message.discarded')).toHaveLength(1);
    expect((await made.session.send('else').done).text).toBe('ok');
    expect(readSession(made.session.id, place).messages).toEqual(made.session.messages);
    expect(JSON.stringify(made.session.messages)).not.toContain('Here is how');
  });

  it('by breaking off behind a whole text: the text stays, and the end says so', async () => {
    const made = await scene([[text('first'), cutOff()]], retry);
    expect(await made.session.send('go').done).toMatchObject({
      end: 'completed',
      text: 'first',
      reason: expect.stringContaining('broke off'),
    });
  });

  it('max_tokens in the middle of a call: the complete one runs, the cut one gets an error, the loop goes on', async () => {
    const { tool, runs } = counter();
    const made = await scene(
      [[toolUse('Count', { n: 1 }), rawToolUse('Count', '{"n": 2', { open: true }), stop('max_tokens')], [text('ok')]],
      {
        tools: [tool],
        ...allow('Count'),
      },
    );
    expect((await made.session.send('go').done).end).toBe('completed');
    expect(runs).toEqual([{ n: 1 }]);
    expect([...made.results().values()].map(({ isError }) => isError)).toEqual([false, true]);
    made.server.assertConsumed();
  });

  it('max_tokens without a call: the query ends and says so', async () => {
    const made = await scene([[text('and so'), stop('max_tokens')]]);
    expect((await made.session.send('go').done).end).toBe('maxTokens');
  });

  it('a refusal: no call of it is started', async () => {
    const { tool, runs } = counter();
    const made = await scene([[toolUse('Count', { n: 1 }), stop('refusal')], [text('ok')]], {
      tools: [tool],
      limits: { eager: 'never' },
      ...allow('Count'),
    });
    expect((await made.session.send('go').done).end).toBe('refusal');
    expect(runs).toHaveLength(0);
    expect((await made.session.send('something else').done).text).toBe('ok');
    made.server.assertConsumed();
  });

  it('pause_turn in the middle of a server tool: the answer so far is sent back unchanged, and goes on in the same message', async () => {
    const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } };
    const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };
    const made = await scene([[text('searching'), block(search), stop('pause_turn')], [block(found), text('found')], [text('ok')]]);
    expect((await made.session.send('go').done).text).toBe('found');
    const sent = made.server.requests[1]?.body.messages;
    expect(Array.isArray(sent) ? sent.at(-1) : undefined).toMatchObject({ role: 'assistant', content: [{ type: 'text' }, search] });
    expect((await made.session.send('and then?').done).text).toBe('ok');
    expect(made.session.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    made.server.assertConsumed();
  });

  it('pause_turn with nothing pending: the model is asked to go on, not prefilled', async () => {
    const made = await scene([[text('searching'), stop('pause_turn')], [text('found')]]);
    expect((await made.session.send('go').done).text).toBe('found');
    made.server.assertConsumed();
  });

  it('a server call that is still pending: only results follow; what was typed meanwhile comes behind the next answer', async () => {
    const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } };
    const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };
    const made = await scene([[block(search), toolUse('Typing', {})], [block(found), toolUse('Echo', {})], [text('ok')]], {
      tools: [
        testTool({
          name: 'Typing',
          call: async () => {
            void made.session.send('typed meanwhile');
            return { data: 'typed' };
          },
        }),
        testTool({ name: 'Echo' }),
      ],
      ...allow('Typing', 'Echo'),
    });
    await made.session.send('go').done;
    const bodies = made.server.requests.map(({ body }) => JSON.stringify(Array.isArray(body.messages) ? body.messages.at(-1) : undefined));
    expect(bodies[1]).not.toContain('typed meanwhile');
    expect(bodies[2]).toContain('typed meanwhile');
    made.server.assertConsumed();
  });

  it('an empty answer: the next prompt goes on', async () => {
    const made = await scene([[stop('end_turn')], [text('here')]]);
    expect((await made.session.send('go').done).end).toBe('completed');
    expect((await made.session.send('again').done).text).toBe('here');
    made.server.assertConsumed();
  });
});

describe('the order of things in a stream', () => {
  it('a call of 30 ms is over before a slow stream has ended', async () => {
    const tail = gate();
    const made = await scene([[toolUse('Nap', {}), delay(1), toolUse('Nap', {}), tail, text('the end')], [text('ok')]], {
      tools: [testTool({ name: 'Nap', call: async () => ({ data: 'rested' }) })],
      ...allow('Nap'),
      onUpdate: (update) => {
        if (update.type === 'call.result' && update.callId === 'toolu_1_2') tail.open();
      },
    });
    await made.session.send('go').done;
    const order = made.updates.map((update) => update.type);
    expect(order.lastIndexOf('call.result')).toBeLessThan(order.indexOf('model.ended'));
  });
});

describe('a server call whose result never comes', () => {
  const search = block({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } });
  const orphan = block({ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_9', content: [] });
  it.each<[string, Turn, boolean]>([
    ['beside a call of ours', [search, toolUse('Count', { n: 1 })], true],
    ['in a paused answer', [search, stop('pause_turn')], false],
    ['in an answer that ended', [text('Let me look.'), search], false],
    ['and one that nobody asked for', [orphan, text('Here it is.')], true],
  ])('%s: no later prompt fails or is lost for it', async (_, first, isMended) => {
    const { tool, runs } = counter();
    const made = await scene((__, n) => (n === 1 ? first : [text(`answer ${n}`)]), { tools: [tool], ...allow('Count') });
    await made.session.send('the first question').done;
    for (const prompt of ['the second question', 'the third question']) {
      expect(await made.session.send(prompt).done).toMatchObject({ end: 'completed', text: expect.stringContaining('answer') });
      expect(JSON.stringify(made.server.requests.at(-1)?.body.messages)).toContain(prompt);
    }
    expect(made.server.refusals).toEqual([]);
    expect(runs.length).toBeLessThanOrEqual(1);
    expect(made.of('notice').some(({ message }) => message.includes('The history was mended'))).toBe(isMended);
  });
});
