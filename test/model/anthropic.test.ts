import { createServer } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import { afterEach, describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { type AnthropicClientOptions, createAnthropicClient } from '../../src/model/anthropic.js';
import type { ModelDelta, ModelRequest, ModelStreamEvent } from '../../src/model/types.js';
import {
  apiError,
  cutOff,
  delay,
  errorEvent,
  event,
  gate,
  ping,
  raw,
  type Script,
  type ScriptedServer,
  scriptedServer,
  text,
  toolUse,
} from '../../src/testing/index.js';
import { collect, modelRequest, outcome } from './support.js';

const servers: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(script: Script): Promise<ScriptedServer> {
  const server = await scriptedServer({ script });
  servers.push(server);
  return server;
}
const clientOf = (server: { readonly url: string }, options: AnthropicClientOptions = {}) =>
  createAnthropicClient({ baseURL: server.url, apiKey: 'test-key', env: {}, ...options });

async function endOf(script: Script, request?: ModelRequest) {
  const { end } = outcome(await collect(clientOf(await serve(script)), request));
  return end?.kind === 'broken' ? end.error : end;
}

describe('what is sent', () => {
  test('model, limit, system, tools and messages, under the key, with the betas asked for', async () => {
    const server = await serve([[text('hi')]]);
    const tools = [{ name: 'Read', input_schema: { type: 'object' } }];
    await collect(clientOf(server), modelRequest({ system: 'be brief', tools, betas: ['a-1', 'b-2'], thinking: { type: 'adaptive' } }));
    const [request] = server.requests;
    expect(request?.headers).toMatchObject({ authorization: 'Bearer test-key', 'anthropic-beta': 'a-1,b-2' });
    expect(request?.body).toEqual({
      model: 'claude-test',
      max_tokens: 1024,
      stream: true,
      thinking: { type: 'adaptive' },
      tools,
      system: 'be brief',
      messages: [{ role: 'user', content: 'Hello' }],
    });
  });

  test('a request that names no model and no limit gets those of the settings', async () => {
    const server = await serve([[text('hi')]]);
    const env = { SIXGATES_MODEL: 'claude-env', SIXGATES_MAX_TOKENS: '77' };
    await collect(clientOf(server, { env }), modelRequest({ model: '', maxTokens: 0 }));
    expect(server.requests[0]?.body).toMatchObject({ model: 'claude-env', max_tokens: 77 });
  });

  test('a bearer token stands in for a key', async () => {
    const server = await serve([[text('hi')]]);
    await collect(createAnthropicClient({ env: { ANTHROPIC_AUTH_TOKEN: 'tok', ANTHROPIC_BASE_URL: server.url } }));
    expect(server.requests[0]?.headers.authorization).toBe('Bearer tok');
  });

  test('prompt caching is asked for when wanted', async () => {
    const server = await serve([[text('hi')]]);
    await collect(clientOf(server, { promptCaching: true }));
    expect(server.requests[0]?.body.cache_control).toEqual({ type: 'ephemeral' });
  });

  test('a client of the SDK can be given, with its own key and base URL', async () => {
    const server = await serve([[text('hi')]]);
    const client = new Anthropic({ apiKey: 'theirs', baseURL: server.url });
    const model = createAnthropicClient({ client, env: {} });
    expect(outcome(await collect(model)).end?.kind).toBe('complete');
    expect(model.settings.baseURL).toBe(server.url);
    expect(server.requests[0]?.headers.authorization).toBe('Bearer theirs');
  });

  test('a tool definition that is none is named, and nothing is sent', async () => {
    const server = await serve([[text('hi')]]);
    const { end } = outcome(await collect(clientOf(server), modelRequest({ tools: [{ description: 'nameless' }] })));
    expect(end).toMatchObject({
      kind: 'broken',
      error: { type: 'invalid_request_error', retryable: false, message: expect.stringContaining('tools.0') },
    });
    expect(server.requests).toEqual([]);
  });
});

describe('errors say what happened and what to do', () => {
  test('no key', async () => {
    const { end } = outcome(await collect(createAnthropicClient({ env: {} })));
    expect(end).toMatchObject({
      kind: 'broken',
      error: { type: 'missing_api_key', retryable: false, message: expect.stringContaining('ANTHROPIC_API_KEY') },
    });
  });

  test.each([
    ['a key with a line end', { apiKey: 'sk-secret\nmore' }, {}],
    ['a key with a character of no header', { apiKey: 'sk-secret…' }, {}],
    ['a beta with a line end', { apiKey: 'sk-secret' }, { betas: ['one\ntwo'] }],
  ])('%s is not retried, and nothing of it is told', async (_, options, request) => {
    const server = await serve([]);
    const { end } = outcome(await collect(clientOf(server, options), modelRequest(request)));
    expect(end).toMatchObject({ kind: 'broken', error: { type: 'invalid_request_error', retryable: false } });
    expect(JSON.stringify(end)).not.toMatch(/secret|two/);
    expect(JSON.stringify(end)).toContain('header');
  });

  test('a client of the SDK without a key', async () => {
    const client = new Anthropic({ apiKey: null, authToken: null, baseURL: 'http://127.0.0.1:9' });
    const { end } = outcome(await collect(createAnthropicClient({ client, env: {} })));
    expect(end).toMatchObject({ kind: 'broken', error: { type: 'missing_api_key', retryable: false } });
  });

  test('nobody listens at the base URL', async () => {
    const server = await scriptedServer({ script: [] });
    await server.close();
    const { end } = outcome(await collect(clientOf(server)));
    expect(end).toMatchObject({
      kind: 'broken',
      error: {
        type: 'connection_error',
        retryable: true,
        message: expect.stringMatching(/127\.0\.0\.1:\d+ failed: .*ECONNREFUSED.*ANTHROPIC_BASE_URL/),
      },
    });
  });

  test.each([
    [401, 'authentication_error', false, /refused the API key.*ANTHROPIC_API_KEY/],
    [403, 'permission_error', false, /may not use claude-test/],
    [404, 'not_found_error', false, /does not know the model "claude-test".*ANTHROPIC_MODEL/],
    [413, 'request_too_large', false, /32 MB/],
    [500, 'api_error', true, /failed/],
    [529, 'overloaded_error', true, /overloaded/],
  ])('HTTP %i: %s, retryable: %s', async (status, type, retryable, message) => {
    expect(await endOf([[apiError(status, type)]])).toMatchObject({ type, status, retryable, message: expect.stringMatching(message) });
  });

  test('429 says when to come back, in milliseconds', async () => {
    const error = await endOf([[apiError(429, 'rate_limit_error', { message: 'slow down', headers: { 'retry-after': '7' } })]]);
    expect(error).toMatchObject({
      type: 'rate_limit_error',
      retryable: true,
      retryAfterMs: 7000,
      message: expect.stringContaining('slow down'),
    });
  });

  test('429 for a spend limit is not worth a retry', async () => {
    const details = { error_code: 'enforced_spend_limit_reached' };
    expect(await endOf([[apiError(429, 'rate_limit_error', { details })]])).toMatchObject({
      retryable: false,
      message: expect.stringContaining('spend limit'),
    });
  });

  test('the words of a 400 are passed on', async () => {
    const error = await endOf(
      [],
      modelRequest({
        messages: [
          { role: 'assistant', content: 'I begin' },
          { role: 'user', content: 'no' },
        ],
      }),
    );
    expect(error).toMatchObject({
      type: 'invalid_request_error',
      status: 400,
      retryable: false,
      message: expect.stringContaining('first message must use the "user" role'),
    });
  });

  test('a server that is not this API is recognised', async () => {
    const other = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', () => resolve()));
    servers.push({ close: async () => void other.close() });
    const address = other.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    const { end } = outcome(await collect(clientOf({ url })));
    expect(end).toMatchObject({
      kind: 'broken',
      error: { type: 'protocol_error', retryable: false, message: expect.stringContaining('text/html') },
    });
  });
});

describe('a stream that goes wrong after it began well', () => {
  test('error event before any block: broken and retryable, nothing complete', async () => {
    const { blocks, end } = outcome(await collect(clientOf(await serve([[errorEvent()]]))));
    expect(blocks).toEqual([]);
    expect(end).toMatchObject({ kind: 'broken', error: { type: 'overloaded_error', retryable: true } });
  });

  test('error event after half a text: the half text is no block', async () => {
    const { blocks, end } = outcome(await collect(clientOf(await serve([[text('half', { open: true }), errorEvent()]]))));
    expect(blocks).toEqual([]);
    expect(end?.kind).toBe('broken');
  });

  test('error event after a complete call: the call counts, once', async () => {
    const { calls, end } = outcome(
      await collect(clientOf(await serve([[toolUse('Read', { a: 1 }), text('and', { open: true }), errorEvent()]]))),
    );
    expect(calls.map(({ id }) => id)).toEqual(['toolu_1_1']);
    expect(end).toMatchObject({ kind: 'broken', error: { type: 'overloaded_error' } });
  });

  test('event lines without data, comments, and events without a name are no trouble', async () => {
    const nameless = `data: ${JSON.stringify({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'hi' } })}\n\n`;
    const script = [
      [
        event({ type: 'message_start', message: { id: 'm', model: 'x' } }),
        raw('event: content_block_delta\n\n: keep-alive\n\nevent: error\n\n'),
        raw(nameless),
        event({ type: 'content_block_stop', index: 0 }),
      ],
    ];
    const { blocks, end, notes } = outcome(await collect(clientOf(await serve(script))));
    expect({ blocks, end: end?.kind, notes }).toEqual({ blocks: [{ type: 'text', text: 'hi' }], end: 'complete', notes: [] });
  });

  test.each(['reset', 'end'] as const)('the socket closes without message_stop (%s): never a normal end', async (how) => {
    const { blocks, end } = outcome(await collect(clientOf(await serve([[toolUse('Read'), text('half', { open: true }), cutOff(how)]]))));
    expect(blocks.map(({ type }) => type)).toEqual(['tool_use']);
    expect(end).toMatchObject({
      kind: 'broken',
      error: { type: how === 'end' ? 'stream_incomplete' : 'connection_error', retryable: true },
    });
  });

  test('data that is not JSON may have been anything: the stream is broken there, what was complete stays', async () => {
    const { blocks, end } = outcome(
      await collect(clientOf(await serve([[text('whole'), raw('event: content_block_delta\ndata: {"type": oops\n\n'), toolUse('Read')]]))),
    );
    expect(blocks).toEqual([{ type: 'text', text: 'whole' }]);
    expect(end).toMatchObject({ kind: 'broken', error: { type: 'protocol_error', retryable: true } });
  });

  test('the SDK does not retry on its own: whether a retry is safe is not its to know', async () => {
    const server = await serve([[apiError(529, 'overloaded_error')], [text('second')]]);
    expect(outcome(await collect(clientOf(server))).end?.kind).toBe('broken');
    expect(server.requests).toHaveLength(1);
  });
});

/** Subscribes by hand: the returned promises resolve with the first event of a type. */
function listen(model: ReturnType<typeof clientOf>, request = modelRequest()) {
  const events: ModelStreamEvent[] = [];
  const deltas: ModelDelta[] = [];
  const waiting: (() => void)[] = [];
  const changed = () => {
    for (const wake of waiting.splice(0)) wake();
  };
  const subscription = model
    .stream(request, (delta) => {
      deltas.push(delta);
      changed();
    })
    .subscribe({
      next: (given) => {
        events.push(given);
        changed();
      },
      complete: changed,
    });
  const until = async (met: () => boolean) => {
    while (!met()) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return { events, deltas, subscription, until };
}

describe('time and abort', () => {
  test('blocks and deltas arrive while the answer goes on', async () => {
    const wait = gate();
    const { events, deltas, until } = listen(clientOf(await serve([[text('first'), toolUse('Read', { a: 1 }), wait, text('last')]])));
    await until(() => events.filter(({ type }) => type === 'block.completed').length === 2);
    expect(deltas.map(({ type }) => type)).toEqual(['text', 'input']);
    wait.open();
    await until(() => events.some(({ type }) => type === 'stream.ended'));
    expect(outcome(events).blocks).toHaveLength(3);
  });

  test('unsubscribing in the middle of an answer closes the connection', async () => {
    const never = gate();
    const server = await serve([[text('first'), never, text('never')]]);
    const { events, subscription, until } = listen(clientOf(server));
    await until(() => events.some(({ type }) => type === 'block.completed'));
    subscription.unsubscribe();
    expect(await server.answered(1)).toBe('clientClosed');
    expect(events.some(({ type }) => type === 'stream.ended')).toBe(false);
    expect(server.unconsumed()).toEqual([
      { turn: 1, step: 2, kind: 'gate' },
      { turn: 1, step: 3, kind: 'text' },
    ]);
  });

  test('unsubscribing before the answer begins closes the connection', async () => {
    const wait = gate();
    const server = await serve([[wait, text('never')]]);
    const { subscription } = listen(clientOf(server));
    await wait.reached;
    subscription.unsubscribe();
    expect(await server.answered(1)).toBe('clientClosed');
  });

  test('after a regular end the connection is kept, not aborted', async () => {
    const server = await serve([[text('one')], [text('two')]]);
    const model = clientOf(server);
    await collect(model);
    expect(await server.answered(1)).toBe('complete');
    await collect(model);
    expect(await server.answered(2)).toBe('complete');
  });

  test('a stream that falls silent is ended after the idle timeout, and the connection is closed', async () => {
    const clock = new SimulatedClock();
    const server = await serve([[text('first'), gate()]]);
    const { events, until } = listen(clientOf(server, { clock, env: { CLAUDE_STREAM_IDLE_TIMEOUT_MS: '1000' } }));
    await until(() => events.some(({ type }) => type === 'block.completed'));
    clock.increment(999);
    expect(events.some(({ type }) => type === 'stream.ended')).toBe(false);
    clock.increment(1);
    expect(outcome(events)).toMatchObject({
      blocks: [{ text: 'first' }],
      end: { kind: 'broken', error: { type: 'stream_idle', retryable: true, message: expect.stringContaining('1 s') } },
    });
    expect(await server.answered(1)).toBe('clientClosed');
  });

  test('a ping is a sign of life', async () => {
    const clock = new SimulatedClock();
    const [pinged, last] = [gate(), gate()];
    const server = await serve([[text('first'), pinged, ping(), text('second'), last]]);
    const { events, until } = listen(clientOf(server, { clock, env: { CLAUDE_STREAM_IDLE_TIMEOUT_MS: '1000' } }));
    await until(() => events.some(({ type }) => type === 'block.completed'));
    clock.increment(900);
    pinged.open();
    await until(() => events.filter(({ type }) => type === 'block.completed').length === 2);
    clock.increment(900);
    expect(events.some(({ type }) => type === 'stream.ended')).toBe(false);
    last.open();
    await until(() => events.some(({ type }) => type === 'stream.ended'));
    expect(outcome(events).end?.kind).toBe('complete');
  });

  test('a delay of the script runs on the given clock', async () => {
    const clock = new SimulatedClock();
    const server = await scriptedServer({ script: [[text('a'), delay(5000), text('b')]], clock });
    servers.push(server);
    const { events, until } = listen(clientOf(server));
    await until(() => events.some(({ type }) => type === 'block.completed'));
    clock.increment(5000);
    await until(() => events.some(({ type }) => type === 'stream.ended'));
    expect(outcome(events).blocks).toHaveLength(2);
  });
});
