import Anthropic from '@anthropic-ai/sdk';
import { Stream } from '@anthropic-ai/sdk/core/streaming';
import { Observable, type Subscriber } from 'rxjs';
import { isJsonObject, parseJson } from '../json.js';
import { assembleStream, type StreamAssembler } from './assemble.js';
import { type Clock, restart, systemClock } from './clock.js';
import { type ModelErrorPlace, missingKey, toModelError } from './errors.js';
import { InvalidRequestError, toRequestParams } from './params.js';
import { DEFAULT_BASE_URL, type ModelSettings, type ModelSettingsOptions, resolveModelSettings } from './settings.js';
import type { ModelClient, ModelDelta, ModelError, ModelRequest, ModelStreamEvent } from './types.js';
import { readWireEvent } from './wire.js';

/** Key, address, limits and retries of a client of the Claude API. */
export interface AnthropicClientOptions extends ModelSettingsOptions {
  /** A client of the official SDK to use in place of an own one (a proxy, another platform). Its key and base URL apply. */
  readonly client?: Anthropic;
  /** Whether to ask for prompt caching. Default: true at the Claude API itself, false at any other base URL. */
  readonly promptCaching?: boolean;
  /** Runs the idle timeout. Default: real timers. */
  readonly clock?: Clock;
}

/** The model port over HTTP, with the settings it resolved. */
export interface AnthropicClient extends ModelClient {
  /** What options, environment and defaults came to. */
  readonly settings: ModelSettings;
}

/** How long the connection may take to close by itself after `message_stop`; it is kept for the next request if it does. */
const DRAIN_MS = 1_000;

/**
 * The model port over the official SDK. Construction never fails and reads no network: a missing key is reported by the first request,
 * as a `missing_api_key` error that says what to do. The SDK's own retries are off, because only the turn knows whether a retry is safe.
 */
export function createAnthropicClient(options: AnthropicClientOptions = {}): AnthropicClient {
  const resolved = resolveModelSettings(options);
  const settings = options.client === undefined ? resolved : { ...resolved, baseURL: options.client.baseURL };
  const clock = options.clock ?? systemClock;
  const promptCaching = options.promptCaching ?? settings.baseURL === DEFAULT_BASE_URL;
  let sdk = options.client;
  const client = (): Anthropic | undefined => {
    if (sdk !== undefined) return sdk;
    if (settings.apiKey === undefined && settings.authToken === undefined) return undefined;
    sdk = sdkFor(settings);
    return sdk;
  };
  return {
    settings,
    stream: (request, onDelta) =>
      new Observable<ModelStreamEvent>((subscriber) => {
        const anthropic = client();
        if (anthropic === undefined) {
          subscriber.next({ type: 'stream.ended', end: { kind: 'broken', error: missingKey() } });
          subscriber.complete();
          return;
        }
        return new Exchange(anthropic, request, { settings, clock, promptCaching, onDelta, subscriber }).start();
      }),
  };
}

/** The client made last. Making one costs more than a tool call, and sessions that share key and address can share it: it holds no state of theirs. */
let latest: { readonly key: string; readonly fetch: typeof fetch; readonly sdk: Anthropic } | undefined;

function sdkFor({ apiKey, authToken, baseURL }: ModelSettings): Anthropic {
  const key = JSON.stringify([apiKey ?? null, authToken ?? null, baseURL]);
  // The SDK keeps the `fetch` that it finds; a program that puts another in its place means it.
  if (latest?.key !== key || latest.fetch !== fetch) {
    latest = {
      key,
      fetch,
      sdk: new Anthropic({ apiKey: apiKey ?? null, authToken: authToken ?? null, baseURL, maxRetries: 0, logLevel: 'off' }),
    };
  }
  return latest.sdk;
}

interface ExchangeParts {
  readonly settings: ModelSettings;
  readonly clock: Clock;
  readonly promptCaching: boolean;
  readonly onDelta: (delta: ModelDelta) => void;
  readonly subscriber: Subscriber<ModelStreamEvent>;
}

/** One request and the reading of its response. */
class Exchange {
  private readonly controller = new AbortController();
  private readonly assembler: StreamAssembler;
  private readonly place: ModelErrorPlace;
  private idle: unknown;

  constructor(
    private readonly anthropic: Anthropic,
    private readonly request: ModelRequest,
    private readonly parts: ExchangeParts,
  ) {
    const { settings, onDelta } = parts;
    this.place = { baseURL: settings.baseURL, model: request.model === '' ? settings.model : request.model };
    this.assembler = assembleStream({ onDelta: (delta) => this.listening && onDelta(delta), place: this.place });
  }

  /** Sends the request; the returned teardown ends it. */
  start(): () => void {
    void this.run();
    return () => {
      this.stopIdleTimer();
      // After a regular end the body is drained instead, so that the connection can serve the next request.
      if (!this.assembler.ended) this.controller.abort();
    };
  }

  private get listening(): boolean {
    return !this.parts.subscriber.closed;
  }

  private async run(): Promise<void> {
    try {
      const response = await this.send();
      this.restartIdleTimer();
      const type = response.headers.get('content-type');
      if (type !== null && /json/i.test(type)) this.give(wholeAnswer(await response.text()).flatMap((event) => this.assembler.push(event)));
      if (type !== null && !/text\/event-stream/i.test(type)) {
        this.give(this.assembler.end(notAStream(type, this.place)));
        this.controller.abort();
        return;
      }
      await this.read(response);
      this.give(this.assembler.end());
    } catch (error) {
      this.give(this.assembler.end(this.toError(error)));
    } finally {
      this.stopIdleTimer();
    }
  }

  private async send(): Promise<Response> {
    const { settings, promptCaching } = this.parts;
    const params = toRequestParams(this.request, settings, { promptCaching });
    const betas = this.request.betas ?? [];
    return this.anthropic.messages
      .create(params, {
        signal: this.controller.signal,
        maxRetries: 0,
        timeout: settings.responseTimeoutMs,
        ...(betas.length === 0 ? {} : { headers: { 'anthropic-beta': betas.join(',') } }),
      })
      .asResponse();
  }

  /** Raw server-sent events, because the SDK's parsed stream hides pings (the sign of life) and drops events without a name. */
  private async read(response: Response): Promise<void> {
    let drain: NodeJS.Timeout | undefined;
    try {
      for await (const sse of Stream.rawEvents(response, this.controller)) {
        if (this.assembler.ended) continue;
        this.restartIdleTimer();
        const wire = readWireEvent(sse.event, sse.data);
        if (wire.kind === 'garbled') {
          const message = `${this.place.baseURL} sent an event that is not JSON: ${wire.reason}.`;
          this.give(this.assembler.end({ type: 'protocol_error', message, retryable: true }));
        } else if (wire.kind === 'event') {
          this.give(this.assembler.push(wire.event));
        }
        if (this.assembler.ended) {
          this.stopIdleTimer();
          drain = setTimeout(() => this.controller.abort(), DRAIN_MS).unref();
        }
      }
    } finally {
      clearTimeout(drain);
    }
  }

  private give(events: readonly ModelStreamEvent[]): void {
    const { subscriber } = this.parts;
    for (const event of events) {
      subscriber.next(event);
      if (event.type === 'stream.ended') subscriber.complete();
    }
  }

  private toError(error: unknown): ModelError {
    if (error instanceof InvalidRequestError) {
      return { type: 'invalid_request_error', message: `The request was not sent. ${error.message}`, retryable: false };
    }
    return toModelError(error, this.place);
  }

  private restartIdleTimer(): void {
    const { clock, settings } = this.parts;
    this.idle = restart(clock, this.idle, this.endIdleStream, settings.idleTimeoutMs);
  }

  private readonly endIdleStream = (): void => {
    const { baseURL, idleTimeoutMs } = this.parts.settings;
    const message = `${baseURL} sent nothing for ${idleTimeoutMs / 1000} s in the middle of an answer (CLAUDE_STREAM_IDLE_TIMEOUT_MS).`;
    this.give(this.assembler.end({ type: 'stream_idle', message, retryable: true }));
    this.controller.abort();
  };

  private stopIdleTimer(): void {
    if (this.idle === undefined) return;
    this.parts.clock.clearTimeout(this.idle);
    this.idle = undefined;
  }
}

/** The events of an answer that a gateway gave as a whole, though a stream was asked for: a message, or an error behind an HTTP 200. */
function wholeAnswer(text: string): readonly unknown[] {
  const body = parseJson(text);
  if (!isJsonObject(body)) return [];
  if (body.type === 'message' && Array.isArray(body.content)) return [{ type: 'message_start', message: body }, { type: 'message_stop' }];
  return body.type === 'error' || isJsonObject(body.error) ? [{ type: 'error', error: body.error ?? body }] : [];
}

/** A 200 that is no event stream comes from a proxy's login page, or from a server that is not this API. */
function notAStream(type: string, { baseURL }: ModelErrorPlace): ModelError {
  const message = `${baseURL} answered with ${type} in place of an event stream. Check ANTHROPIC_BASE_URL, and what stands between.`;
  return { type: 'protocol_error', message, retryable: false };
}
