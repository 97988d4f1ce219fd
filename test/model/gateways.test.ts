import { createServer } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { createAnthropicClient } from '../../src/model/anthropic.js';
import { fromApiError } from '../../src/model/errors.js';
import { assembled, close, collect, finish, json, open, openText, openTool, outcome, say, start, tool } from './support.js';

/*
 * What gateways in front of the API are seen to send: no piece of a call's input may get lost so that the call runs on what is left, and a
 * failure must be told as what it is.
 */

const message = (...events: unknown[]) => outcome(assembled([start(), ...events.flat(), ...finish('tool_use')]));
const delta = (index: number | undefined, content: object) => ({ type: 'content_block_delta', index, delta: content });

describe('input in the start event, as text', () => {
  test.each<[string, string, object]>([
    ['empty text', '', {}],
    ['an object', '{"path":"a"}', { path: 'a' }],
  ])('%s counts as if it had come in deltas', (_, input, expected) => {
    const { calls, blocks } = message(open(0, { type: 'tool_use', id: 't1', name: 'Read', input }), close(0));
    expect(calls[0]).toMatchObject({ rawInput: input, input: { kind: 'object', value: expected } });
    expect(blocks).toEqual([{ type: 'tool_use', id: 't1', name: 'Read', input: expected }]);
  });

  test('text that is no object is not run, and the block can be sent back', () => {
    const { calls, blocks } = message(open(0, { type: 'tool_use', id: 't1', name: 'Read', input: 'a' }), close(0));
    expect(calls[0]?.input.kind).toBe('invalid');
    expect(blocks).toMatchObject([{ input: {} }]);
  });
});

describe('input that goes astray', () => {
  const path = '{"path":"a"}';
  test.each<[string, unknown[]]>([
    ['an object in place of text', [delta(0, { type: 'input_json_delta', partial_json: { path: 'a' } })]],
    ['under another key', [delta(0, { type: 'input_json_delta', input_json: path })]],
    ['without the type of its delta', [delta(0, { partial_json: path })]],
    ['as text', [say(0, path)]],
    ['under the index of a text', [openText(1), json(1, path)]],
    ['under an index that is not open', [json(3, path)]],
    ['without an index', [delta(undefined, { type: 'input_json_delta', partial_json: path })]],
  ])('%s: the call does not run as if it had none; one with its own input does', (_, stray) => {
    const { calls, notes } = message(openTool(0, 't1'), ...stray, close(0), ...tool(2, 't2', '{}'));
    expect(calls.map(({ id, input }) => [id, input.kind])).toEqual([
      ['t1', 'invalid'],
      ['t2', 'object'],
    ]);
    expect(notes).not.toEqual([]);
  });

  test.each<[string, unknown]>([
    ['under its index', json(0, path)],
    ['without an index', delta(undefined, { type: 'input_json_delta', partial_json: path })],
  ])('behind the end of its call, %s: the call does not run as if it had none', (_, late) => {
    const { calls } = message(openTool(0, 't1'), close(0), late, ...tool(1, 't2', '{}'));
    expect(calls.map(({ id, input }) => [id, input.kind])).toEqual([
      ['t1', 'invalid'],
      ['t2', 'object'],
    ]);
  });

  test.each<[string, object]>([
    ['null', { type: 'input_json_delta', partial_json: null }],
    ['nothing', { type: 'input_json_delta' }],
    ['a type of a newer API', { type: 'caller_delta', caller: 'x' }],
  ])('a delta with %s loses nothing: a call without arguments runs', (_, content) => {
    expect(message(openTool(0, 't1'), delta(0, content), close(0)).calls[0]?.input).toEqual({ kind: 'object', value: {} });
  });

  test('an answer whose blocks have no index is broken, not empty', () => {
    const blocks = [
      { type: 'content_block_start', content_block: { type: 'text', text: '' } },
      delta(undefined, { type: 'text_delta', text: 'hello' }),
      { type: 'content_block_stop' },
    ];
    expect(outcome(assembled([start(), ...blocks, ...finish('end_turn')])).end).toMatchObject({
      kind: 'broken',
      error: { type: 'protocol_error', message: expect.stringContaining('without an index') },
    });
  });
});

describe('errors in the words of a gateway', () => {
  const place = { baseURL: 'https://gateway.example', model: 'claude-x' };
  test.each<[string, Parameters<typeof fromApiError>[0], string, boolean]>([
    ['429 of its own type', { status: 429, type: 'throttling_error' }, 'rate_limit_error', true],
    ['401 of its own type', { status: 401, type: 'auth_error' }, 'authentication_error', false],
    ['502 of its own type', { status: 502, type: 'None' }, 'api_error', true],
    ['a code in a stream', { type: 'rate_limit_exceeded', code: 429 }, 'rate_limit_error', true],
    ['no code in a stream', { type: 'server_error' }, 'api_error', true],
    ['400 of its own type', { status: 400, type: 'BadRequestError' }, 'invalid_request_error', false],
    ['what the API calls so', { type: 'invalid_request_error' }, 'invalid_request_error', false],
  ])('%s is the error that it stands for', (_, facts, type, retryable) => {
    expect(fromApiError(facts, place)).toMatchObject({ type, retryable });
  });

  test.each<[string, unknown]>([
    ['without a type', { error: { message: 'upstream is busy', type: null, code: '503' } }],
    ['as mere text', { error: 'upstream is busy' }],
  ])('an event %s ends the stream with what it says', (_, event) => {
    const { end } = outcome(assembled([start(), event]));
    expect(end).toMatchObject({ kind: 'broken', error: { retryable: true, message: expect.stringContaining('upstream is busy') } });
  });
});

const servers: { close(): unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** One answer with HTTP 200 from a server that is not the API. */
async function answered(type: string, body: string) {
  const server = createServer((_, response) => response.writeHead(200, { 'content-type': type }).end(body));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const address = server.address();
  const baseURL = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  return outcome(await collect(createAnthropicClient({ baseURL, apiKey: 'k', env: {} })));
}

describe('an answer with HTTP 200 that is no stream', () => {
  test('an error in JSON is that error', async () => {
    const body = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    expect((await answered('application/json', JSON.stringify(body))).end).toMatchObject({
      kind: 'broken',
      error: { type: 'overloaded_error', retryable: true },
    });
  });

  test('a whole message counts as what it is', async () => {
    const content = [
      { type: 'text', text: 'so' },
      { type: 'tool_use', id: 't1', name: 'Read', input: { path: 'a' } },
    ];
    const body = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content, stop_reason: 'tool_use', usage: {} };
    const { blocks, calls, end } = await answered('application/json; charset=utf-8', JSON.stringify(body));
    expect(blocks).toEqual(content);
    expect(calls).toMatchObject([{ id: 't1', input: { kind: 'object', value: { path: 'a' } } }]);
    expect(end).toMatchObject({ kind: 'complete', stopReason: 'tool_use' });
  });

  test.each(['{"status":"ok"}', '<h1>hi</h1>', ''])('%j is no answer of this API', async (body) => {
    expect((await answered('application/json', body)).end).toMatchObject({
      kind: 'broken',
      error: { type: 'protocol_error', retryable: false, message: expect.stringContaining('ANTHROPIC_BASE_URL') },
    });
  });

  test.each([
    [
      'Application/JSON',
      JSON.stringify({ id: 'msg_1', type: 'message', model: 'm', content: [{ type: 'text', text: 'so' }], stop_reason: 'end_turn' }),
    ],
    [
      'Text/Event-Stream; Charset=UTF-8',
      'data: {"type":"message_start","message":{"id":"msg_1","model":"m","content":[{"type":"text","text":"so"}]}}\n\ndata: {"type":"message_stop"}\n\n',
    ],
  ])('the media type counts in capitals as well: %s', async (type, body) => {
    const { blocks, end } = await answered(type, body);
    expect(blocks).toEqual([{ type: 'text', text: 'so' }]);
    expect(end).toMatchObject({ kind: 'complete' });
  });

  test('a named error event without its type is an error, with its words', async () => {
    const { end } = await answered('text/event-stream', 'event: error\ndata: {"detail":"x","message":"Internal failure"}\n\n');
    expect(end).toMatchObject({ kind: 'broken', error: { retryable: true, message: expect.stringContaining('Internal failure') } });
  });
});
