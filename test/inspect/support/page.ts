import { type BirpcReturn, createBirpc } from 'birpc';
import { WebSocket } from 'ws';
import type { InspectorServer } from '../../../src/inspect/index.js';
import type { FlowEvent } from '../../../src/inspect/protocol/flowEvents.js';
import { type PageFunctions, type ServerFunctions, SOCKET_PATH, SOCKET_PROTOCOL, TOKEN_PREFIX } from '../../../src/inspect/protocol/rpc.js';

export interface TestPage {
  readonly rpc: BirpcReturn<ServerFunctions, PageFunctions, false>;
  readonly socket: WebSocket;
  readonly events: FlowEvent[];
  readonly said: { readonly name: keyof PageFunctions; readonly value: unknown }[];
  /** Every frame as text. */
  readonly frames: string[];
  /** Resolves once a message makes the condition true. */
  until(condition: () => boolean): Promise<void>;
  closed: Promise<number>;
}

/** Connects as the page does. */
export async function openPage(server: Pick<InspectorServer, 'port' | 'tokens'>, token = server.tokens.control): Promise<TestPage> {
  const origin = `http://127.0.0.1:${server.port}`;
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}${SOCKET_PATH}`, [SOCKET_PROTOCOL, TOKEN_PREFIX + token], { origin });
  const events: FlowEvent[] = [];
  const said: TestPage['said'] = [];
  const frames: string[] = [];
  const waiting = new Set<() => void>();
  const hear =
    (name: keyof PageFunctions) =>
    (value: unknown): void => {
      said.push({ name, value });
    };
  const functions: PageFunctions = {
    batch: (message) => {
      events.push(...message.events);
    },
    counters: hear('counters'),
    gap: hear('gap'),
    pendingApprovals: hear('pendingApprovals'),
    approvalSettled: hear('approvalSettled'),
    held: hear('held'),
    breakpoints: hear('breakpoints'),
  };
  const rpc = createBirpc<ServerFunctions, PageFunctions, false>(functions, {
    proxify: false,
    eventNames: [],
    post: (text: string) => socket.send(text),
    on: (receive) => {
      socket.on('message', (data) => {
        frames.push(String(data));
        receive(String(data));
        queueMicrotask(() => {
          for (const check of waiting) check();
        });
      });
    },
    serialize: (message: unknown) => JSON.stringify(message),
    deserialize: (text: string) => JSON.parse(text),
  });
  const closed = new Promise<number>((resolve) => socket.once('close', (code) => resolve(code)));
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  return {
    rpc,
    socket,
    events,
    said,
    frames,
    closed,
    until: (condition) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!condition()) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
  };
}
