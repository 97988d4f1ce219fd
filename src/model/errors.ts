import Anthropic from '@anthropic-ai/sdk';
import { isJsonObject } from '../json.js';
import type { ModelError } from './types.js';

/** Where a failing request went: named in the messages, so that a wrong setting is seen at once. */
export interface ModelErrorPlace {
  readonly baseURL: string;
  readonly model: string;
  /** Milliseconds since the epoch, for a `retry-after` that is a date. Default: the wall clock. */
  readonly now?: () => number;
}

/** What the API said, taken from an HTTP answer or from an `error` event in a stream. */
export interface ApiErrorFacts {
  /** HTTP status; absent for an `error` event inside a stream that began with 200. */
  readonly status?: number;
  readonly type?: string;
  readonly message?: string;
  readonly errorCode?: string;
  /** The status that an error inside a stream names for itself. */
  readonly code?: number;
  /** Header values, by lower-case name. */
  readonly header?: (name: string) => string | null;
}

const TYPE_OF_STATUS: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};
const RETRYABLE_TYPES: ReadonlySet<string> = new Set([
  'rate_limit_error',
  'api_error',
  'timeout_error',
  'overloaded_error',
  'conflict_error',
]);

/** The types of the API's own errors. What another type means is told by the status. */
const KNOWN_TYPES: ReadonlySet<string> = new Set([...Object.values(TYPE_OF_STATUS), 'api_error']);

/** The port's error for an error of the API. Source: Claude API docs, "Errors". */
export function fromApiError(facts: ApiErrorFacts, place: ModelErrorPlace): ModelError {
  const { status, header } = facts;
  const type = typeOf(facts);
  const spendLimit = facts.errorCode === 'enforced_spend_limit_reached';
  const advice = spendLimit ? 'The spend limit of this key is reached; raise it in the Console.' : adviceFor(type, place);
  const said = facts.message === undefined || facts.message === '' ? '' : ` The API says: ${facts.message}`;
  const retryAfterMs = readRetryAfter(header, place.now ?? Date.now);
  const asked = header?.('x-should-retry');
  const retryable =
    !spendLimit && (asked === 'true' || (asked !== 'false' && (RETRYABLE_TYPES.has(type) || status === 408 || (status ?? 0) >= 500)));
  return {
    type,
    message: `${advice}${said}`,
    ...(status === undefined ? {} : { status }),
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** The API's type of an error. Gateways have types of their own (`throttling_error`, `server_error`): then the status counts, or their code for one. */
function typeOf({ type, status, code }: ApiErrorFacts): string {
  if (type !== undefined && KNOWN_TYPES.has(type)) return type;
  const known = status ?? code;
  if (known === undefined || known >= 500) return TYPE_OF_STATUS[known ?? 500] ?? 'api_error';
  return TYPE_OF_STATUS[known] ?? type ?? 'invalid_request_error';
}

function adviceFor(type: string, { baseURL, model }: ModelErrorPlace): string {
  switch (type) {
    case 'authentication_error':
      return `${baseURL} refused the API key. Check ANTHROPIC_API_KEY (or the apiKey option), and that the key belongs to this base URL.`;
    case 'permission_error':
      return `The API key may not use ${model} at ${baseURL}.`;
    case 'billing_error':
      return 'The account behind the API key has a billing problem; see Plans & Billing in the Console.';
    case 'not_found_error':
      return `${baseURL} does not know the model "${model}" (or the path). Check ANTHROPIC_MODEL and ANTHROPIC_BASE_URL.`;
    case 'request_too_large':
      return 'The request is too large (the limit is 32 MB). Images and documents in the history are the usual cause.';
    case 'rate_limit_error':
      return 'The rate limit of this API key is reached.';
    case 'overloaded_error':
      return 'The API is overloaded.';
    case 'timeout_error':
      return 'The API took too long to answer.';
    case 'api_error':
      return 'The API failed.';
    default:
      return 'The API refused the request.';
  }
}

/** `retry-after-ms`, or `retry-after` in seconds or as an HTTP date; in milliseconds, undefined when absent or unreadable. */
function readRetryAfter(header: ApiErrorFacts['header'], now: () => number): number | undefined {
  const exact = Number.parseFloat(header?.('retry-after-ms') ?? '');
  if (Number.isFinite(exact)) return Math.max(0, exact);
  const text = header?.('retry-after') ?? undefined;
  if (text === undefined) return undefined;
  const ms = /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number.parseFloat(text) * 1000 : Date.parse(text) - now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** The error inside an `error` event or an error body, wherever a gateway put it. */
export function readErrorBody(body: unknown): Pick<ApiErrorFacts, 'type' | 'message' | 'code'> {
  const error = isJsonObject(body) && (isJsonObject(body.error) || typeof body.error === 'string') ? body.error : body;
  if (typeof error === 'string') return { message: error };
  if (!isJsonObject(error)) return {};
  return {
    ...(typeof error.type === 'string' && error.type !== 'error' ? { type: error.type } : {}),
    ...(typeof error.message === 'string' ? { message: error.message } : {}),
    ...(/^[45]\d\d$/.test(String(error.code)) ? { code: Number(error.code) } : {}),
  };
}

const CERTIFICATE_CODE = /CERT|^UNABLE_TO_(VERIFY|GET_ISSUER|GET_CRL|DECRYPT|DECODE)|^HOSTNAME_MISMATCH$|^INVALID_CA$|^INVALID_PURPOSE$/;
/** What fetch says of an address that it will never ask: asking again is waiting in vain. */
const NO_ADDRESS = /invalid url|failed to parse url|bad port|unknown scheme|url scheme/i;
/** What fetch says of a key or another header value that cannot be sent. It quotes the value: nothing of it may be passed on. */
const NO_HEADER = /ByteString|invalid header value|invalid value for header/i;
/** What the SDK says when it has no key. */
const NO_KEY = /could not resolve authentication method/i;
const HANDSHAKE_CODE = /^EPROTO$|^ERR_(SSL|TLS)_/;

/** No key is set: nothing was sent. */
export function missingKey(): ModelError {
  const ways = 'Set ANTHROPIC_API_KEY (keys are made at https://platform.claude.com/settings/keys), or pass `apiKey`';
  return { type: 'missing_api_key', message: `There is no API key for the model. ${ways}.`, retryable: false };
}

/** The port's error for whatever the SDK or the network threw. */
export function toModelError(error: unknown, place: ModelErrorPlace): ModelError {
  const { baseURL } = place;
  if (error instanceof Anthropic.APIError && error.status !== undefined) {
    const { headers } = error;
    const said = readErrorBody(error.error);
    return fromApiError(
      {
        status: error.status,
        ...said,
        message: said.message ?? error.message,
        ...(error.errorCode === null ? {} : { errorCode: error.errorCode }),
        ...(headers === undefined ? {} : { header: (name: string) => headers.get(name) }),
      },
      place,
    );
  }
  if (error instanceof Anthropic.APIConnectionTimeoutError) {
    return { type: 'connection_error', message: `${baseURL} did not answer in time (API_TIMEOUT_MS).`, retryable: true };
  }
  const { code, text } = rootCause(error);
  if (code !== undefined && CERTIFICATE_CODE.test(code)) {
    const way = 'If a proxy or company CA is meant to be there, point NODE_EXTRA_CA_CERTS at its certificate.';
    return { type: 'certificate_error', message: `The TLS certificate of ${baseURL} was not accepted (${code}). ${way}`, retryable: false };
  }
  if (code === 'ERR_INVALID_URL' || NO_ADDRESS.test(text)) {
    const message = `"${baseURL}" is not an address that can be asked: ${text}. Check ANTHROPIC_BASE_URL (or the baseURL option).`;
    return { type: 'connection_error', message, retryable: false };
  }
  if (NO_HEADER.test(text)) {
    const message = 'The API key, or another value for a header (`betas`), holds a line end or a character that no header can hold.';
    return { type: 'invalid_request_error', message: `The request was not sent. ${message}`, retryable: false };
  }
  if (NO_KEY.test(text)) return missingKey();
  if (code !== undefined && HANDSHAKE_CODE.test(code)) {
    const message = `${baseURL} does not speak TLS as expected (${code}). Check the scheme and port of ANTHROPIC_BASE_URL.`;
    return { type: 'connection_error', message, retryable: false };
  }
  return {
    type: 'connection_error',
    message: `The connection to ${baseURL} failed: ${text}. Check the network, a proxy, or ANTHROPIC_BASE_URL.`,
    retryable: true,
  };
}

/** Fetch hides the reason behind `TypeError: fetch failed`; it stands at the end of the `cause` chain (bounded: chains can be cyclic). */
function rootCause(error: unknown): { readonly code: string | undefined; readonly text: string } {
  let current = error;
  let code: string | undefined;
  for (let depth = 0; depth < 10 && current instanceof Error; depth += 1) {
    if ('code' in current && typeof current.code === 'string') code = current.code;
    const next: unknown = current instanceof AggregateError ? current.errors[0] : current.cause;
    if (next === undefined) break;
    current = next;
  }
  const words = current instanceof Error ? current.message : String(current);
  const text = words === '' ? (code ?? 'unknown reason') : words;
  return { code, text: code === undefined || text.includes(code) ? text : `${text} (${code})` };
}
