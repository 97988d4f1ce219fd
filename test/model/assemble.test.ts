import { describe, expect, test } from 'vitest';
import type { ModelDelta } from '../../src/model/types.js';
import { assembled, close, finish, json, open, openText, openTool, outcome, say, start, tool } from './support.js';

/** The outcome of a whole, well-ended message with these events in the middle. */
const message = (events: readonly unknown[], reason = 'tool_use') => outcome(assembled([start(), ...events.flat(), ...finish(reason)]));

describe('input of a tool call', () => {
  test.each([
    ['an empty delta', [openTool(0, 't1'), json(0, ''), close(0)], {}],
    ['no delta', [openTool(0, 't1'), close(0)], {}],
    ['two spaces', [openTool(0, 't1'), json(0, '  '), close(0)], {}],
    ['input in the start event only', [openTool(0, 't1', 'Read', { path: 'a' }), close(0)], { path: 'a' }],
    ['input in the start event and an empty delta', [openTool(0, 't1', 'Read', { path: 'a' }), json(0, ''), close(0)], { path: 'a' }],
    [
      'input in the start event and other input in deltas',
      [openTool(0, 't1', 'Read', { path: 'a' }), json(0, '{"path":"b"}'), close(0)],
      { path: 'b' },
    ],
  ])('%s gives one decided object, in the call and in the stored block', (_, events, input) => {
    const { blocks, calls, notes } = message(events);
    expect(calls.map((call) => call.input)).toEqual([{ kind: 'object', value: input }]);
    expect(blocks).toEqual([{ type: 'tool_use', id: 't1', name: 'Read', input }]);
    expect(notes).toEqual([]);
  });

  test('replaying the stored block gives the same input', () => {
    const { blocks } = message(tool(0, 't1', '{"path":"b"}'));
    const stored: unknown = JSON.parse(JSON.stringify(blocks[0]));
    expect(message([{ type: 'content_block_start', index: 0, content_block: stored }, close(0)]).calls[0]?.input).toEqual({
      kind: 'object',
      value: { path: 'b' },
    });
  });

  const texts = ['{"re":"\\d+"}', '{"a":"x = "foo" + y"}', '{"a":1}{"b":2}', '[1,2]', '"str"', 'null', '{"word":"caf\\u00e9 😀"}'];
  test.each(texts)('%s is decided at block end, the same wherever the deltas are cut, and no other block is harmed', (raw) => {
    const whole = message([...tool(0, 't1', raw), ...tool(1, 't2', '{"ok":true}')]);
    expect(whole.calls[0]?.rawInput).toBe(raw);
    expect(whole.calls[0]?.input.kind).toBe(raw.includes('word') ? 'object' : 'invalid');
    expect(whole.calls[1]?.input).toEqual({ kind: 'object', value: { ok: true } });
    for (let cut = 0; cut <= raw.length; cut += 1) {
      const pieces = [openTool(0, 't1'), json(0, raw.slice(0, cut)), json(0, raw.slice(cut)), close(0)];
      expect(message([...pieces, ...tool(1, 't2', '{"ok":true}')])).toEqual(whole);
    }
  });

  test('invalid input leaves a block that can be sent back', () => {
    const { blocks } = message(tool(0, 't1', '{"a":'));
    expect(blocks).toEqual([{ type: 'tool_use', id: 't1', name: 'Read', input: {} }]);
  });

  test('fields this code does not know stay in the block', () => {
    const { blocks } = message([
      open(0, { type: 'tool_use', id: 't1', name: 'x', input: {}, caller: { type: 'direct' }, toolset_name: 'b' }),
      close(0),
    ]);
    expect(blocks).toEqual([{ type: 'tool_use', id: 't1', name: 'x', input: {}, caller: { type: 'direct' }, toolset_name: 'b' }]);
  });

  test('a key that would become a prototype is refused as input and is not stored', () => {
    const { blocks, calls } = message(tool(0, 't1', '{"__proto__":{"admin":true},"a":1}'));
    expect(calls[0]?.input).toMatchObject({ kind: 'invalid', reason: expect.stringContaining('__proto__') });
    expect(JSON.stringify(blocks)).not.toContain('admin');
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
  });
});

describe('max_tokens', () => {
  test('cuts the open call off; the complete one before it stays as it is', () => {
    const { calls, notes } = message([...tool(0, 't1', '{"a":1}'), openTool(1, 't2'), json(1, '{"b":')], 'max_tokens');
    expect(calls.map(({ id, input }) => [id, input])).toEqual([
      ['t1', { kind: 'object', value: { a: 1 } }],
      ['t2', { kind: 'invalid', reason: 'cut off by max_tokens' }],
    ]);
    expect(notes).toEqual(['block 1 (tool_use) was cut off by max_tokens']);
  });

  test('cut-off input is not run even when its text happens to be complete', () => {
    expect(message([openTool(0, 't1'), json(0, '{"a":1}')], 'max_tokens').calls[0]?.input.kind).toBe('invalid');
  });

  test('a last call that never got to its input is cut off, not a call without arguments', () => {
    expect(message([openTool(0, 't1'), json(0, ''), close(0)], 'max_tokens').calls[0]?.input).toEqual({
      kind: 'invalid',
      reason: 'cut off by max_tokens',
    });
  });

  test('an earlier call without arguments is not touched by it', () => {
    const { calls } = message([openTool(0, 't1'), close(0), openText(1), say(1, 'and')], 'max_tokens');
    expect(calls[0]?.input).toEqual({ kind: 'object', value: {} });
  });

  test('keeps cut text, and drops cut thinking, which has no signature', () => {
    const thinking = [
      open(0, { type: 'thinking', thinking: '', signature: '' }),
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
    ];
    expect(message(thinking, 'max_tokens').blocks).toEqual([]);
    expect(message([openText(0), say(0, 'half a sen')], 'max_tokens').blocks).toEqual([{ type: 'text', text: 'half a sen' }]);
  });

  test('a regular end with an open call answers the call as cut off', () => {
    expect(message([openTool(0, 't1'), json(0, '{}')], 'tool_use').calls[0]?.input).toMatchObject({
      kind: 'invalid',
      reason: expect.stringContaining('never arrived'),
    });
  });
});

describe('two generations in one stream', () => {
  const half = [
    start('msg_a'),
    open(0, { type: 'thinking', thinking: '' }),
    close(0),
    ...tool(1, 'ta', '{}'),
    openTool(2, 'tb'),
    json(2, '{"x":"'),
  ];
  const whole = [start('msg_b'), ...tool(0, 'tc', '{"y":1}'), ...finish()];

  test('a message_start with another id takes back everything before it', () => {
    const { blocks, calls, discarded, end, ends } = outcome(assembled([...half, ...whole]));
    expect(discarded).toEqual(['message msg_b began before msg_a had ended']);
    expect(blocks).toEqual([{ type: 'tool_use', id: 'tc', name: 'Read', input: { y: 1 } }]);
    expect(calls).toHaveLength(1);
    expect(end).toMatchObject({ kind: 'complete', messageId: 'msg_b' });
    expect(ends).toBe(1);
  });

  test('the same with a notice of an unknown type between them', () => {
    const { blocks, notes } = outcome(assembled([...half, { type: 'stream_retry', attempt: 2 }, ...whole]));
    expect(blocks).toHaveLength(1);
    expect(notes).toEqual(['unknown event type "stream_retry" was ignored']);
  });

  test('ids of the abandoned message may be used again by the new one', () => {
    expect(outcome(assembled([...half, start('msg_b'), ...tool(0, 'ta', '{}'), ...finish()])).calls).toHaveLength(1);
  });

  test('two different blocks under one index are never joined: the stream breaks, complete blocks stay', () => {
    const { blocks, end } = outcome(
      assembled([
        start(),
        ...tool(0, 't1', '{}'),
        openTool(1, 't2'),
        json(1, '{"a'),
        openTool(1, 't3'),
        json(1, '":1}'),
        close(1),
        ...finish(),
      ]),
    );
    expect(blocks.map((block) => 'id' in block && block.id)).toEqual(['t1']);
    expect(end).toMatchObject({ kind: 'broken', error: { type: 'protocol_error' } });
  });
});

test('a second generation under the same message id is never mixed with the first', () => {
  const first = [start(), openText(0), say(0, 'Let me look'), close(0)];
  const second = [start(), openText(0), say(0, 'I will look'), close(0), ...tool(1, 't1', '{}'), ...finish()];
  const { blocks, calls, end } = outcome(assembled([...first, ...second]));
  expect(blocks).toEqual([{ type: 'text', text: 'Let me look' }]);
  expect(calls).toEqual([]);
  expect(end).toMatchObject({
    kind: 'broken',
    error: { type: 'protocol_error', message: expect.stringContaining('came again with other content') },
  });
});

test('messages without ids cannot be told to be the same: the later one counts', () => {
  const { blocks, discarded } = outcome(assembled([start(''), ...tool(0, 't1', '{}'), start(''), ...tool(0, 't2', '{}'), ...finish()]));
  expect(blocks).toMatchObject([{ id: 't2' }]);
  expect(discarded).toHaveLength(1);
});

describe('a call delivered twice', () => {
  test('whole message again: one call', () => {
    const all = [start(), openText(0), say(0, 'go'), close(0), ...tool(1, 't1', '{"cmd":"npm run dev"}')];
    const { blocks, calls, notes } = outcome(assembled([...all, ...all, ...finish()]));
    expect(calls).toHaveLength(1);
    expect(blocks).toEqual([
      { type: 'text', text: 'go' },
      { type: 'tool_use', id: 't1', name: 'Read', input: { cmd: 'npm run dev' } },
    ]);
    expect(notes).toContain('tool_use t1 arrived twice with the same input; it is one call');
  });

  test('after message_stop nothing is read any more', () => {
    const all = [start(), ...tool(0, 't1', '{}'), ...finish()];
    const events = assembled([...all, ...all]);
    expect(outcome(events)).toMatchObject({ ends: 1, calls: [{ id: 't1' }] });
    expect(events).toHaveLength(3);
  });

  test('the last three events again: one call, with the input of the first', () => {
    const call = tool(0, 't1', '{"a":1}');
    expect(message([...call, ...call])).toMatchObject({ calls: [{ id: 't1', input: { value: { a: 1 } } }] });
    expect(message([...call, ...call.slice(1)])).toMatchObject({ calls: [{ id: 't1', input: { value: { a: 1 } } }] });
  });

  test('a block that starts again before its end is read from its new start', () => {
    const { calls } = message([openTool(0, 't1'), json(0, '{"a":'), ...tool(0, 't1', '{"a":1}')]);
    expect(calls.map(({ rawInput }) => rawInput)).toEqual(['{"a":1}']);
  });

  test('the same id under another index with the same input: one call, one block', () => {
    expect(message([...tool(0, 't1', '{"a":1}'), ...tool(1, 't1', '{"a":1}')])).toMatchObject({
      blocks: [{ id: 't1' }],
      calls: [{ id: 't1', index: 0 }],
    });
  });

  test.each([
    ['another index', 1],
    ['the same index', 0],
  ])('the same id with other input under %s is a protocol error: reported, not executed, not stored', (_, index) => {
    const { blocks, calls, notes } = message([...tool(0, 't1', '{"a":1}'), ...tool(index, 't1', '{"a":2}')]);
    expect(calls.map(({ input }) => input)).toEqual([{ kind: 'object', value: { a: 1 } }]);
    expect(blocks).toHaveLength(1);
    expect(notes.join()).toMatch(/t1 arrived twice .* protocol error/);
  });

  test('a legal new turn may use the id again', () => {
    expect(message(tool(0, 't1', '{}')).calls).toHaveLength(1);
    expect(message(tool(0, 't1', '{}')).calls).toHaveLength(1);
  });

  test('a call without an id cannot be answered: reported, not executed', () => {
    const { calls, notes } = message([open(0, { type: 'tool_use', name: 'Read', input: {} }), close(0), ...tool(1, 't2', '{}')]);
    expect(calls.map(({ id }) => id)).toEqual(['t2']);
    expect(notes.join()).toMatch(/without an id/);
  });
});

describe('an answer that stopped for a tool call of which none can be answered', () => {
  const idless = [open(0, { type: 'tool_use', name: 'Read', input: {} }), close(0)];
  const indexless = [{ type: 'content_block_start', index: '0', content_block: { type: 'tool_use', id: 't1', name: 'Read', input: {} } }];
  test.each([
    ['without an id', idless],
    ['under an index that is no number', indexless],
    ['after words that arrived well', [openText(1), say(1, 'Let me look.'), close(1), ...idless]],
  ])('%s is broken, never an answer that asked for nothing', (_, events) => {
    const last = assembled([start(), ...events, ...finish('tool_use')]).at(-1);
    expect(last).toMatchObject({ type: 'stream.ended', end: { kind: 'broken', error: { type: 'protocol_error', retryable: true } } });
  });
});

describe('parallel calls', () => {
  test('interleaved deltas go to their own blocks', () => {
    const { calls, notes } = message([
      openTool(1, 't1', 'Read'),
      openTool(2, 't2', 'Grep'),
      json(1, '{"pa'),
      json(2, '{"q":'),
      { type: 'ping' },
      json(1, 'th":"a"}'),
      json(2, '"b"}'),
      close(2),
      close(1),
    ]);
    expect(calls.map(({ id, name, input }) => [id, name, input])).toEqual([
      ['t1', 'Read', { kind: 'object', value: { path: 'a' } }],
      ['t2', 'Grep', { kind: 'object', value: { q: 'b' } }],
    ]);
    expect(notes).toEqual([]);
  });

  test('the index says the order of calls, whatever order they arrive in', () => {
    const events = assembled([start(), ...tool(2, 't2', '{}'), ...tool(1, 't1', '{}'), ...finish()]);
    expect(events.flatMap((event) => (event.type === 'block.completed' ? [event.toolUse?.index] : []))).toEqual([2, 1]);
    expect(outcome(events).calls.map(({ id }) => id)).toEqual(['t1', 't2']);
  });

  test('deltas and stops for an index that is not open are noted and touch no other block', () => {
    const { calls, notes } = message([openTool(0, 't1'), json(7, '"x"'), json(0, '{"a":1}'), close(9), close(0)]);
    expect(calls.map(({ input }) => input)).toEqual([{ kind: 'object', value: { a: 1 } }]);
    expect(notes).toEqual([
      'a delta for block 7, which is not open, was ignored',
      'content_block_stop for block 9, which is not open, was ignored',
    ]);
  });

  test('a delta without an index may belong to any open call: none of them runs on the rest', () => {
    const lost = { type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json: '{"rm":true}' } };
    const { calls } = message([...tool(0, 't0', '{}'), openTool(1, 't1'), lost, close(1), ...tool(2, 't2', '{}')]);
    expect(calls.map(({ id, input }) => [id, input.kind])).toEqual([
      ['t0', 'object'],
      ['t1', 'invalid'],
      ['t2', 'object'],
    ]);
  });

  test('a delta of the wrong type for its block is noted and changes nothing', () => {
    const { blocks, notes } = message([openTool(0, 't1'), say(0, 'oops'), json(0, '{"a":1}'), close(0)]);
    expect(blocks).toEqual([{ type: 'tool_use', id: 't1', name: 'Read', input: { a: 1 } }]);
    expect(notes).toEqual(['block 0: a text_delta for a tool_use block was ignored']);
  });
});

describe('errors in the stream', () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };

  test('before any block: broken, retryable, nothing complete', () => {
    const { blocks, end } = outcome(assembled([start(), overloaded]));
    expect(blocks).toEqual([]);
    expect(end).toMatchObject({
      kind: 'broken',
      error: { type: 'overloaded_error', retryable: true, message: expect.stringContaining('Overloaded') },
    });
  });

  test('when nothing but thinking is complete: it is taken back, so that the request can be made again', () => {
    const thought = [open(0, { type: 'thinking', thinking: 'hm', signature: 's' }), close(0)];
    const { blocks, discarded, end } = outcome(assembled([start(), ...thought, openText(1), say(1, 'half'), overloaded]));
    expect(blocks).toEqual([]);
    expect(discarded).toEqual([expect.stringContaining('nothing but thinking')]);
    expect(end).toMatchObject({ kind: 'broken', error: { retryable: true } });
  });

  test.each<[string, unknown[]]>([
    ['with nothing open', [openText(0), say(0, 'whole'), close(0)]],
    ['with half a call', [openText(0), say(0, 'whole'), close(0), openTool(1, 't1')]],
  ])('after a complete text, %s: it says that the answer may be incomplete, and why', (_, events) => {
    expect(outcome(assembled([start(), ...events])).notes).toContainEqual(expect.stringMatching(/may be incomplete: .*closed the stream/));
  });

  test('in the middle of a text block: the half text is dropped, and said to be', () => {
    const { blocks, notes } = outcome(assembled([start(), openText(0), say(0, 'half'), overloaded]));
    expect(blocks).toEqual([]);
    expect(notes).toEqual(['block 0 (text) was not complete when the stream ended; it was dropped']);
  });

  test('after a complete call: the call stays, once', () => {
    const { calls, end } = outcome(
      assembled([start(), ...tool(0, 't1', '{"a":1}'), openTool(1, 't2'), json(1, '{"b"'), overloaded, overloaded]),
    );
    expect(calls.map(({ id }) => id)).toEqual(['t1']);
    expect(end?.kind).toBe('broken');
  });

  test('a complete call without arguments is complete when the stream breaks right after it', () => {
    expect(outcome(assembled([start(), openTool(0, 't1'), close(0)])).calls).toMatchObject([{ id: 't1', input: { kind: 'object' } }]);
  });

  test('without message_stop the end is never a normal end, even after a stop reason', () => {
    const [delta] = finish();
    const { end, calls } = outcome(assembled([start(), ...tool(0, 't1', '{}'), delta]));
    expect(end).toMatchObject({ kind: 'broken', error: { type: 'stream_incomplete', retryable: true } });
    expect(calls).toHaveLength(1);
  });

  test('an empty response is an error too', () => {
    expect(outcome(assembled([])).end).toMatchObject({
      kind: 'broken',
      error: { message: expect.stringContaining('before a message began') },
    });
  });

  test.each([[null], [7], ['x'], [[]], [{}], [{ type: 5 }]])('%j in place of an event is noted and harms nothing', (junk) => {
    expect(message([junk, ...tool(0, 't1', '{}')]).calls).toHaveLength(1);
  });

  test('events of a newer API are ignored, and noted once', () => {
    const { blocks, notes } = message(
      [
        { type: 'x' },
        openText(0),
        { type: 'content_block_delta', index: 0, delta: { type: 'sparkle' } },
        { type: 'x' },
        say(0, 'hi'),
        close(0),
      ],
      'end_turn',
    );
    expect(blocks).toEqual([{ type: 'text', text: 'hi' }]);
    expect(notes).toEqual(['unknown event type "x" was ignored', 'unknown delta type "sparkle" was ignored']);
  });

  test('blocks outside of a message do not count', () => {
    const { blocks, end } = outcome(assembled([...tool(0, 't1', '{}'), { type: 'message_stop' }]));
    expect(blocks).toEqual([]);
    expect(end).toMatchObject({ kind: 'broken', error: { type: 'protocol_error' } });
  });
});

describe('what the model does not ask the client for', () => {
  const search = [
    open(0, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
    json(0, '{"query":"x"}'),
    close(0),
  ];
  const found = {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [{ type: 'web_search_result', encrypted_content: 'abc' }],
  };

  test('server tools and their results pass through and are no calls of the client', () => {
    const { blocks, calls } = message([...search, open(1, found), close(1)], 'end_turn');
    expect(calls).toEqual([]);
    expect(blocks).toEqual([{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } }, found]);
  });

  test('pause_turn ends a message whose server call has no result yet', () => {
    expect(message(search, 'pause_turn').end).toMatchObject({ kind: 'complete', stopReason: 'pause_turn' });
  });

  test('a refusal says so in its end, with its details, and its cut-off call is not handed on', () => {
    const details = { type: 'refusal', category: 'cyber', explanation: null };
    const { calls, end } = outcome(
      assembled([
        start(),
        openTool(0, 't1'),
        json(0, '{}'),
        { type: 'message_delta', delta: { stop_reason: 'refusal', stop_details: details } },
        { type: 'message_stop' },
      ]),
    );
    expect(calls).toEqual([]);
    expect(end).toMatchObject({ kind: 'complete', stopReason: 'refusal', stopDetails: details });
  });

  test('a stop reason this code does not know is passed on', () => {
    expect(message([], 'compaction').end).toMatchObject({ kind: 'complete', stopReason: 'compaction' });
  });

  test('citations are collected, and a redacted thinking block is kept as it is', () => {
    const cite = (n: number) => ({ type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: { n } } });
    const redacted = { type: 'redacted_thinking', data: 'xyz' };
    const { blocks } = message([openText(0), say(0, 'a'), cite(1), cite(2), close(0), open(1, redacted), close(1)], 'end_turn');
    expect(blocks).toEqual([{ type: 'text', text: 'a', citations: [{ n: 1 }, { n: 2 }] }, redacted]);
  });

  test('thinking keeps its signature', () => {
    const thought = (delta: object) => ({ type: 'content_block_delta', index: 0, delta });
    const { blocks } = message([
      open(0, { type: 'thinking', thinking: '', signature: '' }),
      thought({ type: 'thinking_delta', thinking: 'a' }),
      thought({ type: 'thinking_delta', thinking: 'b' }),
      thought({ type: 'signature_delta', signature: 'sig' }),
      close(0),
    ]);
    expect(blocks).toEqual([{ type: 'thinking', thinking: 'ab', signature: 'sig' }]);
  });
});

test('a message that arrives whole in its start event has its blocks, its calls and its stop reason', () => {
  const call = {
    type: 'tool_use',
    id: 't1',
    name: 'roll',
    input: { player: 1 },
    caller: { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' },
  };
  const whole = {
    id: 'msg_1',
    model: 'm',
    content: [call, { type: 'tool_use', id: 't2', name: 'roll', input: {} }],
    stop_reason: 'tool_use',
  };
  const { blocks, calls, end, notes } = outcome(assembled([{ type: 'message_start', message: whole }, { type: 'message_stop' }]));
  expect(blocks).toEqual(whole.content);
  expect(calls.map(({ id, input }) => [id, input])).toEqual([
    ['t1', { kind: 'object', value: { player: 1 } }],
    ['t2', { kind: 'object', value: {} }],
  ]);
  expect(end).toMatchObject({ kind: 'complete', stopReason: 'tool_use' });
  expect(notes).toEqual([]);
});

describe('a fallback model', () => {
  const fallback = [open(5, { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } }), close(5)];
  const thinking = [open(0, { type: 'thinking', thinking: 'x', signature: 's' }), close(0)];
  const text = [openText(1), say(1, 'kept'), close(1)];

  test('takes back thinking and client calls before it, and keeps text and paired server calls', () => {
    const server = (index: number, id: string) => [
      open(index, { type: 'server_tool_use', id, name: 'web_search', input: {} }),
      close(index),
    ];
    const result = [open(4, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }), close(4)];
    const { blocks, calls, discarded, end } = message([
      ...thinking,
      ...text,
      ...server(2, 'srvtoolu_1'),
      ...server(3, 'srvtoolu_2'),
      ...result,
      ...tool(9, 't1', '{}'),
      ...fallback,
      ...tool(10, 't2', '{}'),
    ]);
    expect(blocks.map(({ type }) => type)).toEqual(['text', 'server_tool_use', 'web_search_tool_result', 'fallback', 'tool_use']);
    expect(calls.map(({ id }) => id)).toEqual(['t2']);
    expect(discarded).toEqual(['b took the answer over: thinking and tool calls before that do not count']);
    expect(end).toMatchObject({ kind: 'complete', model: 'b' });
  });

  test('takes nothing back where nothing has to go', () => {
    const { blocks, discarded, end } = message([...text, ...fallback], 'end_turn');
    expect(blocks).toHaveLength(2);
    expect(discarded).toEqual([]);
    expect(end).toMatchObject({ model: 'b' });
  });
});

test('deltas go round the events, in order, and are not repeated for a replayed block', () => {
  const deltas: ModelDelta[] = [];
  const call = tool(1, 't1', '{"a":1}');
  assembled([start(), openText(0), say(0, 'a'), say(0, 'b'), close(0), ...call, ...call, ...finish()], (delta) => deltas.push(delta));
  expect(deltas).toEqual([
    { type: 'text', index: 0, text: 'a' },
    { type: 'text', index: 0, text: 'b' },
    { type: 'input', index: 1, id: 't1', partialJson: '{"a":1}' },
  ]);
});

test('usage is cumulative: later figures win, nulls say nothing', () => {
  const { end } = outcome(
    assembled([
      start(),
      { type: 'message_delta', delta: {}, usage: { output_tokens: 3, input_tokens: null } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ]),
  );
  expect(end?.usage).toEqual({ input_tokens: 5, output_tokens: 9 });
});
