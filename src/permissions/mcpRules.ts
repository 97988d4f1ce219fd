import type { RuleBehavior } from './types.js';
import { wildcard } from './wildcard.js';

/** A tool of an MCP server. Where the server is known, it is never parsed back out of the name. */
export interface McpIdentity {
  /** The server's name, as it was declared. */
  readonly server: string;
  /** The tool's name, as its server lists it. */
  readonly tool: string;
}

const normalised = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, '_');

/**
 * Whether a rule `mcp__<rest>` speaks of a tool. `mcp__server` and `mcp__server__*` mean all tools of a server. A name that
 * holds `__` itself reads in several ways: an allow rule must cover every reading, a deny or ask rule one.
 */
export function mcpRuleMatches(
  rest: string,
  behavior: RuleBehavior,
  toolName: string,
  identity: McpIdentity | undefined,
  otherServers: readonly string[],
): boolean {
  if (identity !== undefined) {
    const server = normalised(identity.server);
    if (!speaksOf(rest, { server, tool: normalised(identity.tool) })) return false;
    const isTakenByAnother = otherServers.some((other) => normalised(other) !== server && rest.startsWith(`${normalised(other)}__`));
    return behavior !== 'allow' || !isTakenByAnother || rest.startsWith(`${server}__`);
  }
  if (!toolName.startsWith('mcp__')) return false;
  const readings = readingsOf(toolName.slice('mcp__'.length));
  if (behavior !== 'allow') return readings.some((reading) => speaksOf(rest, reading));
  return readings.length > 0 && readings.every((reading) => speaksOf(rest, reading));
}

function speaksOf(rest: string, { server, tool }: McpIdentity): boolean {
  if (rest === server) return true;
  return rest.startsWith(`${server}__`) && wildcard(rest.slice(server.length + 2)).test(tool);
}

/** Every split of `a__b__c` into server and tool. */
function readingsOf(name: string): McpIdentity[] {
  const readings: McpIdentity[] = [];
  for (let at = name.indexOf('__', 1); at !== -1 && at + 2 < name.length; at = name.indexOf('__', at + 1)) {
    readings.push({ server: name.slice(0, at), tool: name.slice(at + 2) });
  }
  return readings;
}
