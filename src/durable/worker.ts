import './polyfill.js';
import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2';
import { createEndpointHandler } from '@restatedev/restate-sdk';
import type { SessionOptions } from '../session/options.js';
import type { SessionUpdate } from '../session/updates.js';
import { createObjects } from './objects.js';
import { callIngress, createPost } from './post.js';
import { SESSION_OBJECT } from './protocol.js';
import { TaskDesk } from './taskDesk.js';

/** What a worker serves, and where. */
export interface WorkerOptions {
  /** What each session works with. The same on every worker of a deployment: a query may go on anywhere. */
  readonly session: SessionOptions | ((sessionId: string) => SessionOptions | Promise<SessionOptions>);
  /** Address of Restate's ingress, for what a worker tells a session: ends of background tasks, late words of hooks. */
  readonly ingress: string;
  /** Port to listen on; 0 for any free one. Default 9080. */
  readonly port?: number;
  /** Address to listen on. Default `127.0.0.1`: whoever reaches the port can run sessions, unless `identityKeys` are set. */
  readonly host?: string;
  /** Public keys of the Restate servers that may call this worker (`publickeyv1_…`). Default: any caller. */
  readonly identityKeys?: readonly string[];
  /** How long a session that waits for a person keeps its place in a worker, in milliseconds. Default 60,000. */
  readonly inactivityMs?: number;
  /** What is not written down (deltas, progress), as it happens here; `attempt` changes when another worker has taken over. */
  readonly onLive?: (sessionId: string, update: SessionUpdate, attempt: string) => void;
  /** Gets the engine's own messages. Default: warnings and errors go to standard error. */
  readonly log?: (level: string, message: string) => void;
}

/** A process that serves sessions. */
export interface Worker {
  /** The address to register with Restate. */
  readonly url: string;
  /** Stops listening and lets go of every connection; what runs goes on elsewhere. */
  close(): Promise<void>;
}

/** Serves sessions to Restate in this process. */
export async function serveSessions(options: WorkerOptions): Promise<Worker> {
  const { session, ingress, host = '127.0.0.1', inactivityMs = 60_000, onLive, log = toStandardError } = options;
  const post = createPost({ url: ingress });
  const desk = new TaskDesk(post);
  const services = createObjects({
    inactivityMs,
    optionsFor: async (sessionId) => ({
      session: typeof session === 'function' ? await session(sessionId) : session,
      desk,
      post,
      onLive,
    }),
  });
  const handler = createEndpointHandler({
    services: [...services],
    logger: (meta, ...parts: unknown[]) => log(meta.level, parts.map(String).join(' ')),
    ...(options.identityKeys === undefined ? {} : { identityKeys: [...options.identityKeys] }),
  });
  const server = createServer(handler);
  const connections = new Set<ServerHttp2Session>();
  server.on('session', (connection) => {
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
  });
  const port = await listen(server, options.port ?? 9080, host);
  return {
    url: `http://${host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const connection of connections) connection.destroy();
      }),
  };
}

/** Tells a Restate server where workers are; resolves when sessions can be called. `admin` is the address of its admin API. */
export async function registerWorker(place: { readonly admin: string; readonly ingress: string }, url: string): Promise<void> {
  const { admin, ingress } = place;
  const response = await fetch(`${admin.replace(/\/$/, '')}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri: url, force: true }),
  }).catch((error: unknown) => {
    throw new Error(`Restate's admin API cannot be reached at ${admin}. Is the server running?`, { cause: error });
  });
  if (!response.ok)
    throw new Error(`Restate did not accept the worker at ${url}: ${response.status} ${(await response.text()).slice(0, 500)}`);
  await untilKnown(ingress);
}

const KNOWN_WITHIN_MS = 30_000;

/** The ingress learns of a deployment a moment after the admin API has taken it. */
async function untilKnown(ingress: string): Promise<void> {
  for (const since = performance.now(); ; ) {
    try {
      await callIngress({ url: ingress }, `${SESSION_OBJECT}/sixgates/updates`, { from: 1 });
      return;
    } catch (error) {
      if (performance.now() - since > KNOWN_WITHIN_MS) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function listen(server: Http2Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function toStandardError(level: string, message: string): void {
  if (level === 'warn' || level === 'error') process.stderr.write(`restate: ${message}\n`);
}
