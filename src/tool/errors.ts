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

/** The message of anything that was thrown. Total: things can be thrown that have no text. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return 'something was thrown that has no message';
  }
}

/** The `code` of a Node system error (`ENOENT`, …), or undefined. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
