import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { messageOf, ToolAbortedError, ToolFailure } from '../../tool/errors.js';
import { isPublicAddress, publicLookup } from './address.js';

export type Page =
  | {
      readonly kind: 'page';
      readonly url: string;
      readonly status: number;
      readonly contentType: string;
      readonly body: Buffer;
      readonly cut: boolean;
    }
  /** A redirect to another host: for the model to follow by a new call, which is decided anew. */
  | { readonly kind: 'redirect'; readonly from: string; readonly to: string; readonly status: number };

export interface PageRequest {
  readonly signal: AbortSignal;
  /** Hosts (with port, if any) that may be private and may be asked over plain http. */
  readonly allowHost: (host: string) => boolean;
}

const MAX_REDIRECTS = 10;
const MAX_BODY_BYTES = 10 * 1024 * 1024;
const TIMEOUT_MS = 60_000;

/** The URL to ask for: https for http, no credentials. */
export function checkedUrl(written: string, allowHost: (host: string) => boolean): URL {
  if (!URL.canParse(written) || written.length > 2000) throw new ToolFailure(`${written.slice(0, 200)} is not a valid URL.`);
  const url = new URL(written);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new ToolFailure(`Only http and https can be fetched, not ${url.protocol}`);
  if (url.username !== '' || url.password !== '') throw new ToolFailure('A URL with a user name or password is not fetched.');
  if (url.protocol === 'http:' && !allowHost(url.host)) url.protocol = 'https:';
  url.hash = '';
  return url;
}

/** Fetches a page, following redirects within its host. */
export async function fetchPage(start: URL, request: PageRequest): Promise<Page> {
  let url = start;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const response = await send(url, request);
    const status = response.statusCode ?? 0;
    const { location } = response.headers;
    if (status < 300 || status >= 400 || location === undefined) {
      const { body, cut } = await readBody(response, request.signal);
      return { kind: 'page', url: url.href, status, contentType: response.headers['content-type'] ?? '', body, cut };
    }
    response.destroy();
    if (!URL.canParse(location, url.href))
      throw new ToolFailure(`${url.href} redirects to ${location.slice(0, 200)}, which is not a valid URL.`);
    const next = new URL(location, url);
    // Permission was given for a host by its name: `www.` makes another one.
    if (next.host !== url.host) return { kind: 'redirect', from: url.href, to: next.href, status };
    url = checkedUrl(next.href, request.allowHost);
  }
  throw new ToolFailure(`${start.href} redirects more than ${MAX_REDIRECTS} times.`);
}

function send(url: URL, { signal, allowHost }: PageRequest): Promise<IncomingMessage> {
  const isAllowed = allowHost(url.host);
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  if (!isAllowed && isIP(literal) !== 0 && !isPublicAddress(literal)) {
    throw new ToolFailure(`${url.href} is not on the public internet and is not fetched.`);
  }
  return new Promise((resolve, reject) => {
    const options = {
      method: 'GET',
      // A connection of its own: one that is used again may have been closed meanwhile.
      agent: false,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      headers: {
        'user-agent': 'sixgates',
        accept: 'text/markdown, text/html, text/*;q=0.9, */*;q=0.5',
        'accept-encoding': 'gzip, deflate, br',
      },
      ...(isAllowed ? {} : { lookup: publicLookup }),
    };
    const outgoing = url.protocol === 'https:' ? httpsRequest(url, options, resolve) : httpRequest(url, options, resolve);
    outgoing.once('error', (error) => reject(explained(error, url, signal)));
    outgoing.end();
  });
}

function explained(error: Error, url: URL, signal: AbortSignal): Error {
  if (signal.aborted) return new ToolAbortedError(`The fetch was stopped (${String(signal.reason)}).`);
  if (error.name === 'AbortError' || error.name === 'TimeoutError')
    return new ToolFailure(`${url.href} did not answer within ${TIMEOUT_MS / 1000} s.`);
  return new ToolFailure(`${url.href} could not be fetched: ${messageOf(error)}`);
}

async function readBody(response: IncomingMessage, signal: AbortSignal): Promise<{ readonly body: Buffer; readonly cut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of decoded(response)) {
      const bytes: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
      chunks.push(bytes);
      size += bytes.length;
      // Counted after decompression: a small answer may unpack to a large one.
      if (size >= MAX_BODY_BYTES) break;
    }
  } catch (error) {
    if (signal.aborted) throw new ToolAbortedError(`The fetch was stopped (${String(signal.reason)}).`);
    throw error instanceof ToolFailure ? error : new ToolFailure(`The answer broke off: ${messageOf(error)}`);
  } finally {
    response.destroy();
  }
  return { body: Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES), cut: size >= MAX_BODY_BYTES };
}

/** Nobody packs an answer more than once or twice; each layer takes memory of its own. */
const MAX_ENCODINGS = 5;

/** The body unpacked, the last of its encodings first. */
function decoded(response: IncomingMessage): Readable {
  const encodings = (response.headers['content-encoding'] ?? '').toLowerCase().split(/[\s,]+/);
  if (encodings.length > MAX_ENCODINGS)
    throw new ToolFailure(`The answer is packed ${encodings.length} times over. Download it with a command to look into it.`);
  let stream: Readable = response;
  for (const encoding of encodings.reverse()) {
    const unpacked = unpacker(encoding);
    if (unpacked === undefined) continue;
    stream.on('error', (error) => unpacked.destroy(error));
    stream = stream.pipe(unpacked);
  }
  return stream;
}

function unpacker(encoding: string) {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      return undefined;
  }
}
