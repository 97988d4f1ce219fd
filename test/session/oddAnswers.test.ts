import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readSession } from '../../src/session/stored.js';
import { block, event, message, rawToolUse, type Turn, text, thinking, toolUse, usage } from '../../src/testing/index.js';
import { scene, tempDir, testTool } from '../support/sessions.js';

const echo = testTool({ name: 'Echo' });
const echoing = { tools: [echo], permissions: { allow: ['Echo'] } };

/** One odd answer, then ordinary ones; whatever the odd one was, the conversation must go on. */
async function afterAnswer(odd: Turn, options: object = {}) {
  const made = await scene(({ n }) => (n === 1 ? odd : [text(`answer ${n}`)]), { ...echoing, ...options });
  const first = await made.session.send('go').done;
  const second = await made.session.send('and on').done;
  expect(second.end).toBe('completed');
  expect(made.server.refusals).toEqual([]);
  return { ...made, first };
}

describe('an answer of the model that is odd', () => {
  it.each<[string, Turn]>([
    ['no block at all', []],
    ['an empty text', [text('')]],
    ['blanks', [text(' \n')]],
    ['only thinking', [thinking('hm')]],
    ['text and then thinking', [text('so'), thinking('hm')]],
    ['thinking without a signature', [thinking('hm', { signature: '' }), text('so')]],
    ['only thinking without a signature', [thinking('hm', { signature: '' })]],
    ['redacted thinking alone', [block({ type: 'redacted_thinking', data: 'abc' })]],
    ['a block of an unknown type', [block({ type: 'hologram', data: 1 })]],
    ['a block named like a prototype member', [block({ type: 'constructor', data: 1 }), text('so')]],
    ['an image', [block({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }), text('so')]],
    ['half a surrogate pair', [text('x\ud800y')]],
    ['NUL', [text('x\0y')]],
  ])('%s: ends the query, and the next prompt is taken', async (_, odd) => {
    expect((await afterAnswer(odd)).first.end).toBe('completed');
  });

  it.each<[string, Turn, readonly string[]]>([
    [
      'prototype names',
      [toolUse('constructor'), toolUse('__proto__'), toolUse('toString')],
      ['No such tool', 'No such tool', 'No such tool'],
    ],
    ['no name', [toolUse('')], ['No such tool']],
    ['names that the API would refuse', [toolUse('a b/c'), toolUse('é'), toolUse('x'.repeat(5000))], ['a b/c', 'é', 'xxx']],
    ['two names glued together', [toolUse('EchoEcho')], ['Did you mean Echo?']],
    ['prototype keys in the input', [rawToolUse('Echo', '{"__proto__":{"polluted":1}}')], ['which is refused']],
    ['a constructor in the input', [rawToolUse('Echo', '{"constructor":{"prototype":{"polluted":1}}}')], ['which is refused']],
    ['NUL, CRLF and half a pair in the input', [toolUse('Echo', { a: 'x\0y\r\n\ud800' })], ['Echo {"a":"x']],
    ['prototype names as ids', [toolUse('Echo', {}, { id: '__proto__' }), toolUse('Echo', {}, { id: 'constructor' })], ['Echo', 'Echo']],
    [
      'ids that the API would refuse, and one that theirs would become',
      [
        toolUse('Echo', { n: 1 }, { id: 'a b' }),
        toolUse('Echo', { n: 2 }, { id: '../../a/b\n' }),
        toolUse('Echo', { n: 3 }, { id: 'a_b' }),
      ],
      ['Echo {"n":1}', 'Echo {"n":2}', 'Echo {"n":3}'],
    ],
    ['a very long id', [toolUse('Echo', {}, { id: 'y'.repeat(3000) })], ['Echo {}']],
    [
      'an index far behind',
      [
        event({ type: 'content_block_start', index: 7, content_block: { type: 'tool_use', id: 'late', name: 'Echo', input: {} } }),
        event({ type: 'content_block_stop', index: 7 }),
      ],
      ['Echo {}'],
    ],
  ])('calls with %s: one result each, in order, in a request that the API takes', async (_, odd, expected) => {
    const { results, first, session } = await afterAnswer(odd);
    expect(first.end).toBe('completed');
    expect([...results().values()].map(({ text: words }) => words)).toEqual(expected.map((part) => expect.stringContaining(part)));
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect(session.messages.length).toBe(6);
  });

  it('an id that a later turn really uses again: both calls run, under ids of their own', async () => {
    const again = [toolUse('Echo', { n: 1 }, { id: 't1' })];
    const { session, server, results, of } = await scene([again, [toolUse('Echo', { n: 2 }, { id: 't1' })], [text('ok')]], echoing);
    expect((await session.send('go').done).end).toBe('completed');
    expect([...results()].map(([id, { text: words }]) => [id, words])).toEqual([
      ['t1', 'Echo {"n":1}'],
      ['t1_2', 'Echo {"n":2}'],
    ]);
    expect(new Set(of('input.delta').map(({ callId }) => callId))).toEqual(new Set(['t1', 't1_2']));
    server.assertConsumed();
  });

  it('reads back from the transcript as it was sent', async () => {
    const cwd = tempDir();
    const store = tempDir();
    const odd = [thinking('hm'), text('x\ud800'), toolUse('a b', { c: '\ud800' }, { id: 'i d' }), toolUse('Echo', {}, { id: 'i_d' })];
    const first = await scene([odd, [thinking('only')]], { ...echoing, cwd, store });
    await first.session.send('go').done;
    await first.session.close();
    expect(
      readFileSync(first.session.transcriptPath ?? '', 'utf8')
        .split('\n')
        .at(-1),
    ).toBe('');
    const second = await scene([[text('on')]], { ...echoing, cwd, store, resume: first.session.id });
    await second.session.send('next').done;
    const before = first.server.requests[1]?.body.messages;
    const after = second.server.requests[0]?.body.messages;
    expect(Array.isArray(after) && Array.isArray(before) && JSON.stringify(after.slice(0, 2))).toBe(
      JSON.stringify(Array.isArray(before) ? before.slice(0, 2) : null),
    );
  });
  const same = message({ id: 'msg_same' });
  const none = message({ id: '' });
  const fallback = block({ type: 'fallback', from: { model: 'a' }, to: { model: 'b' } });
  it.each<[string, readonly Turn[]]>([
    [
      'of one id for all',
      [
        [same, text('so'), toolUse('Echo', { n: 1 })],
        [same, toolUse('Echo', { n: 2 })],
        [same, text('on')],
        [same, text('end')],
      ],
    ],
    [
      'without ids',
      [
        [none, toolUse('Echo', { n: 1 })],
        [none, toolUse('Echo', { n: 2 })],
        [none, text('on')],
        [none, text('end')],
      ],
    ],
    [
      'that another model took over',
      [
        [same, thinking('hm'), text('so'), fallback, text('on')],
        [same, text('end')],
      ],
    ],
    [
      'without ids that another model took over',
      [
        [none, text('first')],
        [none, thinking('hm'), text('so'), fallback, text('on')],
      ],
    ],
  ])('answers %s: the transcript gives the same history again', async (_, script) => {
    const place = { cwd: tempDir(), store: tempDir() };
    const { session } = await scene(script, { ...echoing, ...place });
    await session.send('go').done;
    await session.send('and on').done;
    const stored = readSession(session.id, place).messages;
    expect(stored).toEqual(session.messages);
    await session.close();
    const next = await scene([[same, text('resumed')]], { ...echoing, ...place, resume: session.id });
    await next.session.send('once more').done;
    expect(readSession(session.id, place).messages).toEqual(next.session.messages);
    expect(next.session.messages.slice(0, stored.length)).toEqual(stored);
  });

  it('an id that stood in what was summarised, in an earlier process: the call has one of its own, and is found again', async () => {
    const place = { cwd: tempDir(), store: tempDir() };
    const counted = toolUse('Echo', { n: 1 }, { id: 'call_0' });
    const { session } = await scene([[counted], [text('one')], [text('two')], [text('summary')]], { ...echoing, ...place });
    await session.send('go').done;
    await session.send('on').done;
    expect(await session.compact()).toBe(true);
    expect(JSON.stringify(session.messages)).not.toContain('call_0');
    await session.close();
    const again = await scene([[counted], [text('end')]], { ...echoing, ...place, resume: session.id });
    await again.session.send('more').done;
    expect([...again.results().keys()]).toEqual(['call_0_2']);
    expect(readSession(session.id, place).messages).toEqual(again.session.messages);
  });

  it('a call out of a toolset: its result names the toolset, whatever became of it, also on file', async () => {
    const place = { cwd: tempDir(), store: tempDir() };
    const calls = ['Echo', 'Gone'].map((name) =>
      block({ type: 'tool_use', id: `toolu_${name}`, name, input: {}, toolset_name: 'browser' }),
    );
    const { session, server } = await scene([[...calls, toolUse('Echo', {}, { id: 'toolu_plain' })], [text('ok')]], {
      ...echoing,
      ...place,
    });
    await session.send('go').done;
    const named = server.requests[1]?.body.messages;
    expect(Array.isArray(named) && named.at(-1)).toMatchObject({
      content: [
        { tool_use_id: 'toolu_Echo', toolset_name: 'browser' },
        { tool_use_id: 'toolu_Gone', toolset_name: 'browser', is_error: true },
        expect.not.objectContaining({ toolset_name: 'browser' }),
      ],
    });
    expect(readSession(session.id, place).messages).toEqual(session.messages);
  });

  it('counts that are none spoil no sum', async () => {
    const odd = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: '7', cache_creation_input_tokens: -3 };
    const { session, server } = await scene([[usage(odd), text('one')], [text('two')]], echoing);
    await session.send('go').done;
    await session.send('on').done;
    expect(session.usage).toEqual({ inputTokens: 20, outputTokens: 15, cacheReadTokens: 0, cacheCreationTokens: 0, requests: 2 });
    server.assertConsumed();
  });
});
