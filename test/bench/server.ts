import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Plan, readPlan } from './plan.js';

/** When one request came and when its answer ended, by `Date.now()`. */
export interface Exchange {
  readonly requestAt: number;
  readonly endedAt: number;
}

export interface BenchServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * The Messages API as far as a bench needs it: real server-sent events, one write a content block, no memory of conversations. Every
 * contestant talks to the same one. `GET /exchanges` tells the times of the exchanges since the last such request.
 */
export async function startBenchServer(): Promise<BenchServer> {
  let exchanges: Exchange[] = [];
  const server = createServer((request, response) => {
    if (request.method !== 'POST') {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(exchanges));
      exchanges = [];
      return;
    }
    const requestAt = Date.now();
    answer(request, response).then(
      () => exchanges.push({ requestAt, endedAt: Date.now() }),
      () => response.destroy(),
    );
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { plan, turn, length } = whereItStands(JSON.parse(Buffer.concat(chunks).toString('utf8')));
  const calls = turn < plan.turns ? plan.calls : 0;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.write(opening(length));
  response.write(textBlock(0, calls > 0 ? `Step ${turn + 1}: I look at ${calls} places.` : 'Everything on the list is done.'));
  for (let call = 0; call < calls; call++) {
    if (plan.blockMs > 0) await pause(plan.blockMs);
    response.write(callBlock(call + 1, length, call));
  }
  if (calls > 0 && plan.tailMs > 0) await pause(plan.tailMs);
  response.end(closing(calls > 0 ? 'tool_use' : 'end_turn'));
}

interface RequestBody {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

interface Place {
  readonly plan: Required<Plan>;
  /** Answers given to the plan so far. */
  readonly turn: number;
  /** Messages of the conversation: what makes ids unique in it. */
  readonly length: number;
}

function whereItStands({ messages }: RequestBody): Place {
  let turn = 0;
  for (const message of [...messages].reverse()) {
    if (message.role === 'assistant') turn++;
    const plan = message.role === 'user' ? readPlan(JSON.stringify(message.content)) : undefined;
    if (plan) return { plan, turn, length: messages.length };
  }
  throw new Error('No message of the request names a plan.');
}

const sse = (type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

const opening = (message: number): string =>
  sse('message_start', {
    message: {
      // LangGraph takes a message with a known id for a new version of the old one.
      id: `msg_bench_${message}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-5-5',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 100, output_tokens: 1 },
    },
  }) + sse('ping', {});

const textBlock = (index: number, text: string): string =>
  [
    sse('content_block_start', { index, content_block: { type: 'text', text: '' } }),
    ...(text.match(/.{1,12}/g) ?? []).map((part) => sse('content_block_delta', { index, delta: { type: 'text_delta', text: part } })),
    sse('content_block_stop', { index }),
  ].join('');

function callBlock(index: number, message: number, call: number): string {
  const input = JSON.stringify({ path: `src/module-${message}/file-${call}.ts`, line: message * 100 + call });
  const id = `toolu_bench_${message}_${call}`;
  return [
    sse('content_block_start', { index, content_block: { type: 'tool_use', id, name: 'Look', input: {} } }),
    ...(input.match(/.{1,16}/g) ?? []).map((part) =>
      sse('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: part } }),
    ),
    sse('content_block_stop', { index }),
  ].join('');
}

const closing = (stopReason: string): string =>
  sse('message_delta', { delta: { stop_reason: stopReason, stop_sequence: null }, usage: { output_tokens: 20 } }) + sse('message_stop', {});
