import { lstat, readlink, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { errorCode, ToolFailure } from '../../tool/errors.js';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The absolute, normalised form of a path as a model writes it: `~` is the home directory, anything relative starts at `cwd`.
 * Pure; links are not followed. Does not throw, so that rules and hooks can look at any input; `refusePath` does.
 */
export function absolutePath(written: string, cwd: string, env: Env = process.env): string {
  const home = env.HOME ?? homedir();
  const expanded = written === '~' ? home : written.startsWith('~/') ? path.join(home, written.slice(2)) : written;
  return path.resolve(cwd, expanded);
}

/** Why a path is refused whatever it leads to; undefined for an ordinary one. */
export function refusePath(written: string): string | undefined {
  if (written.trim() === '') return 'The path is empty.';
  if (written.includes('\0')) return 'The path holds a NUL character.';
  // Opening a UNC path sends the person's credentials to whichever host it names.
  if (written.startsWith('\\\\') || (process.platform === 'win32' && written.startsWith('//'))) {
    return `${written} is a network (UNC) path, which file tools do not open.`;
  }
  return undefined;
}

const MAX_LINKS = 40;

/**
 * Where an absolute path leads: every link followed, also a last one that dangles. What does not exist yet is appended to its
 * nearest existing ancestor. A loop of links is an error.
 */
export async function resolveTarget(absolute: string, links = 0): Promise<string> {
  if (links > MAX_LINKS) throw new ToolFailure(`${absolute} is part of a loop of symbolic links.`);
  try {
    return await realpath(absolute);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ELOOP') throw new ToolFailure(`${absolute} is part of a loop of symbolic links.`);
    if (code === 'ENOTDIR') throw new ToolFailure(`${absolute}: a part of the path is a file, not a directory.`);
    if (code === 'EACCES') throw new ToolFailure(`${absolute}: the operating system denies access.`);
    if (code === 'ENAMETOOLONG') throw new ToolFailure(`${absolute}: the name is too long.`);
    if (code !== 'ENOENT') throw error;
  }
  const parent = path.dirname(absolute);
  if (parent === absolute) return absolute;
  const realParent = await resolveTarget(parent, links);
  const here = path.join(realParent, path.basename(absolute));
  const stats = await lstat(here).catch(() => undefined);
  if (stats?.isSymbolicLink() !== true) return here;
  return resolveTarget(path.resolve(realParent, await readlink(here)), links + 1);
}

/** True when `candidate` is `directory` or lies inside it. Both absolute. */
export function isInside(directory: string, candidate: string): boolean {
  const relative = path.relative(directory, candidate);
  return relative === '' || (!relative.startsWith(`..${path.sep}`) && relative !== '..' && !path.isAbsolute(relative));
}
