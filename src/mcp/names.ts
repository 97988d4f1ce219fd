import { createHash } from 'node:crypto';
import type { McpIdentity } from '../permissions/mcpRules.js';

/** Longest tool name that the Messages API takes (Claude API docs, "Define tools"). */
const MAX_TOOL_NAME = 64;

const HASH_LENGTH = 10;
const LOOKS_HASHED = new RegExp(`_[0-9a-f]{${HASH_LENGTH}}$`);

/** A name as the Messages API takes it, one `_` for each character that it does not (Claude Code docs, MCP). */
const normalizeMcpName = (name: string): string => name.replace(/[^A-Za-z0-9_-]/gu, '_');

/** The full name, whatever its length: what permission rules and hooks see. */
export const canonicalMcpName = ({ server, tool }: McpIdentity): string => `mcp__${normalizeMcpName(server)}__${normalizeMcpName(tool)}`;

/**
 * The name that is sent to the model: `mcp__server__tool`, within `limit` characters of `[A-Za-z0-9_-]`. A pure function of server
 * and tool, so that it is the same in every session, and injective: where the plain form was cut, had characters replaced or could
 * be read as another server's tool, a hash of the exact names ends it, and no plain form ends like that.
 */
export function mcpToolName(identity: McpIdentity, limit: number = MAX_TOOL_NAME): string {
  const plain = canonicalMcpName(identity);
  if (
    plain.length <= limit &&
    plain === `mcp__${identity.server}__${identity.tool}` &&
    isUnambiguous(identity) &&
    !LOOKS_HASHED.test(plain)
  )
    return plain;
  const hash = createHash('sha256')
    .update(JSON.stringify([identity.server, identity.tool]))
    .digest('hex')
    .slice(0, HASH_LENGTH);
  return `${plain.slice(0, limit - HASH_LENGTH - 1)}_${hash}`;
}

/** The first `__` behind the prefix ends the server's name: then no other pair joins to the same text. */
const isUnambiguous = ({ server }: McpIdentity): boolean => server !== '' && !server.includes('__') && !server.endsWith('_');
