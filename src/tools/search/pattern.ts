import { absolutePath } from '../fs/paths.js';

/** The directory that a glob pattern itself names, and what of it is left to match below. */
export interface RootedPattern {
  /** The directory as written: absolute, from home, or upwards from where the search starts. */
  readonly root: string;
  readonly pattern: string;
  /** The directory, or where nothing is wild the very file, that the pattern names. */
  readonly named: string;
}

/**
 * Parts a glob pattern that leaves the place it is searched from: an absolute one, one from home, one that climbs (`../*.ts`), none of
 * which the matcher would find anything for. Undefined for a pattern that stays below.
 */
export function rootedPattern(written: string): RootedPattern | undefined {
  const pattern = written.replace(/^(?:\.\/)+/, '');
  const parts = pattern.split('/');
  const wild = parts.findIndex((part) => /[*?[{]/.test(part));
  const fixed = parts.slice(0, wild === -1 ? undefined : wild);
  if (!/^(?:\/|~\/)/.test(pattern) && !fixed.includes('..')) return undefined;
  const above = wild === -1 ? fixed.slice(0, -1) : fixed;
  const joined = (list: readonly string[]): string => list.join('/') || '/';
  return { root: joined(above), pattern: `/${parts.slice(above.length).join('/')}`, named: joined(fixed) };
}

/** A pattern of more than one line also for files whose lines end with CRLF: each line feed outside a class takes the CR before it. */
export function acrossLineEnds(pattern: string): string {
  // In verbose mode white space means nothing.
  if (/\(\?[a-z]*x/.test(pattern)) return pattern;
  // Classes nest, and a bracket that closes stands for itself right after the one that opens.
  let depth = 0;
  return pattern.replaceAll(/\\[\s\S]|\[\^?\]?|[\]\n]/g, (token) => {
    if (token.startsWith('[')) depth++;
    else if (token === ']') depth = Math.max(0, depth - 1);
    return (token === '\n' || token === '\\n') && depth === 0 ? '(?:\\r?\\n)' : token;
  });
}

/** `path` made absolute from `cwd`, and a pattern's root from there. */
export const rootFrom = (root: string, path: string | undefined, cwd: string, env?: Parameters<typeof absolutePath>[2]): string =>
  absolutePath(root, path === undefined || path === '' ? cwd : absolutePath(path, cwd, env), env);

/** The globs of a list: parted by white space, or by commas where each part is a pattern; what stands in braces stays together. */
export function globsOf(list: string): readonly string[] {
  const together = list.replaceAll(/\{[^{}]*\}/g, (braces) => braces.replaceAll(/\s+/g, ''));
  return together
    .split(/\s+/)
    .flatMap((glob) => {
      const parts = glob.match(/(?:\{[^{}]*\}|[^,])+/g) ?? [];
      return parts.every((part) => part.includes('*')) ? parts : [glob];
    })
    .filter(Boolean);
}

export const globArguments = (globs: readonly string[]): string[] => globs.flatMap((glob) => ['--glob', glob]);
