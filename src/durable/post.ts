import { randomUUID } from 'node:crypto';
import { messageOf } from '../tool/errors.js';
import { INBOX_OBJECT, type Posted, postedSchema, type Unsent } from './protocol.js';

/** Sends a message to a session. `id` makes it one message, however often it is sent; default a fresh one. */
export type Post = (sessionId: string, message: Unsent, id?: string) => Promise<void>;

/** Restate's ingress, as clients and workers call it. */
export interface Ingress {
  readonly url: string;
  /** Ends whatever waits. */
  readonly signal?: AbortSignal;
}

/** The server could not be reached, or the connection broke: what was asked may or may not have arrived. */
class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

/** How long a request is made again while the server is away, in milliseconds. */
const PATIENCE_MS = 60_000;
const LONGEST_PAUSE_MS = 2_000;

/** Posts over the ingress. */
export const createPost =
  (ingress: Ingress): Post =>
  async (sessionId, message, id) => {
    await postMessage(ingress, sessionId, message, id);
  };

/** What becomes of a message that nobody waits for and that cannot be sent: it is said, and the worker goes on. */
export const warnOf =
  (what: string) =>
  (error: unknown): void =>
    process.emitWarning(`${what} could not be sent: ${messageOf(error)}`);

/** Posts once, however often it has to be tried; answers with the invocation that takes the message. */
export async function postMessage(ingress: Ingress, sessionId: string, message: Unsent, id: string = randomUUID()): Promise<Posted> {
  const headers = { 'idempotency-key': id };
  const body = { ...message, id, at: Date.now() };
  const path = `${INBOX_OBJECT}/${encodeURIComponent(sessionId)}/post`;
  return postedSchema.parse(await patiently(ingress, () => callIngress(ingress, path, body, headers)));
}

/** Resolves when an invocation has ended. Waits as long as it takes, across restarts of the server. */
export async function attach(ingress: Ingress, invocation: string): Promise<void> {
  await patiently(ingress, () => callIngress(ingress, `restate/invocation/${invocation}/attach`, undefined));
}

/** Asks again while the server is away; only for what may be asked twice. */
export async function patiently<T>({ signal }: Ingress, ask: () => Promise<T>): Promise<T> {
  let since = performance.now();
  for (let pause = 50; ; pause = Math.min(LONGEST_PAUSE_MS, pause * 2)) {
    const asked = performance.now();
    try {
      return await ask();
    } catch (error) {
      // A connection that held for a while shows that the server was there.
      if (performance.now() - asked > LONGEST_PAUSE_MS) since = performance.now();
      if (!(error instanceof UnreachableError) || signal?.aborted || performance.now() - since > PATIENCE_MS) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

/** One request to the ingress. Throws with what the server said. */
export async function callIngress(
  { url, signal }: Ingress,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  let text: string;
  let response: Response;
  try {
    response = await fetch(`${url.replace(/\/$/, '')}/${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json', ...headers },
      ...(signal === undefined ? {} : { signal }),
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new UnreachableError(`Restate cannot be reached at ${url}. Is the server running? (${causeOf(error)})`, { cause: error });
  }
  if (!response.ok) throw new Error(`Restate answered ${response.status} to ${path}: ${text.slice(0, 500)}`);
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(
      `What answers at ${url} is no ingress of Restate: ${path} should be answered in JSON, and was with ${JSON.stringify(text.slice(0, 200))}.`,
    );
  }
}

const causeOf = (error: unknown): string => messageOf(error instanceof Error && error.cause instanceof Error ? error.cause : error);
