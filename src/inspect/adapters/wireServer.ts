import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import type { FlowLog } from '../flowLog.js';
import { checkHost } from '../server/security.js';
import { tellClassic } from './classic.js';
import { tellStately } from './stately.js';

/** Where such a server listens. */
export interface WireServerOptions {
  /** `stately`: that of `@statelyai/inspect`. `classic`: that of `@xstate/inspect` for XState 4. */
  readonly protocol: 'stately' | 'classic';
  /** 0 (default) takes a free one. */
  readonly port?: number;
  /** Origins of pages that may connect, e.g. `https://stately.ai`. Default none: only programs, which send no Origin. */
  readonly allowedOrigins?: readonly string[];
}
/** A server that speaks the wire protocol of `@statelyai/inspect`. */
export interface WireServer {
  /** `ws://127.0.0.1:<port>/<token>` */
  readonly url: string;
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
}
const MAX_BUFFERED = 8 << 20;

/**
 * Offers a flow to other inspectors over a WebSocket on 127.0.0.1, to look only. These protocols know no sub-protocol to carry a token,
 * so it is in the path. A reader that falls behind by 8 MB is cut off: it could not be told of a gap.
 */
export async function serveWire(log: FlowLog, options: WireServerOptions): Promise<WireServer> {
  const tell = options.protocol === 'stately' ? tellStately : tellClassic;
  const path = `/${randomBytes(24).toString('base64url')}`;
  const http = createServer((_request, response) => response.writeHead(404).end());
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 1 << 16, perMessageDeflate: false });
  let port = 0;
  http.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    const { origin } = request.headers;
    const foreign = origin !== undefined && !(options.allowedOrigins ?? []).includes(origin);
    if (checkHost(request, port) || foreign || request.url !== path) {
      socket.end('HTTP/1.1 403 Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (connection) => {
      const stop = tell(log, (message) => {
        if (connection.bufferedAmount > MAX_BUFFERED) connection.terminate();
        else if (connection.readyState === WebSocket.OPEN) connection.send(message);
      });
      connection.on('error', () => connection.terminate());
      connection.on('close', stop);
    });
  });
  await new Promise<void>((resolve, reject) => {
    http.once('error', (error) => reject(new Error(`Cannot listen on 127.0.0.1:${options.port ?? 0}: ${error.message}`)));
    http.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const address = http.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
  http.unref();
  return {
    url: `ws://127.0.0.1:${port}${path}`,
    close: async () => {
      for (const connection of sockets.clients) connection.terminate();
      http.closeAllConnections();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    },
  };
}
