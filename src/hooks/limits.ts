type Environment = Readonly<Record<string, string | undefined>>;

/** Bytes of a handler's stdout or response body that are read as an answer; more is refused, never cut. */
export const OUTPUT_CAP_BYTES = 1024 * 1024;
/** Bytes of stderr that are kept for reasons and notices. */
export const STDERR_CAP_BYTES = 64 * 1024;
/** Characters of output kept in a `HookRun`. */
export const RUN_OUTPUT_CLIP = 2_000;
/** Characters of one hook's context that go to the model as they are. */
export const CONTEXT_CAP_CHARS = 10_000;

const SESSION_END_BUDGET_MS = 1_500;
const SESSION_END_MAX_MS = 60_000;
const STOP_BLOCK_CAP = 8;

/**
 * How many times in a row Stop hooks may send a query round again. Default 8; `CLAUDE_CODE_STOP_HOOK_BLOCK_CAP` changes
 * it, and 0 lifts it (Infinity is returned). A value that is not a whole number of 0 or more counts as not set.
 */
export function stopHookBlockCap(env: Environment): number {
  const cap = wholeNumber(env.CLAUDE_CODE_STOP_HOOK_BLOCK_CAP) ?? STOP_BLOCK_CAP;
  return cap === 0 ? Number.POSITIVE_INFINITY : cap;
}

/**
 * Milliseconds that all SessionEnd hooks share: 1,500, raised by the longest `timeout` among them up to 60,000, or set by
 * `CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS`.
 */
export function sessionEndBudgetMs(env: Environment, timeoutsSeconds: readonly (number | undefined)[]): number {
  const configured = wholeNumber(env.CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS);
  if (configured !== undefined && configured > 0) return configured;
  const longest = Math.max(0, ...timeoutsSeconds.map((seconds) => (seconds ?? 0) * 1_000));
  return Math.max(SESSION_END_BUDGET_MS, Math.min(longest, SESSION_END_MAX_MS));
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text.trim()) ? Number(text.trim()) : undefined;
}

/** The head of a text, with a mark that says how much was left out. */
export function clip(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… [${text.length - max} more characters]`;
}
