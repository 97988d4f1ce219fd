/** A mistake in a script, or a script that was not played as written. The message names the turn and the step, both counted from 1. */
export class ScriptError extends Error {
  /** Names the class, for what crosses a copy of this package. */
  override readonly name = 'ScriptError';
}
