import { isJsonObject, type JsonObject } from '../../json.js';

/** A message in the base protocol of the Language Server Protocol: a header with the length in bytes, then JSON. */
export function frame(message: JsonObject): string {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** More than any answer of a server; a length beyond it is a broken stream. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Cuts a byte stream into messages. Throws when the stream is not in the protocol. */
export class FrameReader {
  #buffer: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): JsonObject[] {
    this.#buffer = Buffer.concat([this.#buffer, chunk]);
    const messages: JsonObject[] = [];
    for (;;) {
      const end = this.#buffer.indexOf('\r\n\r\n');
      if (end === -1) return messages;
      const length = Number(/content-length: *(\d+)/i.exec(this.#buffer.toString('latin1', 0, end))?.[1]);
      if (!Number.isInteger(length) || length > MAX_MESSAGE_BYTES)
        throw new Error('the server does not speak the language server protocol');
      const start = end + 4;
      if (this.#buffer.length < start + length) return messages;
      const message: unknown = JSON.parse(this.#buffer.toString('utf8', start, start + length));
      this.#buffer = this.#buffer.subarray(start + length);
      if (isJsonObject(message)) messages.push(message);
    }
  }
}
