/**
 * How the process ends: 0 answered, 1 failed, 2 could not begin (wrong usage, file, directory or session), 3 ended by a limit, a hook or a
 * refusal, 129, 130 and 143 by a signal.
 */
export type ExitCode = 0 | 1 | 2 | 3 | 129 | 130 | 143;

/** Something the person can put right; its message says how. Shown without a stack. */
export class CliError extends Error {
  override readonly name = 'CliError';
  constructor(
    message: string,
    readonly exitCode: ExitCode = 2,
  ) {
    super(message);
  }
}

export const EXIT_CODES = `
Exit codes: 0 answered, 1 failed, 2 could not begin (wrong usage, file, directory or session),
3 ended by a limit, a hook or a refusal, 130 interrupted.`;

export { messageOf } from '../tool/errors.js';
