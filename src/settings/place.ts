import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Where a person's own files are. */
export interface UserPlace {
  /** Home directory, absolute. */
  readonly home: string;
  /** Directory of the person's settings and agents, absolute: `<home>/.claude` unless `CLAUDE_CONFIG_DIR` moves it. */
  readonly configDir: string;
}

/** Where the settings of a home are, unless they are moved. */
export const configDirIn = (home: string): string => join(home, '.claude');

/** The person's directories. A home that is given stands for itself; the environment moves only the real one (Claude Code docs, settings). */
export function userPlace(home: string | undefined, env: Readonly<Record<string, string | undefined>> = process.env): UserPlace {
  if (home !== undefined) return { home: resolve(home), configDir: configDirIn(resolve(home)) };
  const moved = env.CLAUDE_CONFIG_DIR?.trim() ?? '';
  return { home: homedir(), configDir: moved === '' ? configDirIn(homedir()) : resolve(moved) };
}
