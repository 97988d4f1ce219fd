import { randomUUID } from 'node:crypto';
import { INBOX_OBJECT, type Posted, postedSchema, type Unsent } from './protocol.js';

/** Sends a message to a session. `id` makes it one message, however often it is sent; default a fresh one. */
export type Post = (sessionId: string, message: Unsent, id?: string) => Promise<void>;

const TRIES = 8;

/** Posts over Restate's ingress. Tries again while the server is away. */
export function createPost(ingress: string): Post {
  return async (sessionId, message, id = randomUUID()) => {
    for (let attempt = 1; ; attempt++) {
      try {
        await postMessage(ingress, sessionId, { ...message, id, at: Date.now() });
        return;
      } catch (error) {
        if (attempt === TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, Math.min(5_000, 100 * 2 ** attempt)));
      }
    }
  };
}

/** Posts once; answers with the invocation that takes the message. */
export async function postMessage(
  ingress: string,
  sessionId: string,
  message: Unsent & { readonly id: string; readonly at: number },
): Promise<Posted> {
  const body = await callIngress(ingress, `${INBOX_OBJECT}/${encodeURIComponent(sessionId)}/post`, message, {
    'idempotency-key': message.id,
  });
  return postedSchema.parse(body);
}

/** One request to Restate's ingress. Throws with what the server said. */
export async function callIngress(
  ingress: string,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<unknown> {
  const url = `${ingress.replace(/\/$/, '')}/${path}`;
  let response: Response;
  try {
    response = await fetch(url, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json', ...headers },
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Error(`Restate cannot be reached at ${ingress}. Is the server running? (${causeOf(error)})`, { cause: error });
  }
  const text = await response.text();
  if (!response.ok) throw new Error(`Restate answered ${response.status} to ${path}: ${text.slice(0, 500)}`);
  return text === '' ? undefined : JSON.parse(text);
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
