import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isJsonObject, type JsonObject } from '../../json.js';
import { type Clock, systemClock } from '../../model/clock.js';
import { messageOf } from '../../tool/errors.js';
import { ScriptError } from '../script/errors.js';
import { type RefusedRequest, type Script, ScriptBook, type ScriptedRequest, type UnplayedStep } from '../script/script.js';
import { Answer, type AnswerEnd } from './answer.js';
import { findRefusal, type Refusal } from './refusal.js';

/** Script, port and manners of a scripted server. */
export interface ScriptedServerOptions {
  /** The answers: one turn a request. */
  readonly script: Script;
  /** Runs `delay()` steps. Default: real timers. */
  readonly clock?: Clock;
  /** Cuts every write into pieces of this many bytes, so that characters and JSON are split anywhere. Default: whole events. */
  readonly chunkBytes?: number;
  /** Whether requests that the API would refuse get its 400. Default true; turn it off only to test what a client does with a lenient gateway. */
  readonly strict?: boolean;
  /** Loopback port. Default 0: any free one. */
  readonly port?: number;
}

/** A scripted Messages API on loopback. */
export interface ScriptedServer {
  /** For `baseURL` of a client. */
  readonly url: string;
  /** Requests answered from the script, in order of arrival; frozen. */
  readonly requests: readonly ScriptedRequest[];
  /** Requests that got an error: broken histories, and requests beyond the end of the script. */
  readonly refusals: readonly RefusedRequest[];
  /** Steps not played so far. */
  unconsumed(): readonly UnplayedStep[];
  /** Throws a `ScriptError` with positions unless every step was played and no request was refused. */
  assertConsumed(): void;
  /** Resolves with how the answer to request `n` (from 1) ended: `clientClosed` when the client broke the connection first. */
  answered(n: number): Promise<AnswerEnd>;
  /** Ends all connections and stops listening; afterwards no socket is open. */
  close(): Promise<void>;
}

/** The API takes 32 MB for a request to /v1/messages. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/**
 * Starts an HTTP server that speaks `POST /v1/messages` (streaming and not) and answers from a script. It is a stand-in for the API in tests
 * of whole programs: nothing in the client is replaced. A request that the API would refuse is refused in the API's words, so that no
 * test passes with a broken history.
 *
 * ```ts
 * const server = await scriptedServer({ script: [[toolUse('Read', { file_path: '/a' })], [text('done')]] });
 * const model = createAnthropicClient({ baseURL: server.url, apiKey: 'test' });
 * // … run the program …
 * server.assertConsumed();
 * await server.close();
 * ```
 */
export async function scriptedServer(options: ScriptedServerOptions): Promise<ScriptedServer> {
  const server = new ScriptedApi(options);
  await server.listen(options.port ?? 0);
  return server;
}

class ScriptedApi implements ScriptedServer {
  url = '';
  private readonly book: ScriptBook;
  private readonly http: Server;
  private readonly sockets = new Set<Socket>();
  private readonly ends = new Map<number, Deferred<AnswerEnd>>();

  constructor(private readonly options: ScriptedServerOptions) {
    this.book = new ScriptBook(options.script);
    this.http = createServer((request, response) => {
      this.handle(request, response).catch((error: unknown) => this.fail(response, error));
    });
    this.http.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.setNoDelay(true);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.http.once('error', reject);
      this.http.listen(port, '127.0.0.1', () => resolve());
    });
    const address = this.http.address();
    if (address === null || typeof address === 'string') throw new ScriptError('the scripted server has no TCP address');
    this.url = `http://127.0.0.1:${address.port}`;
  }

  get requests(): readonly ScriptedRequest[] {
    return this.book.requests;
  }
  get refusals(): readonly RefusedRequest[] {
    return this.book.refusals;
  }
  unconsumed(): readonly UnplayedStep[] {
    return this.book.unconsumed();
  }
  assertConsumed(): void {
    this.book.assertConsumed();
  }

  answered(n: number): Promise<AnswerEnd> {
    return this.endOf(n).promise;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.http.close(() => resolve());
    });
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private endOf(n: number): Deferred<AnswerEnd> {
    const known = this.ends.get(n) ?? deferred<AnswerEnd>();
    this.ends.set(n, known);
    return known;
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const path = (request.url ?? '').split('?')[0];
    if (request.method !== 'POST' || path !== '/v1/messages') {
      sendError(response, {
        status: 404,
        type: 'not_found_error',
        message: `${request.method} ${path} is not scripted; only POST /v1/messages is`,
      });
      return;
    }
    const arrival = this.book.arrive();
    const refuse = (refusal: Refusal): void => {
      this.book.refuse(arrival, refusal.status, refusal.message);
      sendError(response, refusal);
    };
    const headers = readHeaders(request);
    const parsed = body === undefined ? tooLarge() : parseBody(body);
    const refusal =
      checkHeaders(headers) ??
      ('refusal' in parsed
        ? parsed.refusal
        : this.options.strict === false
          ? undefined
          : findRefusal(parsed.body, headers['anthropic-version']));
    if (refusal !== undefined || 'refusal' in parsed) {
      refuse(refusal ?? tooLarge().refusal);
      return;
    }
    const taken = await this.book.take(parsed.body, headers);
    if (taken === undefined) {
      // A 400, because a client that retries would only hide the mistake.
      const message = `The script has ${this.book.length ?? 0} turns, and this is request ${this.book.requests.length + 1}: there is no answer for it.`;
      refuse({ status: 400, type: 'invalid_request_error', message });
      return;
    }
    const answer = new Answer(response, { clock: this.options.clock ?? systemClock, chunkBytes: this.options.chunkBytes });
    const end = await answer.give(taken, parsed.body);
    this.endOf(taken.number).resolve(end);
  }

  /** A mistake in the script reaches the test through the client's error and through assertConsumed. */
  private fail(response: ServerResponse, error: unknown): void {
    const message = messageOf(error);
    this.book.refuse(this.book.requests.length, 400, message);
    if (response.headersSent) response.destroy();
    else sendError(response, { status: 400, type: 'invalid_request_error', message: `Mistake in the script: ${message}` });
  }
}

interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
}
function deferred<T>(): Deferred<T> {
  let resolve = (_value: T): void => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve: (value) => resolve(value) };
}

function sendError(response: ServerResponse, { status, type, message }: Refusal): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_scripted' });
  response.end(JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_scripted' }));
}

/** The body as text; undefined when it is larger than the API takes (it is still read to the end, so that the answer arrives). */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size <= MAX_BODY_BYTES) chunks.push(bytes);
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(chunks).toString('utf8') : undefined;
}

function tooLarge(): { readonly refusal: Refusal } {
  return { refusal: { status: 413, type: 'request_too_large', message: 'Request exceeds the maximum size' } };
}

function parseBody(text: string): { readonly body: JsonObject } | { readonly refusal: Refusal } {
  const refusal = { status: 400, type: 'invalid_request_error', message: 'The request body is not valid JSON' };
  try {
    const body: unknown = JSON.parse(text);
    return isJsonObject(body) ? { body } : { refusal };
  } catch (error) {
    return { refusal: { ...refusal, message: `${refusal.message}: ${messageOf(error)}` } };
  }
}

function readHeaders(request: IncomingMessage): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}

function checkHeaders(headers: Readonly<Record<string, string>>): Refusal | undefined {
  if ((headers['x-api-key'] ?? '') === '' && (headers.authorization ?? '') === '') {
    return { status: 401, type: 'authentication_error', message: 'x-api-key header is required' };
  }
  if ((headers['anthropic-version'] ?? '') === '') {
    return { status: 400, type: 'invalid_request_error', message: 'anthropic-version: header is required' };
  }
  return undefined;
}
