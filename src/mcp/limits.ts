import { MAX_TIMER_MS } from '../model/clock.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Times in milliseconds, sizes in characters. Names and defaults: Claude Code docs, "Environment variables" and "MCP". */
export interface McpLimits {
  /** For a server to start, answer `initialize` and list its tools (`MCP_TIMEOUT`). Default 30 s. */
  readonly connectMs: number;
  /** For one call (`MCP_TOOL_TIMEOUT`). Default 100,000 s. */
  readonly toolMs: number;
  /** Between two signs of life of a call (`CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT`, 0 for none). Default 5 min over a network, 30 min over stdio. */
  readonly idleMs: { readonly network: number | undefined; readonly stdio: number | undefined };
  /** Beyond it a result is saved to a file (`MAX_MCP_OUTPUT_TOKENS`, two characters a token). Default 50,000. */
  readonly resultChars: number;
}

const MINUTE = 60_000;
const CHARS_PER_TOKEN = 2;

export function mcpLimits(env: Env): McpLimits {
  const idle = wholeNumber(env.CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT);
  const idleOr = (fallback: number) => (idle === undefined ? fallback : idle === 0 ? undefined : idle);
  return {
    connectMs: positive(env.MCP_TIMEOUT) ?? 30_000,
    toolMs: Math.min(positive(env.MCP_TOOL_TIMEOUT) ?? 100_000_000, MAX_TIMER_MS),
    idleMs: { network: idleOr(5 * MINUTE), stdio: idleOr(30 * MINUTE) },
    resultChars: (positive(env.MAX_MCP_OUTPUT_TOKENS) ?? 25_000) * CHARS_PER_TOKEN,
  };
}

/** Longest a result of one tool may be made by the server's own word (Claude Code docs, MCP). */
export const MAX_RESULT_CHARS = 500_000;
/** Characters of a tool's description or a server's instructions that the model is given (Claude Code docs, MCP). */
export const MAX_DESCRIPTION_CHARS = 2_048;
/** Pages of one listing, and entries of all of them: a server that never ends must not fill the memory. */
export const MAX_PAGES = 100;
export const MAX_LISTED = 5_000;
/** Levels of objects and arrays in a tool's schema: whatever walks it must not run out of stack. */
export const MAX_NESTING = 500;
/** Losses of a connection in a row that are answered by connecting again; the first after a second, each later one after twice the time. */
export const MAX_RECONNECTS = 5;
export const FIRST_RECONNECT_MS = 1_000;
/** Time in which notices of a changed list become one new listing. */
export const COALESCE_MS = 50;

/** Anything else counts as not set. */
function wholeNumber(text: string | undefined): number | undefined {
  const value = text?.trim() ?? '';
  return /^\d+$/.test(value) ? Number(value) : undefined;
}
function positive(text: string | undefined): number | undefined {
  const value = wholeNumber(text);
  return value === 0 ? undefined : value;
}
