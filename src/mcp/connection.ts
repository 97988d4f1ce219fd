import { setMaxListeners } from 'node:events';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { z } from 'zod';
import type { JsonObject } from '../json.js';
import { type Clock, MAX_TIMER_MS } from '../model/clock.js';
import type { ToolProgress } from '../tool/call.js';
import { messageOf, ToolAbortedError, ToolFailure } from '../tool/errors.js';
import { type CallAnswer, callAnswerSchema, type ResourceAnswer, resourceAnswerSchema } from './answers.js';
import type { McpServerConfig } from './config.js';
import { Deadline } from './deadline.js';
import { callFailure, isConnectionLoss, reasonOf, withLastWords } from './failures.js';
import { FIRST_RECONNECT_MS, MAX_RECONNECTS, type McpLimits } from './limits.js';
import { type Listing, listResources, type McpResourceInfo, type McpToolInfo } from './listing.js';
import { ToolList } from './tool-list.js';
import { mayKnowOlderTransport, type OpenTransport, type TransportPlace, transportsFor } from './transports.js';

export type ConnectionState =
  /** Starting, or connecting again after a loss (`attempt` counts from 1). */
  | { readonly status: 'pending'; readonly attempt: number; readonly detail: string }
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
  private current: ConnectionState = { status: 'pending', attempt: 0, detail: '' };
  private link: Link | undefined;
  private readonly list: ToolList;
  /** Losses since the last call that was answered. */
  private losses = 0;
  private retry: unknown;
  private connecting: Deadline | undefined;
  private waiting: (() => void)[] = [];
  private readonly ending = new Set<Promise<void>>();

  constructor(private readonly options: ConnectionOptions) {
    const { clock, limits, name, onChange, onNotice } = options;
    this.list = new ToolList({
      clock,
      limitMs: limits.connectMs,
      client: () => this.link?.client,
      onChange,
      onNotice: (message) => onNotice(`MCP server ${name}: ${message}`),
    });
  }

  get state(): ConnectionState {
    return this.current;
  }
  /** As last listed; a server that connects again keeps its tools meanwhile. */
  get tools(): readonly McpToolInfo[] {
    return this.list.items;
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
    return this.connect(0, '');
  }

  async call(tool: string, input: JsonObject, options: CallOptions): Promise<CallAnswer> {
    const answer = await this.ask('tools/call', { name: tool, arguments: input }, callAnswerSchema, options);
    this.losses = 0;
    if (answer.needsInput === true)
      throw new ToolFailure(`The MCP server ${this.options.name} asks for more input before it runs ${tool}; that is not possible here.`);
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

  /** Ends the connection, and the processes of a stdio server. Resolves when they are gone. */
  async close(): Promise<void> {
    const { link } = this;
    this.link = undefined;
    this.options.clock.clearTimeout(this.retry);
    this.list.stop();
    this.become({ status: 'closed' });
    this.connecting?.cancel();
    if (link) this.end(link.transport);
    await Promise.all(this.ending);
  }

  private async connect(attempt: number, detail: string): Promise<void> {
    this.become({ status: 'pending', attempt, detail });
    let link: Link;
    try {
      link = await this.establish();
    } catch (error) {
      // A first connection that fails stays failed; one that worked before is made again.
      this.lost(messageOf(error), attempt > 0);
      return;
    }
    if (this.current.status === 'closed') {
      this.end(link.transport);
    } else if (link.client.transport === undefined) {
      this.lost(withLastWords('the connection was closed', link.transport), true);
    } else {
      this.link = link;
      this.become({ status: 'connected' });
      this.list.resume();
    }
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
    } catch (error) {
      throw new Error(reasonOf(error));
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
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => this.list.noteChange());
    try {
      await deadline.bound(client.connect(transport, { signal: deadline.signal, timeout: MAX_TIMER_MS }));
      await this.list.read(client, deadline);
    } catch (error) {
      this.end(transport);
      if (mayKnowOlderTransport(error)) throw error;
      const late = `it did not answer within ${this.options.limits.connectMs / 1_000} s (MCP_TIMEOUT)`;
      throw new Error(withLastWords(deadline.isOver ? late : reasonOf(error), transport));
    }
    client.onclose = () => {
      if (this.link !== link) return;
      this.end(transport);
      this.lost(withLastWords('the connection was closed', transport), true);
    };
    return link;
  }

  private lost(reason: string, mayReconnect: boolean): void {
    if (this.current.status === 'closed') return;
    this.link = undefined;
    this.losses++;
    const { clock, config } = this.options;
    const isOverTries = this.losses > MAX_RECONNECTS;
    if (!mayReconnect || isOverTries || config.type === 'sdk') {
      this.list.clear();
      this.become({ status: 'failed', detail: isOverTries ? `${reason} (after ${MAX_RECONNECTS} attempts to connect again)` : reason });
      return;
    }
    const attempt = this.losses;
    this.become({ status: 'pending', attempt, detail: reason });
    this.retry = clock.setTimeout(() => void this.connect(attempt, reason), FIRST_RECONNECT_MS * 2 ** (attempt - 1));
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
      await Promise.race([this.list.settled(), whenAborted(own.signal)]);
      return answer;
    } catch (error) {
      const { name } = this.options;
      if (signal.aborted)
        throw new ToolAbortedError(`The call was stopped (${String(signal.reason)}); the MCP server ${name} was told so.`);
      if (isConnectionLoss(error) && this.link === link) {
        this.end(link.transport);
        this.lost(reasonOf(error), true);
      }
      throw callFailure(name, error, link.transport);
    } finally {
      own.release();
    }
  }

  /** Waits while the server is starting or connecting again. */
  private async ready(signal: AbortSignal): Promise<Link> {
    while (this.current.status === 'pending') {
      if (signal.aborted) throw new ToolAbortedError(`The call was stopped (${String(signal.reason)}).`);
      const changed = new Promise<void>((resolve) => {
        this.waiting.push(resolve);
      });
      await Promise.race([changed, whenAborted(signal)]);
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

const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** A signal of a request's own: the SDK would tell the server of an abort that comes after the answer. */
function ownSignal(signal: AbortSignal): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return { signal: controller.signal, release: () => signal.removeEventListener('abort', abort) };
}
