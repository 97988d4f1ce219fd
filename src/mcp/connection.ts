import { setMaxListeners } from 'node:events';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, McpError, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { z } from 'zod';
import type { JsonObject } from '../json.js';
import type { Clock } from '../model/clock.js';
import type { ToolProgress } from '../tool/call.js';
import { messageOf, ToolAbortedError, ToolFailure } from '../tool/errors.js';
import { type CallAnswer, callAnswerSchema, type ResourceAnswer, resourceAnswerSchema } from './answers.js';
import type { McpServerConfig } from './config.js';
import { Deadline } from './deadline.js';
import { COALESCE_MS, FIRST_RECONNECT_MS, MAX_RECONNECTS, MAX_TIMER_MS, type McpLimits } from './limits.js';
import { type Listing, listResources, listTools, type McpResourceInfo, type McpToolInfo } from './listing.js';
import { StdioTransport } from './stdio.js';
import { mayKnowOlderTransport, type OpenTransport, type TransportPlace, transportsFor } from './transports.js';

export type ConnectionState =
  /** Starting, or connecting again after a loss (`attempt` counts from 1). */
  | { readonly status: 'pending'; readonly attempt: number; readonly detail?: string }
  | { readonly status: 'connected' }
  | { readonly status: 'failed'; readonly detail: string }
  | { readonly status: 'closed' };

export interface ConnectionOptions {
  readonly name: string;
  readonly config: McpServerConfig;
  readonly place: TransportPlace;
  readonly limits: McpLimits;
  readonly clock: Clock;
  /** State or tools have changed. */
  readonly onChange: () => void;
  /** Something that a person should know and that does not end the connection. */
  readonly onNotice: (message: string) => void;
}

interface Link {
  readonly client: Client;
  readonly transport: Transport;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: ToolProgress) => void;
}

/**
 * One server: connected, kept connected, and asked. A call that is cancelled is told to the server and to nobody else; the
 * connection and the other calls go on. A connection that is lost is made again, a bounded number of times in a row.
 */
export class McpConnection {
  private current: ConnectionState = { status: 'pending', attempt: 0 };
  private link: Link | undefined;
  private listed: Listing<McpToolInfo> = { items: [], warnings: [] };
  private losses = 0;
  private retry: unknown;
  private relistTimer: unknown;
  private relisting: Promise<void> | undefined;
  private isListStale = false;
  private connecting: Deadline | undefined;
  private readonly ending = new Set<Promise<void>>();
  private fruitlessListings = 0;
  private waiting: (() => void)[] = [];

  constructor(private readonly options: ConnectionOptions) {}

  get state(): ConnectionState {
    return this.current;
  }
  /** As last listed; a server that connects again keeps its tools meanwhile. */
  get tools(): readonly McpToolInfo[] {
    return this.listed.items;
  }
  get instructions(): string | undefined {
    return this.link?.client.getInstructions();
  }
  get hasResources(): boolean {
    return this.link?.client.getServerCapabilities()?.resources !== undefined;
  }

  /** Connects. Resolves when the server is connected or has failed; never rejects. */
  start(): Promise<void> {
    this.losses = 0;
    this.options.clock.clearTimeout(this.retry);
    return this.connect(0);
  }

  async call(tool: string, input: JsonObject, options: CallOptions): Promise<CallAnswer> {
    const answer = await this.ask('tools/call', { name: tool, arguments: input }, callAnswerSchema, options);
    this.losses = 0;
    return answer;
  }

  readResource(uri: string, options: CallOptions): Promise<ResourceAnswer> {
    return this.ask('resources/read', { uri }, resourceAnswerSchema, options);
  }

  async resources(signal: AbortSignal): Promise<Listing<McpResourceInfo>> {
    const { client } = await this.ready(signal);
    const own = ownSignal(signal);
    try {
      return await listResources(client, own.signal);
    } finally {
      own.release();
    }
  }

  /** Resolves when every change of the list that the server has told of is read, or two attempts have been made. */
  async settled(): Promise<void> {
    for (let pass = 0; pass < 2 && this.isListStale; pass++) await this.relist();
  }

  async close(): Promise<void> {
    const { link } = this;
    this.link = undefined;
    this.options.clock.clearTimeout(this.retry);
    this.options.clock.clearTimeout(this.relistTimer);
    this.become({ status: 'closed' });
    this.connecting?.cancel();
    if (link) this.end(link.transport);
    await Promise.all(this.ending);
  }

  private connect(attempt: number): Promise<void> {
    this.become({ status: 'pending', attempt });
    return this.establish().then(
      (link) => {
        if (this.current.status === 'closed') {
          this.end(link.transport);
          return;
        }
        if (link.client.transport === undefined) {
          this.lost(withWords('the connection was closed', link.transport), true);
          return;
        }
        this.link = link;
        this.become({ status: 'connected' });
        if (this.isListStale) this.armRelist();
      },
      (error: unknown) => this.lost(messageOf(error), attempt > 0),
    );
  }

  /** By the first way that works. Bounded in time: connecting and the first listing share one limit. */
  private async establish(): Promise<Link> {
    const { config, place, limits, clock } = this.options;
    const deadline = new Deadline(limits.connectMs, clock);
    this.connecting = deadline;
    try {
      const ways = transportsFor(config, place);
      for (const [index, open] of ways.entries()) {
        try {
          return await this.tryWay(open, deadline);
        } catch (error) {
          if (index === ways.length - 1 || !mayKnowOlderTransport(error)) throw error;
        }
      }
      throw new Error('there is no way to reach it');
    } finally {
      deadline.clear();
      this.connecting = undefined;
    }
  }

  private async tryWay(open: OpenTransport, deadline: Deadline): Promise<Link> {
    const transport = await open();
    const client = new Client({ name: 'sixgates', version: '0.1.0' });
    const link: Link = { client, transport };
    client.onerror = () => {
      // Late answers to cancelled calls and stray lines end up here; what matters also rejects the request it belongs to.
    };
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => this.noteListChange());
    try {
      await deadline.bound(client.connect(transport, { signal: deadline.signal, timeout: MAX_TIMER_MS }));
      await this.list(client, deadline);
    } catch (error) {
      const words = transport instanceof StdioTransport ? transport.lastWords : '';
      this.end(transport);
      if (mayKnowOlderTransport(error)) throw error;
      const reason = deadline.isOver
        ? `it did not answer within ${this.options.limits.connectMs / 1_000} s (MCP_TIMEOUT)`
        : reasonOf(error);
      throw new Error([reason, words].filter(Boolean).join('; '));
    }
    client.onclose = () => {
      if (this.link !== link) return;
      this.end(transport);
      this.lost(withWords('the connection was closed', transport), true);
    };
    return link;
  }

  private async list(client: Client, deadline: Deadline): Promise<void> {
    this.isListStale = false;
    if (client.getServerCapabilities()?.tools === undefined) return;
    const listed = await deadline.bound(listTools(client, deadline.signal));
    const before = JSON.stringify(this.listed.items);
    this.fruitlessListings = before === JSON.stringify(listed.items) ? this.fruitlessListings + 1 : 0;
    for (const warning of listed.warnings)
      if (!this.listed.warnings.includes(warning)) this.options.onNotice(`MCP server ${this.options.name}: ${warning}.`);
    this.listed = listed;
  }

  /** Sent to any client, declared or not: servers forget to declare it. Many in a row become one listing. */
  private noteListChange(): void {
    this.isListStale = true;
    if (this.link && this.relistTimer === undefined) this.armRelist();
  }

  private armRelist(): void {
    // A server that says "changed" at every listing must not keep us listing.
    const delay = COALESCE_MS * 2 ** Math.min(this.fruitlessListings, 10);
    this.relistTimer = this.options.clock.setTimeout(() => void this.relist(), delay);
  }

  private relist(): Promise<void> {
    this.options.clock.clearTimeout(this.relistTimer);
    this.relistTimer = undefined;
    this.relisting ??= this.readListAgain().finally(() => {
      this.relisting = undefined;
      if (this.isListStale && this.link && this.relistTimer === undefined) this.armRelist();
    });
    return this.relisting;
  }

  private async readListAgain(): Promise<void> {
    const { link } = this;
    if (!link || !this.isListStale) return;
    const { limits, clock, name, onNotice } = this.options;
    const deadline = new Deadline(limits.connectMs, clock);
    try {
      await this.list(link.client, deadline);
    } catch (error) {
      this.isListStale = false;
      onNotice(`MCP server ${name}: its changed list of tools could not be read (${reasonOf(error)}); the list before it stays in use.`);
    } finally {
      deadline.clear();
    }
    if (this.link === link) this.options.onChange();
  }

  /** A first connection that fails stays failed; one that worked before is made again. */
  private lost(reason: string, mayReconnect: boolean): void {
    if (this.current.status === 'closed') return;
    this.link = undefined;
    this.losses++;
    const { clock, config } = this.options;
    if (!mayReconnect || this.losses > MAX_RECONNECTS || config.type === 'sdk') {
      this.listed = { items: [], warnings: [] };
      const often = this.losses > MAX_RECONNECTS ? ` (after ${MAX_RECONNECTS} attempts to connect again)` : '';
      this.become({ status: 'failed', detail: `${reason}${often}` });
      return;
    }
    const attempt = this.losses;
    this.become({ status: 'pending', attempt, detail: reason });
    this.retry = clock.setTimeout(() => void this.connect(attempt), FIRST_RECONNECT_MS * 2 ** (attempt - 1));
  }

  private async ask<Schema extends z.ZodType>(
    method: 'tools/call' | 'resources/read',
    params: Record<string, unknown>,
    schema: Schema,
    { signal, onProgress }: CallOptions,
  ): Promise<z.infer<Schema>> {
    const link = await this.ready(signal);
    const own = ownSignal(signal);
    try {
      const answer = await link.client.request({ method, params }, schema, {
        signal: own.signal,
        // The runtime keeps the time: it knows the limits, and its clock may be a test's.
        timeout: MAX_TIMER_MS,
        onprogress: ({ progress, total, message }) =>
          onProgress?.({ ...(message === undefined ? {} : { message }), data: { progress, ...(total === undefined ? {} : { total }) } }),
      });
      // What the call changed in the list of tools is known before the next request to the model is made.
      await Promise.race([this.settled(), new Promise<void>((stop) => signal.addEventListener('abort', () => stop(), { once: true }))]);
      return answer;
    } catch (error) {
      throw this.explain(error, link, signal);
    } finally {
      own.release();
    }
  }

  private explain(error: unknown, link: Link, signal: AbortSignal): Error {
    const { name, config } = this.options;
    if (signal.aborted) return new ToolAbortedError(`The call was stopped (${String(signal.reason)}); the MCP server ${name} was told so.`);
    const isClosed = error instanceof McpError && error.code === ErrorCode.ConnectionClosed;
    const isTransport = !(error instanceof McpError) && (config.type === 'http' || config.type === 'sse');
    if (isTransport && this.link === link) {
      this.lost(reasonOf(error), true);
      this.end(link.transport);
    }
    if (isClosed || isTransport) {
      const what = withWords(isClosed ? 'closed the connection' : `could not be reached (${reasonOf(error)})`, link.transport);
      return new ToolFailure(`The MCP server ${name} ${what}. Whether the call took effect is not known; it was not repeated.`);
    }
    return new ToolFailure(`The MCP server ${name} answered with an error: ${reasonOf(error)}`);
  }

  /** Waits while the server is starting or connecting again. */
  private async ready(signal: AbortSignal): Promise<Link> {
    while (this.current.status === 'pending') {
      if (signal.aborted) throw new ToolAbortedError(`The call was stopped (${String(signal.reason)}).`);
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    if (this.link) return this.link;
    const why = this.current.status === 'failed' ? `: ${this.current.detail}` : '';
    throw new ToolFailure(`The MCP server ${this.options.name} is not connected${why}. Nothing was done.`);
  }

  /** Closes a transport (for stdio: ends its processes) without waiting; `close` waits for all of them. */
  private end(transport: Transport): void {
    const ended = transport.close().catch(() => {});
    this.ending.add(ended);
    void ended.then(() => this.ending.delete(ended));
  }

  private become(state: ConnectionState): void {
    if (this.current.status === 'closed') return;
    this.current = state;
    for (const wake of this.waiting.splice(0)) wake();
    this.options.onChange();
  }
}

/** A signal of a request's own: the SDK would tell the server of an abort that comes after the answer. */
function ownSignal(signal: AbortSignal): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return { signal: controller.signal, release: () => signal.removeEventListener('abort', abort) };
}

const withWords = (what: string, transport: Transport): string =>
  [what, transport instanceof StdioTransport ? transport.lastWords : ''].filter(Boolean).join('; ');

/** In words of ours where the SDK's own say too little. */
function reasonOf(error: unknown): string {
  if (error instanceof StreamableHTTPError) {
    const text = error.message.replace(/^Streamable HTTP error: (Error POSTing to endpoint: )?/, '');
    const advice = error.code === 401 || error.code === 403 ? '; put what it wants to see into `headers`' : '';
    return `it answered with HTTP ${error.code ?? 'error'}: ${text}${advice}`;
  }
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${messageOf(error).replace(/^MCP error (-?\d+): /, '')}${cause}`;
}
