import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { isJsonObject, type JsonObject, withoutNulls } from '../json.js';

/**
 * What a server sent, as messages that the SDK's client understands; undefined when it is no message at all.
 *
 * The client drops what does not fit the protocol to the letter, and the request that it answers then waits for an answer for ever. So
 * whatever names the request it belongs to is made to fit: members that are null count as absent, as many languages write them, and an
 * answer that cannot be understood becomes an error that says so. A batch is taken apart.
 */
export function readWire(value: unknown): readonly JSONRPCMessage[] | undefined {
  if (Array.isArray(value)) {
    const messages = value.map(readOne).filter((message) => message !== undefined);
    return messages.length === 0 ? undefined : messages;
  }
  const message = readOne(value);
  return message === undefined ? undefined : [message];
}

function readOne(value: unknown): JSONRPCMessage | undefined {
  if (!isJsonObject(value)) return undefined;
  const asIs = JSONRPCMessageSchema.safeParse(value);
  if (asIs.success) return 'result' in asIs.data ? { ...asIs.data, result: greeting(asIs.data.result) } : asIs.data;
  const { id, method } = value;
  if (typeof method === 'string') {
    const { params } = value;
    return JSONRPCMessageSchema.safeParse({
      jsonrpc: '2.0',
      method,
      ...(id === undefined || id === null ? {} : { id }),
      ...(isJsonObject(params) ? { params: withoutNullMeta(params) } : {}),
    }).data;
  }
  if (typeof id !== 'number' && typeof id !== 'string') return undefined;
  if (!('result' in value) && !('error' in value)) return undefined;
  return { jsonrpc: '2.0', id, ...outcomeOf(value) };
}

type Outcome = { readonly result: JsonObject } | { readonly error: { code: number; message: string; data?: unknown } };

function outcomeOf({ result, error }: JsonObject): Outcome {
  if (error !== undefined && error !== null) {
    const { code, message, data } = isJsonObject(error) ? error : { code: undefined, message: error, data: undefined };
    return {
      error: {
        code: Number.isInteger(Number(code ?? Number.NaN)) ? Number(code) : ErrorCode.InternalError,
        message: typeof message === 'string' ? message : (JSON.stringify(message ?? error) ?? ''),
        ...(data === undefined || data === null ? {} : { data }),
      },
    };
  }
  if (isJsonObject(result)) return { result: greeting(withoutNullMeta(result)) };
  return {
    error: { code: ErrorCode.InternalError, message: `its answer is not an object: ${JSON.stringify(result ?? null).slice(0, 500)}` },
  };
}

/** The answer to `initialize` is read to the letter by the SDK: a null in it would cost the whole server. */
function greeting<Result extends object>(result: Result): Result | JsonObject {
  return isJsonObject(result) && 'protocolVersion' in result && 'capabilities' in result ? withoutNullsInside(result) : result;
}

function withoutNullsInside(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(withoutNulls(value)).map(([key, member]) => [key, isJsonObject(member) ? withoutNullsInside(member) : member]),
  );
}

/** `_meta` of any other kind carries nothing that could be read. */
function withoutNullMeta(value: JsonObject): JsonObject {
  if (isJsonObject(value._meta)) return value;
  const { _meta, ...rest } = value;
  return rest;
}

/** A transport of somebody else's whose messages are read with the same care. */
export class CarefulTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;

  constructor(readonly inner: Transport) {
    inner.onclose = () => this.onclose?.();
    inner.onerror = (error) => this.onerror?.(error);
    inner.onmessage = (message, extra) => {
      const messages = readWire(message);
      if (messages === undefined) this.onerror?.(new Error('what came is not a message'));
      for (const one of messages ?? []) this.onmessage?.(one, extra);
    };
  }

  get sessionId(): string | undefined {
    return this.inner.sessionId;
  }
  start(): Promise<void> {
    return this.inner.start();
  }
  send(...args: Parameters<Transport['send']>): Promise<void> {
    return this.inner.send(...args);
  }
  close(): Promise<void> {
    return this.inner.close();
  }
  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion?.(version);
  }
}
