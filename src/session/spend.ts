import type { Usage } from '../messages/types.js';
import type { SessionLimits } from './services.js';
import type { SessionUsage } from './updates.js';

/** US dollars for a million tokens of a model. */
export interface ModelPrice {
  /** For input tokens that no cache served. */
  readonly input: number;
  /** For output tokens, thinking included. */
  readonly output: number;
  /** Default: a tenth of `input`. */
  readonly cacheRead?: number;
  /** Default: one and a quarter of `input`. */
  readonly cacheWrite?: number;
}
/** Prices by model id, or by the beginning of one; the longest that fits counts. */
export type Prices = Readonly<Record<string, ModelPrice>>;

/** What a session and all its subagents have used. One object for the whole family, so that a budget binds all of it. */
export interface Spend {
  tokens: number;
  usd: number;
}

/** A session's usage with that of one more request. */
export function countUsage(before: SessionUsage, usage: Usage): SessionUsage {
  return {
    inputTokens: before.inputTokens + (usage.input_tokens ?? 0),
    outputTokens: before.outputTokens + (usage.output_tokens ?? 0),
    cacheReadTokens: before.cacheReadTokens + (usage.cache_read_input_tokens ?? 0),
    cacheCreationTokens: before.cacheCreationTokens + (usage.cache_creation_input_tokens ?? 0),
    requests: before.requests + 1,
  };
}

export const sumUsage = (a: SessionUsage, b: SessionUsage): SessionUsage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
  cacheCreationTokens: a.cacheCreationTokens + b.cacheCreationTokens,
  requests: a.requests + b.requests,
});

/** Adds a request's usage. Cache reads count for money, not for the token budget. */
export function addSpend(spend: Spend, usage: Usage, model: string, prices: Prices): void {
  const input = usage.input_tokens ?? 0;
  const output = usage.output_tokens ?? 0;
  const cacheWrite = usage.cache_creation_input_tokens ?? 0;
  const cacheRead = usage.cache_read_input_tokens ?? 0;
  spend.tokens += input + output + cacheWrite;
  const price = priceOf(model, prices);
  if (!price) return;
  const dollars =
    input * price.input +
    output * price.output +
    cacheRead * (price.cacheRead ?? price.input * 0.1) +
    cacheWrite * (price.cacheWrite ?? price.input * 1.25);
  spend.usd += dollars / 1_000_000;
}

/** Why no further request may be made, or undefined. */
export function overBudget({ tokens, usd }: Spend, { maxBudgetTokens, maxBudgetUsd }: SessionLimits): string | undefined {
  if (maxBudgetTokens !== undefined && tokens >= maxBudgetTokens) return `the budget of ${maxBudgetTokens} tokens is used up (${tokens})`;
  if (maxBudgetUsd !== undefined && usd >= maxBudgetUsd) return `the budget of $${maxBudgetUsd} is used up ($${usd.toFixed(4)})`;
  return undefined;
}

/** What is to be said of a budget in dollars that nothing is counted against. */
export function unpricedBudget(model: string, prices: Prices, maxBudgetUsd: number | undefined): readonly string[] {
  if (maxBudgetUsd === undefined || priceOf(model, prices)) return [];
  return [`The budget of $${maxBudgetUsd} has no effect: \`prices\` has none for ${model}.`];
}

function priceOf(model: string, prices: Prices): ModelPrice | undefined {
  const fitting = Object.keys(prices).filter((name) => model.startsWith(name));
  const best = fitting.sort((a, b) => b.length - a.length)[0];
  return best === undefined ? undefined : prices[best];
}
