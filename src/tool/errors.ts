/**
 * A failure that a tool expects and can explain: a missing file, an ambiguous match, a refused path.
 * The message is written for the model; the runtime sends it as the text of an `is_error` result and never adds a stack trace.
 */
export class ToolFailure extends Error {
  /** Names the class, for what crosses a process or a copy of this package. */
  override readonly name = 'ToolFailure';
}

/**
 * A call that ended because its signal fired. Thrown after everything the call started has ended, or after the tool has
 * tried as hard as it can; `partialOutput` is what there was by then, for the text of the result.
 */
export class ToolAbortedError extends Error {
  /** The name that the platform's own aborts carry. */
  override readonly name = 'AbortError';
  /** What there was by then; empty for nothing. */
  readonly partialOutput: string;

  constructor(message: string, partialOutput = '') {
    super(message);
    this.partialOutput = partialOutput;
  }
}

/** A tool that cannot be sent to the model. The pool leaves the tool out and says why. */
export class ToolSchemaError extends Error {
  override readonly name = 'ToolSchemaError';
}

/** Throws `ToolAbortedError` when the signal has fired. */
export function throwIfAborted(signal: AbortSignal, partialOutput = ''): void {
  if (signal.aborted) throw new ToolAbortedError(`The call was stopped (${String(signal.reason)}).`, partialOutput);
}

const NO_WORDS = 'something was thrown that has no message';

/**
 * The message of anything that was thrown, never empty. Total: things can be thrown that have no text. An error without words of its own (a
 * refused connection is an AggregateError with none) speaks with those of its cause or its parts; so does `fetch failed`.
 */
export function messageOf(error: unknown): string {
  try {
    return wordsOf(error, 0);
  } catch {
    return NO_WORDS;
  }
}

/** Chains of causes can be cyclic. */
const MAX_CAUSES = 3;

function wordsOf(error: unknown, depth: number): string {
  if (error instanceof Error) {
    const message = String(error.message);
    if (message.trim() !== '' && message !== 'fetch failed') return message;
    const reasons = depth < MAX_CAUSES ? reasonsBehind(error).map((reason) => wordsOf(reason, depth + 1)) : [];
    const why = [...new Set(reasons)].slice(0, MAX_CAUSES).join('; ');
    if (message.trim() !== '') return why === '' ? message : `${message}: ${why}`;
    return why || errorCode(error) || (error.name === 'Error' ? NO_WORDS : error.name);
  }
  if (typeof error === 'object' && error !== null && Object.getPrototypeOf(error) !== null) {
    if ('message' in error && typeof error.message === 'string' && error.message.trim() !== '') return error.message;
    const json = JSON.stringify(error);
    if (json !== undefined && json !== '{}') return json;
  }
  const text = String(error ?? '');
  return text.trim() === '' ? NO_WORDS : text;
}

function reasonsBehind(error: Error): readonly unknown[] {
  if (error instanceof AggregateError) return error.errors;
  return error.cause === undefined ? [] : [error.cause];
}

/** The `code` of a Node system error (`ENOENT`, …), or undefined. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
