import { accessSync, constants, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describeProblem } from '../settings/load.js';
import type { SettingsProblem } from '../settings/types.js';
import { errorCode } from '../tool/errors.js';
import { CliError, messageOf } from './failure.js';

/** Why a file could not be read or written, without the name of the system call: the file itself is named by whoever tells. */
export function reasonOf(error: unknown): string {
  switch (errorCode(error)) {
    case 'ENOENT':
      return 'there is no such file or directory';
    case 'EEXIST':
      return 'it exists already';
    case 'EACCES':
    case 'EPERM':
      return 'permission is denied';
    case 'EROFS':
      return 'the file system is read-only';
    case 'EISDIR':
      return 'it is a directory';
    case 'ENOTDIR':
      return 'a part of its path is a file, not a directory';
    case 'ENOSPC':
      return 'the disk is full';
    default:
      return messageOf(error);
  }
}

/** Writes the file that an option names. */
export function writeNamed(flag: string, file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw unwritable(flag, file, error);
  }
}

/** Throws where a file could not be made or overwritten, before there is anything to lose. Directories on the way need not exist yet. */
export function checkWritable(flag: string, file: string): void {
  const path = resolve(file);
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory() === true) throw new CliError(`${flag} ${file} cannot be written: it is a directory.`);
    accessSync(found ? path : nearestDirectory(path), constants.W_OK);
  } catch (error) {
    throw error instanceof CliError ? error : unwritable(flag, file, error);
  }
}

const unwritable = (flag: string, file: string, error: unknown): CliError =>
  new CliError(`${flag} ${file} cannot be written: ${reasonOf(error)}.`);

function nearestDirectory(path: string): string {
  const parent = dirname(path);
  return parent === path || statSync(parent, { throwIfNoEntry: false }) ? parent : nearestDirectory(parent);
}

/** A settings file that was named must be usable whole: a deny rule in it that does not count is worse than no answer. */
export function refuseFaulty(flag: string, file: string, problems: readonly SettingsProblem[]): void {
  const errors = problems.filter((problem) => problem.severity === 'error' && problem.file === file);
  if (errors.length > 0) throw new CliError(`${flag}: ${[...new Set(errors.map(describeProblem))].join('\n')}`);
}
