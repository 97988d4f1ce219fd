import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { carefulFetch } from './careful-fetch.js';
import type { McpHttpServerConfig, McpSdkServerConfig, McpServerConfig, McpStdioServerConfig } from './config.js';
import { StdioTransport } from './stdio.js';
import { CarefulTransport } from './wire.js';

export interface TransportPlace {
  /** Working directory of stdio servers that name none. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Makes one transport, not yet started. */
export type OpenTransport = () => Promise<Transport>;

/** The ways to reach a server, in the order in which they are tried. */
export function transportsFor(config: McpServerConfig, place: TransportPlace): readonly OpenTransport[] {
  switch (config.type) {
    case 'sdk':
      return [() => inProcess(config)];
    case 'transport':
      return [async () => new CarefulTransport(await config.connect())];
    case 'sse':
      return [async () => sse(config)];
    case 'http':
      return [async () => streamable(config), async () => sse(config)];
    default:
      return [async () => stdio(config, place)];
  }
}

/**
 * Whether a server that refused streamable HTTP may know the older SSE transport: it answers the first POST with a client error
 * other than "not allowed to you" (MCP specification, transports, backwards compatibility).
 */
export function mayKnowOlderTransport(error: unknown): boolean {
  return error instanceof StreamableHTTPError && error.code !== undefined && [400, 404, 405].includes(error.code);
}

const INHERITED =
  process.platform === 'win32'
    ? [
        'APPDATA',
        'HOMEDRIVE',
        'HOMEPATH',
        'LOCALAPPDATA',
        'PATH',
        'PATHEXT',
        'PROGRAMFILES',
        'SYSTEMDRIVE',
        'SYSTEMROOT',
        'TEMP',
        'USERPROFILE',
      ]
    : ['HOME', 'LANG', 'LC_ALL', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'];
const INHERITED_EVERYWHERE = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy', 'NODE_EXTRA_CA_CERTS'];

/** A server gets what a program needs to run, and no keys: whatever else it needs stands in its `env`. */
function stdio({ command, args = [], env = {}, cwd }: McpStdioServerConfig, place: TransportPlace): Transport {
  const inherited = [...INHERITED, ...INHERITED_EVERYWHERE].flatMap((name) => {
    const value = place.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return new StdioTransport({
    command,
    args,
    cwd: cwd ?? place.cwd,
    env: { ...Object.fromEntries(inherited), CLAUDE_PROJECT_DIR: place.cwd, ...env },
  });
}

function streamable({ url, headers = {} }: McpHttpServerConfig): Transport {
  return plain(new StreamableHTTPClientTransport(new URL(url), { fetch: carefulFetch, requestInit: { headers: { ...headers } } }));
}

function sse({ url, headers = {} }: McpHttpServerConfig): Transport {
  return plain(new SSEClientTransport(new URL(url), { fetch: carefulFetch, requestInit: { headers: { ...headers } } }));
}

/** The SDK's classes and its interface differ in how they write an absent session id; nothing else is between them. */
const plain = (transport: StreamableHTTPClientTransport | SSEClientTransport): Transport => transport as Transport;

async function inProcess({ instance, create }: McpSdkServerConfig): Promise<Transport> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await (create?.() ?? instance).connect(theirs);
  return ours;
}
