import { urlMatches } from '../hooks/url-pattern.js';
import { isJsonObject, type JsonValue } from '../json.js';
import type { RuleScope } from '../permissions/types.js';
import type { SettingsFile } from '../settings/types.js';
import { isRemote, type McpFileServerConfig } from './config.js';

interface ServerReference {
  readonly serverName?: string;
  readonly serverCommand?: readonly string[];
  readonly serverUrl?: string;
}

/** What settings say about which servers may run (Claude Code docs, settings and managed MCP configuration). */
export interface ServerPolicy {
  readonly denied: readonly ServerReference[];
  /** Undefined when nothing limits the choice. */
  readonly allowed: readonly ServerReference[] | undefined;
  readonly disabledProjectServers: ReadonlySet<string>;
  readonly enabledProjectServers: ReadonlySet<string>;
  readonly enablesAllProjectServers: boolean;
}

const OF_PROJECT: ReadonlySet<RuleScope> = new Set<RuleScope>(['projectSettings', 'localSettings']);

/** A project that is not trusted may switch its servers off, never on. */
export function readPolicy(files: readonly SettingsFile[], trusted: boolean): ServerPolicy {
  const managedOnly = files.some(({ scope, settings }) => scope === 'managed' && settings.allowManagedMcpServersOnly === true);
  const enabling = files.filter(({ scope }) => trusted || !OF_PROJECT.has(scope));
  const allowing = files.filter(
    ({ scope, settings }) => Array.isArray(settings.allowedMcpServers) && (!managedOnly || scope === 'managed'),
  );
  return {
    denied: files.flatMap(({ settings }) => references(settings.deniedMcpServers)),
    allowed: allowing.length === 0 && !managedOnly ? undefined : allowing.flatMap(({ settings }) => references(settings.allowedMcpServers)),
    disabledProjectServers: new Set(files.flatMap(({ settings }) => strings(settings.disabledMcpjsonServers))),
    enabledProjectServers: new Set(enabling.flatMap(({ settings }) => strings(settings.enabledMcpjsonServers))),
    enablesAllProjectServers: enabling.some(({ settings }) => settings.enableAllProjectMcpServers === true),
  };
}

/** Why the lists of denied and allowed servers keep a server out; undefined when they do not. */
export function listedIn({ denied, allowed }: ServerPolicy, name: string, config: McpFileServerConfig): string | undefined {
  const isNamed = (reference: ServerReference) => namesServer(reference, name, config);
  if (denied.some(isNamed)) return 'denied by `deniedMcpServers`';
  return allowed === undefined || allowed.some(isNamed) ? undefined : 'not in `allowedMcpServers`';
}

function namesServer({ serverName, serverCommand, serverUrl }: ServerReference, name: string, config: McpFileServerConfig): boolean {
  if (serverName !== undefined) return serverName === name;
  if (isRemote(config)) return serverUrl !== undefined && urlMatches(config.url, serverUrl, 'is');
  if (serverCommand === undefined) return false;
  const command = [config.command, ...(config.args ?? [])];
  return command.length === serverCommand.length && command.every((word, index) => word === serverCommand[index]);
}

function references(value: JsonValue | undefined): ServerReference[] {
  if (!Array.isArray(value)) return [];
  const list: readonly unknown[] = value;
  return list.filter(isJsonObject).map((entry) => ({
    ...(typeof entry.serverName === 'string' ? { serverName: entry.serverName } : {}),
    ...(Array.isArray(entry.serverCommand) ? { serverCommand: strings(entry.serverCommand) } : {}),
    ...(typeof entry.serverUrl === 'string' ? { serverUrl: entry.serverUrl } : {}),
  }));
}

function strings(value: JsonValue | undefined): string[] {
  if (!Array.isArray(value)) return [];
  const list: readonly unknown[] = value;
  return list.filter((entry) => typeof entry === 'string');
}
