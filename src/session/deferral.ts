import { createHash } from 'node:crypto';
import { toolInputJSONSchema } from '../tool/index.js';
import type { AnyTool } from '../tool/types.js';

/** When tools are announced by name only, to be loaded by a search. */
export type DeferralMode =
  /** Never: every tool is sent in full. */
  | { readonly kind: 'off' }
  /** Every tool of an MCP server, and those that ask for it. */
  | { readonly kind: 'all' }
  /** Those that ask for it; tools of MCP servers where their definitions together take more than this share of the context window. */
  | { readonly kind: 'share'; readonly percent: number };

const DEFAULT_PERCENT = 10;
const CONTEXT_TOKENS = 200_000;
const CHARS_PER_TOKEN = 4;

/**
 * Reads `ENABLE_TOOL_SEARCH` (Claude Code docs, environment variables): `false`, `true`, `auto`, `auto:N`. Not set means `auto`: while
 * all definitions fit, a search would only cost a request.
 */
export function deferralMode(env: Readonly<Record<string, string | undefined>>): DeferralMode {
  const text = (env.ENABLE_TOOL_SEARCH ?? '').trim().toLowerCase();
  if (['false', '0', 'no', 'off'].includes(text)) return { kind: 'off' };
  if (['true', '1', 'yes', 'on'].includes(text)) return { kind: 'all' };
  const percent = /^auto:(\d{1,3})$/.exec(text)?.[1];
  return { kind: 'share', percent: percent === undefined ? DEFAULT_PERCENT : Math.min(Number(percent), 100) };
}

/** Names of the tools that this mode defers, before anything is known of what the model has been given. */
export function deferredNames(tools: readonly AnyTool[], mode: DeferralMode): ReadonlySet<string> {
  if (mode.kind === 'off') return new Set();
  const ofServers = tools.filter((tool) => tool.mcp !== undefined && tool.mcp.alwaysLoad !== true);
  const budget = mode.kind === 'share' ? (CONTEXT_TOKENS * CHARS_PER_TOKEN * mode.percent) / 100 : 0;
  const size = ofServers.reduce((sum, tool) => sum + sizeOf(tool), 0);
  const deferred = mode.kind === 'all' || size > budget ? ofServers : [];
  return new Set([...deferred, ...tools.filter((tool) => tool.shouldDefer)].map((tool) => tool.name));
}

const sizeOf = (tool: AnyTool): number => tool.name.length + tool.prompt().length + JSON.stringify(toolInputJSONSchema(tool)).length;

const digests = new WeakMap<AnyTool, string>();

/** Tells whether a schema that the model was given is still the tool's. */
export function schemaDigest(tool: AnyTool): string {
  const known = digests.get(tool);
  if (known !== undefined) return known;
  const digest = createHash('sha256')
    .update(JSON.stringify(toolInputJSONSchema(tool)))
    .digest('hex')
    .slice(0, 16);
  digests.set(tool, digest);
  return digest;
}
