import { posix } from 'node:path';
import type { PathFs } from './paths.js';
import { wildcard } from './wildcard.js';

const MAX_EXPANSION = 2_000;

/** The files that a glob stands for now. `pattern` is absolute. */
export function expandGlob(pattern: string, fs: PathFs): string[] {
  let found = ['/'];
  for (const segment of pattern.split('/').filter((part) => part !== '')) {
    if (!/[*?[]/.test(segment)) {
      found = found.map((directory) => posix.join(directory, segment));
      continue;
    }
    const matcher = segmentMatcher(segment);
    found = found.flatMap((directory) =>
      fs
        .readdir(directory)
        .filter((name) => matcher(name))
        .map((name) => posix.join(directory, name)),
    );
    if (found.length > MAX_EXPANSION) return found.slice(0, MAX_EXPANSION);
  }
  return found;
}

/** `*` and `?` as the shell reads them; a bracket matches any one character here, which only errs to the strict side. */
function segmentMatcher(segment: string): (name: string) => boolean {
  const loose = segment.replace(/\[[^\]]*\]|\?/g, '\u0001');
  const pattern = new RegExp(wildcard(loose).source.replaceAll('\u0001', '.'), 's');
  return (name) => pattern.test(name) && (segment.startsWith('.') || !name.startsWith('.'));
}
