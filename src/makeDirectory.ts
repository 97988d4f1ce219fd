import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/*
 * A directory with all that it lies in. Not `recursive: true`: where a directory exists in which none can be made (`/proc`), that goes up
 * and down for ever, and takes the thread with it. Here each directory on the way is tried twice at most.
 */

type Mkdir = (path: string, options: { readonly mode?: number }) => unknown;

/** Throws the error of the first directory that could not be made. `mode` is that of the new ones; default what the process sets. */
export function makeDirectorySync(path: string, mode?: number, make: Mkdir = mkdirSync): void {
  const options = mode === undefined ? {} : { mode };
  const attempt = (): NodeJS.ErrnoException | undefined => {
    try {
      make(path, options);
      return undefined;
    } catch (error) {
      if (isDirectorySync(path)) return undefined;
      return asErrno(error);
    }
  };
  const first = attempt();
  if (first === undefined) return;
  if (first.code !== 'ENOENT' || dirname(path) === path) throw first;
  makeDirectorySync(dirname(path), mode, make);
  const second = attempt();
  if (second !== undefined) throw second;
}

/** The same without blocking. */
export async function makeDirectory(path: string, mode?: number): Promise<void> {
  const options = mode === undefined ? {} : { mode };
  const attempt = async (): Promise<NodeJS.ErrnoException | undefined> => {
    try {
      await mkdir(path, options);
      return undefined;
    } catch (error) {
      const isThere = await stat(path).then(
        (stats) => stats.isDirectory(),
        () => false,
      );
      return isThere ? undefined : asErrno(error);
    }
  };
  const first = await attempt();
  if (first === undefined) return;
  if (first.code !== 'ENOENT' || dirname(path) === path) throw first;
  await makeDirectory(dirname(path), mode);
  const second = await attempt();
  if (second !== undefined) throw second;
}

function isDirectorySync(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

const asErrno = (error: unknown): NodeJS.ErrnoException => (error instanceof Error ? error : new Error(String(error)));
