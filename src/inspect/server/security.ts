import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type Scope, SOCKET_PATH, SOCKET_PROTOCOL, TOKEN_PREFIX } from '../protocol/rpc.js';

/** Sent with every answer. The page needs nothing but itself. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** What whoever connects must show: the one lets look, the other also control. */
export interface Tokens {
  /** Lets look. */
  readonly view: string;
  /** Lets look, answer, pause, set breakpoints and export. */
  readonly control: string;
}
/** 192 random bits each. Every local user can reach the loopback, so the token is what keeps them out. */
export function newTokens(): Tokens {
  return { view: randomBytes(24).toString('base64url'), control: randomBytes(24).toString('base64url') };
}

/** Why a request is refused: an HTTP status, and words for the log. */
export interface Refusal {
  readonly status: 401 | 403 | 404;
  readonly reason: string;
}

/** Exact names only: a name that an attacker's DNS points at 127.0.0.1 is refused. */
export function checkHost(request: IncomingMessage, port: number): Refusal | undefined {
  const host = request.headers.host;
  return host !== undefined && allowedHosts(port).includes(host)
    ? undefined
    : { status: 403, reason: 'the Host header names another place' };
}

/** What a socket request may do, or why it is refused. */
export function checkUpgrade(request: IncomingMessage, port: number, tokens: Tokens): Scope | Refusal {
  const host = checkHost(request, port);
  if (host) return host;
  // Pages of other sites can open sockets to the loopback; the browser's Origin gives them away. Absent and `null` count as foreign.
  if (request.headers.origin !== `http://${request.headers.host}`) return { status: 403, reason: 'the Origin is another page' };
  if (request.url !== SOCKET_PATH) return { status: 404, reason: 'no socket here' };
  const offered = String(request.headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((part) => part.trim());
  if (!offered.includes(SOCKET_PROTOCOL)) return { status: 403, reason: `the sub-protocol ${SOCKET_PROTOCOL} was not offered` };
  const token = offered.find((part) => part.startsWith(TOKEN_PREFIX))?.slice(TOKEN_PREFIX.length) ?? '';
  // Both are compared, so that the time tells nothing about either.
  const control = sameSecret(token, tokens.control);
  const view = sameSecret(token, tokens.view);
  if (control) return 'control';
  return view ? 'view' : { status: 401, reason: 'the token is not valid' };
}

function allowedHosts(port: number): string[] {
  return [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
}

function sameSecret(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
