import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import {
  apiError,
  block,
  cutOff,
  delay,
  errorEvent,
  gate,
  message,
  ping,
  recording,
  type Script,
  ScriptError,
  scriptedServer,
  stop,
  text,
  thinking,
  toolUse,
  usage,
} from '../../src/testing/index.js';
import { collect, modelRequest, outcome } from '../model/support.js';
import { clientOf, hello, post, serve } from './support.js';

test('a turn is spelled out as the API streams it: start, blocks, stop reason, usage, stop', async () => {
  const server = await serve([
    [
      thinking('hm', { signature: 'sig' }),
      text('hello', { pieces: ['hel', 'lo'] }),
      ping(),
      toolUse('Read', { path: 'a' }),
      usage({ output_tokens: 42 }),
    ],
  ]);
  const response = await post(server, { ...hello, stream: true });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const body = await response.text();
  expect(body.match(/^event: .*$/gm)?.map((line) => line.slice(7))).toEqual([
    'message_start',
    ...['content_block_start', 'content_block_delta', 'content_block_delta', 'content_block_stop'],
    ...['content_block_start', 'content_block_delta', 'content_block_delta', 'content_block_stop'],
    'ping',
    ...['content_block_start', 'content_block_delta', 'content_block_stop'],
    'message_delta',
    'message_stop',
  ]);
  expect(body).toContain('"stop_reason":"tool_use"');
  expect(body).toContain('"output_tokens":42');
  expect(body).toContain('"id":"toolu_1_3"');
});

test('the official SDK reads it, streaming and not, to the same message', async () => {
  const turn = [text('let me look'), toolUse('Read', { path: 'a' }), block({ type: 'redacted_thinking', data: 'x' })];
  const server = await serve([turn, turn]);
  const sdk = new Anthropic({ baseURL: server.url, apiKey: 'test', maxRetries: 0 });
  const params: Anthropic.MessageCreateParamsNonStreaming = {
    model: 'claude-test',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'x' }],
  };
  const streamed = await sdk.messages.stream(params).finalMessage();
  const whole = await sdk.messages.create(params);
  expect(whole.content).toEqual(JSON.parse(JSON.stringify(streamed.content).replaceAll('toolu_1_', 'toolu_2_')));
  expect(whole).toMatchObject({ role: 'assistant', stop_reason: 'tool_use', model: 'claude-test', usage: { output_tokens: 10 } });
});

test('stop reason, message id and model can be set', async () => {
  const server = await serve([
    [message({ id: 'msg_x', model: 'claude-other' }), text('no'), stop('refusal', { type: 'refusal', category: null })],
  ]);
  const { end } = outcome(await collect(clientOf(server)));
  expect(end).toMatchObject({
    kind: 'complete',
    stopReason: 'refusal',
    stopDetails: { category: null },
    messageId: 'msg_x',
    model: 'claude-other',
  });
});

test('a message step in the middle splices a second message into the stream', async () => {
  const server = await serve([[text('first'), message({ id: 'msg_b' }), text('second')]]);
  expect(outcome(await collect(clientOf(server)))).toMatchObject({
    blocks: [{ text: 'second' }],
    discarded: [expect.any(String)],
    end: { messageId: 'msg_b' },
  });
});

test('bytes can be cut anywhere, in the middle of a character too', async () => {
  const server = await serve([[text('naïve 😀 café'), toolUse('Read', { path: 'ü' })]], { chunkBytes: 1 });
  expect(outcome(await collect(clientOf(server))).blocks).toMatchObject([{ text: 'naïve 😀 café' }, { input: { path: 'ü' } }]);
});

test('requests are recorded and frozen', async () => {
  const server = await serve([[text('hi')]]);
  await collect(clientOf(server));
  const [request] = server.requests;
  expect(request).toMatchObject({ n: 1, body: { model: 'claude-test', messages: [{ role: 'user', content: 'Hello' }] } });
  expect(request?.headers['anthropic-version']).toMatch(/^\d{4}-\d\d-\d\d$/);
  expect(() => Object.assign(request?.body ?? {}, { model: 'other' })).toThrow(TypeError);
  expect(Object.isFrozen(request?.body.messages)).toBe(true);
});

test('a function decides by the request', async () => {
  const script: Script = ({ body }, n) => [text(`${n}: ${JSON.stringify(body.messages).length > 60 ? 'long' : 'short'}`)];
  const server = await serve(script);
  const long = modelRequest({ messages: [{ role: 'user', content: 'x'.repeat(100) }] });
  expect(outcome(await collect(clientOf(server))).blocks).toMatchObject([{ text: '1: short' }]);
  expect(outcome(await collect(clientOf(server), long)).blocks).toMatchObject([{ text: '2: long' }]);
  server.assertConsumed();
});

test('answers to requests that overlap do not mix', async () => {
  const [a, b] = [gate(), gate()];
  const server = await serve([
    [a, text('one')],
    [b, text('two')],
  ]);
  const first = collect(clientOf(server));
  await a.reached;
  const second = collect(clientOf(server));
  await b.reached;
  b.open();
  expect(outcome(await second).blocks).toMatchObject([{ text: 'two' }]);
  a.open();
  expect(outcome(await first).blocks).toMatchObject([{ text: 'one' }]);
});

test('what was not played is listed with its position', async () => {
  const server = await serve([[text('a'), errorEvent()], [text('b')], [delay(1), text('c')]]);
  await collect(clientOf(server));
  expect(server.unconsumed()).toEqual([
    { turn: 2, step: 1, kind: 'text' },
    { turn: 3, step: 1, kind: 'delay' },
    { turn: 3, step: 2, kind: 'text' },
  ]);
  expect(() => server.assertConsumed()).toThrow(ScriptError);
  expect(() => server.assertConsumed()).toThrow(/turn 2, step 1 \(text\) was not played\n {2}turn 3/);
});

test('a request beyond the end of the script gets an error that says so, and is not forgotten', async () => {
  const server = await serve([[text('only')]]);
  await collect(clientOf(server));
  const { end } = outcome(await collect(clientOf(server)));
  expect(end).toMatchObject({
    kind: 'broken',
    error: { status: 400, retryable: false, message: expect.stringContaining('The script has 1 turns, and this is request 2') },
  });
  expect(() => server.assertConsumed()).toThrow(/request 2 was refused \(400\)/);
});

test('a refused request takes no turn of the script', async () => {
  const server = await serve([[text('hi')]]);
  await collect(
    clientOf(server),
    modelRequest({
      messages: [
        { role: 'assistant', content: 'x' },
        { role: 'user', content: 'y' },
      ],
    }),
  );
  expect(outcome(await collect(clientOf(server))).blocks).toMatchObject([{ text: 'hi' }]);
  expect(server.refusals).toMatchObject([{ request: 1, status: 400 }]);
});

test.each([
  [
    'after a cut',
    [[text('a')], [text('a'), cutOff(), text('b')]],
    /turn 2, step 2 \(cutOff\): nothing can follow it, but a text step does/,
  ],
  ['an HTTP error after content', [[text('a'), apiError(500, 'api_error')]], /turn 1, step 2 \(apiError\): an HTTP error takes the place/],
  ['content beside a recording', [[recording('{"type":"ping"}'), text('b')]], /turn 1, step 1 \(recording\)/],
  ['a time that is none', [[delay(-1)]], /turn 1, step 1 \(delay\): -1 is no time/],
])('a script that contradicts itself is refused at once, with the place: %s', async (_, script, message) => {
  await expect(scriptedServer({ script })).rejects.toThrow(message);
});

test('a mistake that shows only while playing reaches the client and the check at the end', async () => {
  const server = await serve([[recording('{"type":"message_start"}\n{oops')]]);
  expect(outcome(await collect(clientOf(server))).end?.kind).toBe('broken');
  expect(() => server.assertConsumed()).toThrow(/step 1 \(recording\), line 2/);
  const throwing = await serve(() => {
    throw new Error('cannot decide');
  });
  expect(outcome(await collect(clientOf(throwing))).end).toMatchObject({
    error: { message: expect.stringContaining('Mistake in the script: cannot decide') },
  });
});

test('closing ends answers that still wait, and nothing listens afterwards', async () => {
  const wait = gate();
  const server = await scriptedServer({ script: [[text('a'), wait]] });
  const pending = collect(clientOf(server));
  await wait.reached;
  await server.close();
  expect(outcome(await pending).end).toMatchObject({ kind: 'broken', error: { type: 'connection_error' } });
  await expect(post(server, hello)).rejects.toThrow();
  await server.close();
});

test('a delay ends at once when the client goes', async () => {
  const clock = new SimulatedClock();
  const server = await serve([[text('a'), delay(60_000)]], { clock });
  const controller = new AbortController();
  const response = await fetch(`${server.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({ ...hello, stream: true }),
    signal: controller.signal,
  });
  await response.body?.getReader().read();
  controller.abort();
  expect(await server.answered(1)).toBe('clientClosed');
});

test('an HTTP error can be waited for', async () => {
  const wait = gate();
  const server = await serve([[wait, apiError(529, 'overloaded_error')]]);
  const pending = collect(clientOf(server));
  await wait.reached;
  wait.open();
  expect(outcome(await pending).end).toMatchObject({ kind: 'broken', error: { status: 529 } });
  expect(await server.answered(1)).toBe('httpError');
});

test('other paths and methods are told what is scripted', async () => {
  const server = await serve([]);
  const response = await fetch(`${server.url}/v1/models`);
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
});
