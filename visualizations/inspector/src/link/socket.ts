import { type BirpcReturn, createBirpc } from 'birpc';
import {
  type PageFunctions,
  type RpcResult,
  type ServerFunctions,
  SOCKET_PATH,
  SOCKET_PROTOCOL,
  TOKEN_PREFIX,
} from '../../../../src/inspect/protocol/rpc.js';

const FIRST_RETRY_MS = 400;
const LAST_RETRY_MS = 8000;

export interface SocketHandlers extends PageFunctions {
  opened(): void;
  /** `retryMs` is null when trying again would not help: the server is there and does not want us. */
  closed(retryMs: number | null): void;
}

/** One WebSocket to the runtime, opened again with growing waits until it or the page is closed. */
export class Socket {
  #rpc: BirpcReturn<ServerFunctions, PageFunctions> | null = null;
  #socket: WebSocket | null = null;
  #retryMs = FIRST_RETRY_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly token: string,
    readonly handlers: SocketHandlers,
  ) {}

  open(): void {
    clearTimeout(this.#timer);
    const url = new URL(SOCKET_PATH, window.location.href);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(url, [SOCKET_PROTOCOL, TOKEN_PREFIX + this.token]);
    this.#socket = socket;
    let wasOpen = false;
    socket.onopen = () => {
      wasOpen = true;
      this.#retryMs = FIRST_RETRY_MS;
      this.#rpc = createBirpc<ServerFunctions, PageFunctions>(this.handlers, {
        post: (text: string) => socket.send(text),
        on: (receive) => {
          socket.onmessage = (message) => receive(message.data);
        },
        serialize: JSON.stringify,
        deserialize: (text: string) => JSON.parse(text),
        timeout: 30_000,
      });
      this.handlers.opened();
    };
    socket.onclose = () => {
      if (this.#socket !== socket) return;
      this.#rpc?.$close(new Error('The connection was lost.'));
      this.#rpc = null;
      void this.#explainClose(wasOpen);
    };
  }

  /** For good. */
  close(): void {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = null;
    if (!socket) return;
    socket.onmessage = null;
    socket.close();
  }

  /** Asks the server. A lost connection is an error like any other, so that callers need one path only. */
  async call<M extends keyof ServerFunctions>(
    method: M,
    ...args: Parameters<ServerFunctions[M]>
  ): Promise<Awaited<ReturnType<ServerFunctions[M]>> | RpcResult<never>> {
    const rpc = this.#rpc;
    const lost = (message: string): RpcResult<never> => ({ ok: false, error: { code: 'internal', message } });
    if (!rpc) return lost('Not connected to the runtime.');
    try {
      return await rpc.$call(method, ...args);
    } catch (error) {
      return lost(error instanceof Error ? error.message : String(error));
    }
  }

  /** A refused handshake looks like a dead server to a page; only a plain request tells them apart. */
  async #explainClose(wasOpen: boolean): Promise<void> {
    const refused = !wasOpen && (await answers());
    if (!this.#socket) return;
    if (refused) return this.handlers.closed(null);
    const wait = this.#retryMs;
    this.#retryMs = Math.min(LAST_RETRY_MS, wait * 2);
    this.handlers.closed(wait);
    this.#timer = setTimeout(() => this.open(), wait);
  }
}

async function answers(): Promise<boolean> {
  try {
    const response = await fetch(window.location.pathname, { method: 'GET', cache: 'no-store' });
    return response.ok;
  } catch {
    return false;
  }
}
