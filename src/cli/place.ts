import { readdirSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { defaultDataDir } from '../messages/paths.js';
import type { SessionSummary } from '../messages/sessions.js';
import { listSessions } from '../session/stored.js';
import { CliError, messageOf } from './failure.js';

/** Which project a command speaks of, and where its sessions are kept. */
export interface Place {
  readonly cwd: string;
  readonly dataDir: string;
}

export function addPlaceOptions(command: Command): Command {
  return command
    .option('--cwd <dir>', 'working directory: the project (default: the current one)')
    .option('--data-dir <dir>', 'where sessions are kept (default: SIXGATES_DATA_DIR, ~/.sixgates)');
}

/** The place that options name. Throws when the working directory is none. */
export function placeOf({ cwd = '.', dataDir }: { readonly cwd?: string | undefined; readonly dataDir?: string | undefined }): Place {
  const directory = resolve(cwd);
  try {
    if (!statSync(directory).isDirectory()) throw new CliError(`--cwd ${cwd}: ${directory} is a file, not a directory.`);
    readdirSync(directory);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`--cwd ${cwd}: ${directory} cannot be used: ${messageOf(error)}`);
  }
  return { cwd: directory, dataDir: dataDir === undefined ? defaultDataDir() : resolve(dataDir) };
}

/** Sessions of a place, newest first. */
export const sessionsOf = ({ cwd, dataDir }: Place, everywhere = false): readonly SessionSummary[] =>
  listSessions({ cwd, store: dataDir, everywhere });

/** A session by its id or the beginning of it. */
export function findSession(given: string, place: Place): SessionSummary {
  const all = sessionsOf(place);
  const exact = all.find(({ sessionId }) => sessionId === given);
  const alike = exact ? [exact] : all.filter(({ sessionId }) => given.length >= 4 && sessionId.startsWith(given));
  const [found, ...others] = alike;
  if (found && others.length === 0) return found;
  if (found)
    throw new CliError(`${given} is the beginning of ${alike.length} sessions: ${alike.map(({ sessionId }) => sessionId).join(', ')}.`);
  throw new CliError(
    `There is no session ${given} of ${place.cwd} under ${place.dataDir}. \`sixgates sessions\` lists what can be resumed.`,
  );
}

export function wholeNumber(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('a whole number above 0 is needed.');
  return Number(text);
}

export const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
