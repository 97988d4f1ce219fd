import type { ModelError } from './types.js';

/** When a request that failed is sent again, while nothing complete has arrived. */
export interface RetryPolicy {
  /** How many times a request may be asked again. Default 10, at most 15 (`CLAUDE_CODE_MAX_RETRIES`). */
  readonly maxRetries: number;
  /** Delay before the first retry, in milliseconds; doubles with each. Default 500. */
  readonly baseMs: number;
  /** Longest delay of our own making, in milliseconds. Default 32 000. */
  readonly capMs: number;
  /** Longest `retry-after` that is waited for, in milliseconds; a longer one is not worth a retry. Default 15 minutes. */
  readonly longestRetryAfterMs: number;
  /** Spreads clients that failed together: a number in [0, 1). The delay shrinks by up to a quarter. Default: none, so that delays are predictable. */
  readonly jitter?: () => number;
}

export const defaultRetryPolicy: RetryPolicy = { maxRetries: 10, baseMs: 500, capMs: 32_000, longestRetryAfterMs: 900_000 };

/** The policy with `CLAUDE_CODE_MAX_RETRIES` applied. Source: Claude Code docs, "Environment variables". */
export function retryPolicyFrom(env: Readonly<Record<string, string | undefined>>): RetryPolicy {
  const text = env.CLAUDE_CODE_MAX_RETRIES?.trim() ?? '';
  return /^\d+$/.test(text) ? { ...defaultRetryPolicy, maxRetries: Math.min(15, Number(text)) } : defaultRetryPolicy;
}

/**
 * Milliseconds to wait before retry number `attempt` (1 for the first). `retry-after` wins over the exponential delay, except that
 * a zero one does not: asking again at once is what overloaded servers need least.
 */
export function retryDelay(attempt: number, error: Pick<ModelError, 'retryAfterMs'>, policy: RetryPolicy = defaultRetryPolicy): number {
  if (error.retryAfterMs !== undefined && error.retryAfterMs > 0) return Math.min(error.retryAfterMs, policy.longestRetryAfterMs);
  // The exponent is bounded before it is used: 2 ** 2000 is Infinity, and Infinity * 0 is not a delay.
  const delay = Math.min(policy.capMs, policy.baseMs * 2 ** Math.min(30, Math.max(0, attempt - 1)));
  return Math.round(delay * (1 - 0.25 * (policy.jitter?.() ?? 0)));
}

/** Whether the API says to come back no later than anybody waits. */
export const comesBackInTime = ({ retryAfterMs = 0 }: Pick<ModelError, 'retryAfterMs'>, policy: RetryPolicy): boolean =>
  retryAfterMs <= policy.longestRetryAfterMs;

/**
 * Whether retry number `attempt` may be made. Only the error is judged here: that nothing complete has arrived yet (a retry would
 * otherwise run tools twice) is the turn's to know.
 */
export function isRetryable(error: ModelError, attempt: number, policy: RetryPolicy = defaultRetryPolicy): boolean {
  return error.retryable && attempt <= policy.maxRetries && comesBackInTime(error, policy);
}
