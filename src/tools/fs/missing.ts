import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { closest } from '../../tool/closest.js';
import { lookalikeAmong, spelledOut } from './lookalike.js';

/**
 * What to say of a path that leads nowhere: where it stops being true, and the name that may have been meant. A name that differs only
 * in what nobody sees (macOS puts a narrow no-break space into the names of screenshots) is told with its difference.
 */
export async function missingMessage(asked: string): Promise<string> {
  const { directory, names, missing } = await deepestDirectory(asked);
  const where = path.join(directory, missing) === asked ? '' : ` There is no ${missing} in ${directory}.`;
  const message = `${asked} does not exist.${where}`;
  if (names.includes(missing))
    return `${asked} does not exist: ${path.join(directory, missing)} is a symbolic link that leads nowhere, or a directory that may not be listed.`;
  const lookalike = lookalikeAmong(names, missing);
  if (lookalike !== undefined) {
    const { found, difference } = lookalike;
    return `${message} A name there differs only in ${difference}. Give the path as ${spelledOut(path.join(directory, found))}.`;
  }
  const [near] = closest(missing, names, 1);
  return near === undefined ? message : `${message} Did you mean ${path.join(directory, near)}?`;
}

/** The part of a path that exists, what is in it, and the first name that is not. */
async function deepestDirectory(
  asked: string,
): Promise<{ readonly directory: string; readonly names: readonly string[]; readonly missing: string }> {
  for (let missing = asked; ; missing = path.dirname(missing)) {
    const directory = path.dirname(missing);
    const names = await readdir(directory).catch(() => undefined);
    if (names !== undefined || directory === missing) return { directory, names: names ?? [], missing: path.basename(missing) };
  }
}
