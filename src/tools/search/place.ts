import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { ToolDefinition } from '../../tool/build.js';
import { ToolFailure } from '../../tool/errors.js';
import type { ToolContext } from '../../tool/types.js';
import { approvedTarget, explainMissing } from '../fs/access.js';
import { absolutePath, isInside, refusePath } from '../fs/paths.js';

/** Where a search runs. */
export interface SearchPlace {
  /** Directory to search, or that holds the file to search. */
  readonly directory: string;
  /** The one file to search, if a file was named. */
  readonly file: string | undefined;
}

/** Resolves the place of a search; default is the working directory. Refuses what a Read deny rule covers. */
export async function searchPlace(written: string | undefined, context: ToolContext): Promise<SearchPlace> {
  const target = await approvedTarget(written ?? context.cwd, 'read', context);
  const stats = await stat(target.real).catch(async (error: unknown) => {
    throw await explainMissing(error, target.asked);
  });
  if (stats.isDirectory()) return { directory: target.real, file: undefined };
  if (stats.isFile()) return { directory: path.dirname(target.real), file: target.real };
  throw new ToolFailure(`${target.asked} is neither a file nor a directory.`);
}

/** The way a found file is shown: relative to the working directory where it lies inside, absolute elsewhere. */
export function shownPath(absolute: string, cwd: string): string {
  return isInside(cwd, absolute) ? path.relative(cwd, absolute) || '.' : absolute;
}

/** Remembers for each file whether a Read deny rule covers it, since one file gives many lines. */
export function readable(context: ToolContext): (absolute: string) => boolean {
  const known = new Map<string, boolean>();
  return (absolute) => {
    const before = known.get(absolute);
    if (before !== undefined) return before;
    const allowed = context.permissions.deniesPath('read', absolute) === null;
    known.set(absolute, allowed);
    return allowed;
  };
}

/** Files with the most recently changed first; files of the same time by name. */
export async function newestFirst(files: readonly string[]): Promise<string[]> {
  const dated = await Promise.all(
    files.map(async (file) => ({
      file,
      time: await stat(file).then(
        (stats) => stats.mtimeMs,
        () => 0,
      ),
    })),
  );
  dated.sort((a, b) => b.time - a.time || (a.file < b.file ? -1 : 1));
  return dated.map(({ file }) => file);
}

/** What both search tools are, and how they treat the place they are given. */
export const searchTraits = <Input extends { readonly pattern: string; readonly path?: string | undefined }>(name: string) =>
  ({
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    isDestructive: () => false,
    idempotent: true,
    interruptBehavior: 'cancel',
    backfillObservableInput: (input, cwd) => (input.path === undefined ? input : { ...input, path: absolutePath(input.path, cwd) }),
    toAutoClassifierInput: ({ pattern }) => `${name} ${pattern}`,
    validateInput({ path: given }) {
      const refusal = given === undefined ? undefined : refusePath(given);
      return refusal === undefined ? { ok: true } : { ok: false, message: refusal };
    },
    renderToolUseMessage: ({ pattern, path: given }) => ({ title: `${name} ${pattern}`, ...(given === undefined ? {} : { body: given }) }),
  }) satisfies Partial<ToolDefinition<Input, unknown>>;
