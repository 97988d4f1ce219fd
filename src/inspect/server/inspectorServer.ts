import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { SOCKET_PROTOCOL } from '../protocol/rpc.js';
import { type AuditEntry, InspectorClient } from './client.js';
import type { InspectedFlow } from './methods.js';
import { checkHost, checkUpgrade, newTokens, SECURITY_HEADERS, type Tokens } from './security.js';
import { defaultPageDir, type StaticFile, servedFiles } from './staticFiles.js';

const BATCH_MS = 50;
const PING_MS = 30_000;
const MAX_CLIENTS = 8;
const MAX_INBOUND = 1 << 20;
const AUDIT_KEPT = 1000;
const DEFAULT_GRACE_MS = 10_000;

/** Where the page is served, and to whom. */
export interface InspectorServerOptions {
  /** 0 (default) takes a free one. */
  readonly port?: number;
  /** Directory of the built page. Default: the one in this package. */
  readonly pageDir?: string;
  /** Default: new ones. Given ones let a page reconnect to a restarted server. */
  readonly tokens?: Tokens;
  /** How long a pause may last with no controlling page connected, in milliseconds. Default 10,000. */
  readonly graceMs?: number;
  /** Hears every control action, refused ones included. */
  readonly onAudit?: (entry: AuditEntry) => void;
}
/** The server behind the page. */
export interface InspectorServer {
  /** With the token that may control. */
  readonly url: string;
  /** With the token that may only look. */
  readonly viewUrl: string;
  /** The port it listens on. */
  readonly port: number;
  /** The tokens of both links. */
  readonly tokens: Tokens;
  /** Control actions so far, oldest first, refused ones included. */
  readonly audit: readonly AuditEntry[];
  /** Ends every connection and stops listening; a pause ends with it. */
  close(): Promise<void>;
}

/** Serves page and socket of one flow on 127.0.0.1. Rejects when the port cannot be had. */
export async function startServer(flow: InspectedFlow, options: InspectorServerOptions = {}): Promise<InspectorServer> {
  const files = servedFiles(options.pageDir ?? defaultPageDir());
  const tokens = options.tokens ?? newTokens();
  const audit: AuditEntry[] = [];
  const clients = new Set<InspectorClient>();
  let port = 0;
  let names = 0;

  const http = createServer((request, response) => serve(request, response, files, port));
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_INBOUND,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(SOCKET_PROTOCOL) ? SOCKET_PROTOCOL : false),
  });
  const note = (entry: AuditEntry): void => {
    audit.push(entry);
    if (audit.length > AUDIT_KEPT) audit.shift();
    flow.log.guard(() => options.onAudit?.(entry));
  };
  const controllersChanged = (): void => flow.gate?.setControllers([...clients].filter(({ scope }) => scope === 'control').length);

  http.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    const allowed = checkUpgrade(request, port, tokens);
    const refuse = (status: number, reason: string): void => {
      note({ t: flow.log.elapsed, client: '-', method: 'connect', detail: reason, outcome: String(status) });
      socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    };
    if (typeof allowed !== 'string') return refuse(allowed.status, allowed.reason);
    if (clients.size >= MAX_CLIENTS) return refuse(503, `${MAX_CLIENTS} pages are connected already`);
    sockets.handleUpgrade(request, socket, head, (connection) => {
      flow.log.guard(() => flow.onPage?.());
      const client = new InspectorClient(connection, `page-${++names}`, allowed, flow, () => clients.size, note);
      clients.add(client);
      controllersChanged();
      connection.on('error', () => connection.terminate());
      connection.on('close', () => {
        clients.delete(client);
        controllersChanged();
      });
    });
  });

  const tell = (say: (client: InspectorClient) => void): void => {
    for (const client of clients) flow.log.guard(() => say(client));
  };
  const stops = [
    every(BATCH_MS, () => tell((client) => client.pump())),
    every(PING_MS, () => tell((client) => client.ping())),
    flow.gate?.onChange(() => {
      const state = flow.gate?.state;
      const breakpoints = flow.gate?.breakpoints ?? [];
      tell((client) => {
        if (client.congested || !state) return;
        client.say('held', state);
        client.say('breakpoints', breakpoints);
      });
    }),
    flow.desk?.onChange(() => tell((client) => client.say('pendingApprovals', flow.desk?.pending ?? []))),
    flow.desk?.onSettled((settled) => tell((client) => client.say('approvalSettled', settled))),
  ];
  flow.gate?.resumeWhenAlone(options.graceMs ?? DEFAULT_GRACE_MS);

  port = await new Promise<number>((resolve, reject) => {
    http.once('error', (error) => reject(new Error(`The inspector cannot listen on 127.0.0.1:${options.port ?? 0}: ${error.message}`)));
    http.listen(options.port ?? 0, '127.0.0.1', () => resolve(portOf(http.address())));
  });
  // A program must not stay alive only because it can be watched.
  http.unref();

  const link = (token: string): string => `http://127.0.0.1:${port}/#token=${token}`;
  return {
    url: link(tokens.control),
    viewUrl: link(tokens.view),
    port,
    tokens,
    audit,
    close: async () => {
      for (const stop of stops) stop?.();
      flow.gate?.abandon();
      for (const client of clients) client.socket.terminate();
      sockets.close();
      http.closeAllConnections();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    },
  };
}

function serve(request: IncomingMessage, response: ServerResponse, files: ReadonlyMap<string, StaticFile>, port: number): void {
  const answer = (status: number, type: string, body: string | Buffer): void => {
    response.writeHead(status, { ...SECURITY_HEADERS, 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
    response.end(request.method === 'HEAD' ? undefined : body);
  };
  const plain = 'text/plain; charset=utf-8';
  const refusal = checkHost(request, port);
  const file = files.get((request.url ?? '/').split('?', 1)[0] ?? '/');
  if (refusal) answer(refusal.status, plain, refusal.reason);
  else if (request.method !== 'GET' && request.method !== 'HEAD') answer(405, plain, 'only GET');
  else if (file) answer(200, file.type, file.bytes);
  else answer(404, plain, 'not found');
}

function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms);
  timer.unref();
  return () => clearInterval(timer);
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}
