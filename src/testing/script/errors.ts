/** A mistake in a script, or a script that was not played as written. The message names the turn and the step, both counted from 1. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError';
}
