import type { QueryLimits } from '../../machines/query.js';
import { stopHookBlockCap } from '../hooks/limits.js';
import type { SessionLimitOptions } from './options.js';
import type { SessionLimits } from './services.js';

type Env = Readonly<Record<string, string | undefined>>;

const DEFAULT_CONCURRENCY = 10;
const DEFAULT_GRACE_MS = 5_000;
const DEFAULT_MAX_TURNS = 1_000;
/** `pause_turn` answers that are continued in a row. */
const MAX_PAUSES = 10;
const DEFAULT_COMPACT_AT = 160_000;
const DEFAULT_AGENT_DEPTH = 3;
const DEFAULT_RUNNING_AGENTS = 20;

/** Options before environment before defaults. Source of the names: Claude Code docs, "Environment variables". */
export function sessionLimits(options: SessionLimitOptions, env: Env): SessionLimits {
  const compactAt = options.compactAtTokens ?? DEFAULT_COMPACT_AT;
  return {
    maxConcurrency:
      options.maxConcurrency ??
      count(env.SIXGATES_MAX_TOOL_USE_CONCURRENCY) ??
      count(env.CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY) ??
      DEFAULT_CONCURRENCY,
    eager: options.eager ?? 'all',
    graceMs: options.graceMs ?? DEFAULT_GRACE_MS,
    toolTimeoutMs: options.toolTimeoutMs,
    maxBudgetTokens: options.maxBudgetTokens,
    maxBudgetUsd: options.maxBudgetUsd,
    compactAtTokens: compactAt > 0 ? compactAt : undefined,
  };
}

export interface AgentLimits {
  /** Agents may start agents this deep. */
  readonly maxDepth: number;
  /** Agents of one main session that may run at once, at all depths together. */
  readonly maxRunning: number;
}

/** How many subagents a session may have (Claude Code docs, subagents and environment variables). */
export function agentLimits(env: Env): AgentLimits {
  return {
    maxDepth: count(env.CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH) ?? DEFAULT_AGENT_DEPTH,
    maxRunning: count(env.CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS) ?? DEFAULT_RUNNING_AGENTS,
  };
}

/** How far each query of a session may go. */
export function queryLimits({ maxTurns = DEFAULT_MAX_TURNS, maxStopRounds }: SessionLimitOptions, env: Env): QueryLimits {
  const rounds = maxStopRounds ?? stopHookBlockCap(env);
  // Infinity is no JSON; 0 stands for it in the machine.
  return { maxTurns, maxStopRounds: Number.isFinite(rounds) ? rounds : 0, maxPauses: MAX_PAUSES };
}

/** A positive whole number; anything else counts as not set. */
function count(text: string | undefined): number | undefined {
  const value = text?.trim() ?? '';
  return /^[1-9]\d*$/.test(value) ? Number(value) : undefined;
}
