import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { z } from 'zod';
import { isJsonObject, withoutNulls } from '../json.js';
import { closest } from '../tool/closest.js';

/** What every kind of server may say. */
export interface McpServerConfigBase {
  /** Send this server's tools in full, whatever the size of the list. Default false. */
  readonly alwaysLoad?: boolean | undefined;
  /** Limit of one call in milliseconds. Default `MCP_TOOL_TIMEOUT`. */
  readonly timeout?: number | undefined;
}

/** A program that speaks MCP on its standard input and output. It gets a small environment and what `env` adds to it. */
export interface McpStdioServerConfig extends McpServerConfigBase {
  /** Default `stdio`. */
  readonly type?: 'stdio' | undefined;
  /** The program, looked up on the `PATH` unless it is a path. */
  readonly command: string;
  /** Its arguments. Default none. */
  readonly args?: readonly string[] | undefined;
  /** Variables added to the small environment that servers get. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Default: the session's. */
  readonly cwd?: string | undefined;
}

/** A server behind a URL. `http` is streamable HTTP, and falls back to SSE where the server knows only that. */
export interface McpHttpServerConfig extends McpServerConfigBase {
  /** The transport. In files, `streamable-http` means `http`. */
  readonly type: 'http' | 'sse';
  /** Where the server listens. */
  readonly url: string;
  /** Headers of every request, such as `Authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Anything that can be connected to a transport: the official SDK's `McpServer` or `Server`. */
export type McpInProcessServer = Pick<McpServer, 'connect' | 'close'>;

/** A server in this process. Made by `createSdkMcpServer`, or by hand around a server of the official SDK. */
export interface McpSdkServerConfig extends McpServerConfigBase {
  readonly type: 'sdk';
  /** The server's own name; the key in `mcpServers` is what its tools are called by. */
  readonly name: string;
  /** The server of the first connection. */
  readonly instance: McpInProcessServer;
  /** Makes a further instance: one can serve only one connection at a time. Without it a second session cannot use this configuration. */
  readonly create?: (() => McpInProcessServer) | undefined;
  /** What had to be left out when the server was made. */
  readonly warnings?: readonly string[] | undefined;
}

/** A transport of the embedding program's own, made anew for every connection. */
export interface McpTransportConfig extends McpServerConfigBase {
  readonly type: 'transport';
  /** Makes a transport that is not started. Called for every connection, also after one was lost. */
  readonly connect: () => Transport | Promise<Transport>;
}

/** Servers that a file can describe. */
export type McpFileServerConfig = McpStdioServerConfig | McpHttpServerConfig;
/** How an MCP server is reached. */
export type McpServerConfig = McpFileServerConfig | McpSdkServerConfig | McpTransportConfig;

export const isRemote = (config: McpServerConfig): config is McpHttpServerConfig => config.type === 'http' || config.type === 'sse';

const common = { alwaysLoad: z.boolean().optional(), timeout: z.number().int().positive().optional() };
const stringMap = z.record(z.string(), z.string());
const stdioSchema = z.looseObject({
  type: z.literal('stdio').optional(),
  command: z.string().min(1, 'a program is needed'),
  args: z.array(z.string()).optional(),
  env: stringMap.optional(),
  cwd: z.string().optional(),
  ...common,
});
const httpSchema = z.looseObject({
  type: z.enum(['http', 'streamable-http', 'sse']),
  url: z.string().min(1, 'a URL is needed'),
  headers: stringMap.optional(),
  ...common,
});

export type ConfigResult = { readonly ok: true; readonly config: McpFileServerConfig } | { readonly ok: false; readonly problem: string };

/** Reads one entry of `mcpServers`. A problem names the field and what is expected there. */
export function parseServerConfig(given: unknown): ConfigResult {
  if (!isJsonObject(given)) return { ok: false, problem: 'an object with `command` (stdio) or `type` and `url` (http, sse) is needed' };
  const value = withoutNulls(given);
  const hasUrl = value.type !== undefined ? value.type !== 'stdio' : value.command === undefined && value.url !== undefined;
  if (hasUrl && value.type === undefined)
    return { ok: false, problem: 'a server with a `url` needs a `type`: "http" (streamable HTTP) or "sse"' };
  if (hasUrl) {
    const parsed = httpSchema.safeParse(value);
    if (!parsed.success) return problemOf(parsed.error);
    const { type, url, headers, alwaysLoad, timeout } = parsed.data;
    return { ok: true, config: { type: type === 'sse' ? 'sse' : 'http', url, headers, alwaysLoad, timeout } };
  }
  const parsed = stdioSchema.safeParse(value);
  if (!parsed.success) return problemOf(parsed.error);
  const { command, args, env, cwd, alwaysLoad, timeout } = parsed.data;
  return { ok: true, config: { type: 'stdio', command, args, env, cwd, alwaysLoad, timeout } };
}

const problemOf = ({ issues }: z.ZodError): ConfigResult => ({
  ok: false,
  problem: issues.map(({ path, message }) => [path.map(String).join('.'), message].filter(Boolean).join(': ')).join('; '),
});

const FIELDS: readonly string[] = [...new Set([...Object.keys(stdioSchema.shape), ...Object.keys(httpSchema.shape)])];

/** Fields of an entry that are ignored and read like a slip of the pen, each with the field that will have been meant. */
export function misspeltFields(value: unknown): readonly { readonly field: string; readonly meant: string }[] {
  if (!isJsonObject(value)) return [];
  return Object.keys(value).flatMap((field) => {
    const [meant] = FIELDS.includes(field) || OTHER_FIELDS.has(field) ? [] : closest(field, FIELDS, 1);
    return meant === undefined ? [] : [{ field, meant }];
  });
}

/** What entries of other programs' files say besides, and `disabled`, which is heeded elsewhere. */
const OTHER_FIELDS: ReadonlySet<string> = new Set(['disabled', 'name', 'description', '$comment', 'oauth', 'headersHelper', 'icon']);

/** True for an entry that its author has switched off where it stands. */
export const isSwitchedOff = (value: unknown): boolean => isJsonObject(value) && value.disabled === true;

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Replaces `${NAME}` and `${NAME:-default}` in command, arguments, environment, URL and headers (Claude Code docs, MCP).
 * A variable that is not set and has no default is a problem: a server that starts with half its configuration misleads.
 */
export function expandConfig(config: McpFileServerConfig, env: Env): ConfigResult {
  const missing: string[] = [];
  const expand = (text: string, field: string): string =>
    text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g, (whole, name: string, fallback: string | undefined) => {
      const value = env[name];
      if (value !== undefined && (value !== '' || fallback === undefined)) return value;
      if (fallback !== undefined) return fallback;
      missing.push(`${field}: the variable ${name} is not set; set it, or write \${${name}:-default}`);
      return whole;
    });
  const expandMap = (map: Readonly<Record<string, string>> | undefined, field: string) =>
    map && Object.fromEntries(Object.entries(map).map(([key, value]) => [key, expand(value, `${field}.${key}`)]));
  const expanded: McpFileServerConfig = isRemote(config)
    ? { ...config, url: expand(config.url, 'url'), headers: expandMap(config.headers, 'headers') }
    : {
        ...config,
        command: expand(config.command, 'command'),
        args: config.args?.map((arg, index) => expand(arg, `args[${index}]`)),
        env: expandMap(config.env, 'env'),
        cwd: config.cwd === undefined ? undefined : expand(config.cwd, 'cwd'),
      };
  return missing.length === 0 ? { ok: true, config: expanded } : { ok: false, problem: missing.join('; ') };
}
