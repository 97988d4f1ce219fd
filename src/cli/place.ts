import { readdirSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { defaultDataDir } from '../messages/paths.js';
import type { SessionSummary } from '../messages/sessions.js';
import { listSessions } from '../session/stored.js';
import { CliError } from './failure.js';
import { reasonOf } from './files.js';

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
export function placeOf({ cwd, dataDir }: { readonly cwd?: string | undefined; readonly dataDir?: string | undefined }): Place {
  return { cwd: directoryOf('--cwd', cwd), dataDir: dataDir === undefined ? defaultDataDir() : resolve(dataDir) };
}

/** The directory that an option names, or the current one. Throws when it is none. */
export function directoryOf(flag: string, given = '.'): string {
  const directory = resolve(given);
  try {
    if (!statSync(directory).isDirectory()) throw new CliError(`${flag} ${given}: ${directory} is a file, not a directory.`);
    readdirSync(directory);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${flag} ${given}: ${directory} cannot be used: ${reasonOf(error)}.`);
  }
  return directory;
}

/** Sessions of a place, newest first, without those in which nothing was ever said. */
export const sessionsOf = (place: Place, everywhere = false): readonly SessionSummary[] =>
  allSessionsOf(place, everywhere).filter(({ sizeBytes }) => sizeBytes > 0);
const allSessionsOf = ({ cwd, dataDir }: Place, everywhere: boolean): readonly SessionSummary[] =>
  listSessions({ cwd, store: dataDir, everywhere });

/** A session by its id or the beginning of it. */
export function findSession(given: string, place: Place): SessionSummary {
  const all = allSessionsOf(place, false);
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
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('A whole number above 0 is needed.');
  return Number(text);
}

export const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
