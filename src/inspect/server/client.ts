import { type BirpcReturn, createBirpc } from 'birpc';
import { type RawData, WebSocket } from 'ws';
import { parseJson } from '../../json.js';
import { PAGE_EVENTS, type PageFunctions, type Scope } from '../protocol/rpc.js';
import { frameSchema } from '../protocol/rpcSchemas.js';
import { type InspectedFlow, methodsFor, unknownMethod } from './methods.js';

/** Unsent bytes beyond which a page gets nothing more until it has read. */
const MAX_BUFFERED = 8 << 20;
const BATCH_EVENTS = 1000;

/** A control action of a page: done or refused. */
export interface AuditEntry {
  /** Milliseconds since the flow's start. */
  readonly t: number;
  /** Id of the page that acted. */
  readonly client: string;
  /** What it asked for. */
  readonly method: string;
  /** Redacted. */
  readonly detail: string;
  /** `done`, or the code of the refusal. */
  readonly outcome: string;
}

/** One connected page. Reads the log from its own place; the flow never waits for it. */
export class InspectorClient {
  readonly #rpc: BirpcReturn<PageFunctions, Record<string, never>, false>;
  #cursor: number | undefined;
  #countersSent = '';
  #alive = true;

  constructor(
    readonly socket: WebSocket,
    readonly id: string,
    readonly scope: Scope,
    readonly flow: InspectedFlow,
    readonly clients: () => number,
    audit: (entry: AuditEntry) => void,
  ) {
    const methods = methodsFor(flow, {
      id,
      scope,
      clients,
      subscribe: (fromSeq) => {
        this.#cursor = fromSeq;
      },
      audit: (method, detail, outcome) =>
        audit({ t: flow.log.elapsed, client: id, method, detail: flow.log.text(JSON.stringify(detail) ?? '', 1000), outcome }),
    });
    this.#rpc = createBirpc<PageFunctions, Record<string, never>, false>(
      {},
      {
        proxify: false,
        eventNames: [...PAGE_EVENTS],
        post: (text: string) => {
          if (socket.readyState === WebSocket.OPEN) socket.send(text);
        },
        on: (receive) => {
          socket.on('message', (data, binary) => this.#receive(data, binary, receive));
        },
        serialize: (message: unknown) => JSON.stringify(message),
        resolver: (name) => methods.get(name) ?? unknownMethod,
        onGeneralError: () => true,
        onFunctionError: () => true,
      },
    );
    socket.on('pong', () => {
      this.#alive = true;
    });
  }

  /** Sends what is new, as far as the socket takes it. */
  pump(): void {
    const { log } = this.flow;
    while (this.#cursor !== undefined && this.#cursor <= log.lastSeq && !this.congested) {
      if (this.#cursor < log.firstSeq) {
        this.say('gap', { from: this.#cursor, to: log.firstSeq - 1 });
        this.#cursor = log.firstSeq;
      }
      const events = log.events(this.#cursor, log.lastSeq, BATCH_EVENTS);
      this.#cursor = (events.at(-1)?.seq ?? log.lastSeq) + 1;
      this.say('batch', { events });
    }
    if (this.congested) return;
    const counters = this.flow.counters(this.clients());
    const text = JSON.stringify(counters);
    if (text === this.#countersSent) return;
    this.#countersSent = text;
    this.say('counters', counters);
  }

  get congested(): boolean {
    return this.socket.bufferedAmount > MAX_BUFFERED;
  }

  say<E extends keyof PageFunctions>(name: E, ...args: Parameters<PageFunctions[E]>): void {
    if (this.socket.readyState !== WebSocket.OPEN) return;
    void this.#rpc.$callEvent(name, ...args).catch(() => {
      this.flow.log.faults++;
    });
  }

  /** Asks whether the page is still there; one that did not answer the last time is cut off. */
  ping(): void {
    if (this.#alive) this.socket.ping();
    else this.socket.terminate();
    this.#alive = false;
  }

  #receive(data: RawData, binary: boolean, receive: (message: unknown) => void): void {
    const message = binary ? undefined : parseJson(String(data));
    const frame = frameSchema.safeParse(message);
    if (frame.success) receive(frame.data);
    else this.socket.close(1008, 'not a frame of this protocol');
  }
}
