import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isJsonObject, type JsonObject } from '../json.js';
import { expandConfig, type McpServerConfig, parseServerConfig } from '../mcp/config.js';
import { CliError, messageOf } from './failure.js';

/**
 * The servers of `--mcp-config`: each a JSON file in the form of `.mcp.json`, or that JSON itself; of two servers of one name the later
 * counts (Claude Code docs, CLI reference). A server that was named and cannot be used is worse than no session, so whatever is wrong throws.
 */
export function readMcpConfigs(
  given: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, McpServerConfig>> {
  const servers: Record<string, McpServerConfig> = {};
  for (const text of given) {
    const isInline = text.trimStart().startsWith('{');
    const place = isInline ? '--mcp-config' : `--mcp-config ${resolve(text)}`;
    const declared = serversIn(isInline ? text : readText(text, place), place);
    for (const [name, value] of Object.entries(declared)) {
      if (name.trim() === '') throw new CliError(`${place}: mcpServers: a server needs a name.`);
      const parsed = parseServerConfig(value);
      const expanded = parsed.ok ? expandConfig(parsed.config, env) : parsed;
      if (!expanded.ok) throw new CliError(`${place}: mcpServers.${name}: ${expanded.problem}.`);
      servers[name] = expanded.config;
    }
  }
  return servers;
}

function readText(file: string, place: string): string {
  try {
    return readFileSync(resolve(file), 'utf8');
  } catch (error) {
    throw new CliError(`${place}: the file cannot be read (${messageOf(error)}). Name a JSON file, or give the JSON itself.`);
  }
}

function serversIn(text: string, place: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CliError(`${place}: not valid JSON (${messageOf(error)}).`);
  }
  if (isJsonObject(value) && isJsonObject(value.mcpServers)) return value.mcpServers;
  throw new CliError(`${place}: an object {"mcpServers": {…}} with one entry a server is needed.`);
}
