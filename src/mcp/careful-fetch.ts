import { LineBuffer } from './line-buffer.js';
import { readWire } from './wire.js';

/** Bytes of one line of an event: results come in one, images and all. */
const MAX_LINE_BYTES = 100 * 1024 * 1024;

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * A `fetch` whose answers are read with the care of `readWire` before the SDK's transports see them: one that does not fit the protocol
 * to the letter fails its call there, and out of a stream of events it vanishes while the call waits on.
 */
export const carefulFetch: Fetch = async (url, init) => {
  const response = await fetch(url, init);
  const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (!response.ok || response.body === null) return response;
  if (type === 'application/json') return again(response, mended(await response.text()));
  if (type === 'text/event-stream') return again(response, response.body.pipeThrough(mendedEvents()));
  return response;
};

/** The same answer with another body, whose length and coding are not those of the first. */
function again(response: Response, body: string | ReadableStream<Uint8Array>): Response {
  const headers = new Headers(response.headers);
  headers.delete('content-length');
  headers.delete('content-encoding');
  const { status, statusText, url, redirected } = response;
  const made = new Response(body, { status, statusText, headers });
  // Where it came from is no part of what a response is made of, and decides what a relative address means.
  return Object.defineProperties(made, { url: { value: url }, redirected: { value: redirected } });
}

/** A text that is JSON of messages, as messages that fit; any other as it is. */
function mended(text: string): string {
  try {
    const messages = readWire(JSON.parse(text));
    if (messages === undefined) return text;
    return JSON.stringify(messages.length === 1 ? messages[0] : messages);
  } catch {
    return text;
  }
}

/** Mends the data of each event that has it on one line, as JSON does. */
function mendedEvents(): TransformStream<Uint8Array, Uint8Array> {
  const encoder = new TextEncoder();
  const buffer = new LineBuffer(MAX_LINE_BYTES);
  const lineOf = (line: string): string => (line.startsWith('data:') ? `data: ${mended(line.slice('data:'.length).trim())}` : line);
  return new TransformStream({
    transform(chunk, controller) {
      for (const line of buffer.take(chunk)) controller.enqueue(encoder.encode(`${lineOf(line)}\n`));
    },
    flush(controller) {
      controller.enqueue(encoder.encode(lineOf(buffer.end())));
    },
  });
}
