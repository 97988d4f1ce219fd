import { type ShellDirectories, UNKNOWN } from './types.js';

const MAX_DIRECTORIES = 8;

export const START: ShellDirectories = { paths: [''], unknown: false };

/** A path below a directory, both as the text has them; absolute and home paths stand alone. */
export function joinPath(directory: string, path: string): string {
  if (path.startsWith('/') || path.startsWith('~') || directory === '') return tidy(path);
  return tidy(`${directory}/${path}`);
}

/** Lexical clean-up: `a/./b/../c` is `a/c`; a leading `..` stays. */
function tidy(path: string): string {
  const absolute = path.startsWith('/');
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    const last = parts.at(-1);
    if (part === '..' && last !== undefined && last !== '..' && !last.startsWith('~')) parts.pop();
    else if (part !== '..' || !absolute) parts.push(part);
  }
  return (absolute ? '/' : '') + parts.join('/');
}

export function sameDirectories(left: ShellDirectories, right: ShellDirectories): boolean {
  return (
    left.unknown === right.unknown && left.paths.length === right.paths.length && left.paths.every((path) => right.paths.includes(path))
  );
}

export function union(left: ShellDirectories, right: ShellDirectories): ShellDirectories {
  if (left === right) return left;
  const paths = [...new Set([...left.paths, ...right.paths])];
  return { paths: paths.slice(0, MAX_DIRECTORIES), unknown: left.unknown || right.unknown || paths.length > MAX_DIRECTORIES };
}

/** Where a `cd`, `pushd` or `popd` leads; null when the words are none of these. */
export function changeDirectory(from: ShellDirectories, reading: readonly string[], cwd: string | undefined): ShellDirectories | null {
  const at = reading[0] === 'command' || reading[0] === 'builtin' ? 1 : 0;
  const name = reading[at];
  if (name === 'popd') return { paths: from.paths, unknown: true };
  if (name !== 'cd' && name !== 'pushd' && name !== 'chdir') return null;
  const operands = reading.slice(at + 1).filter((arg) => !/^-[LPe@n]+$|^--$/.test(arg));
  const target = operands[0] ?? '~';
  if (target === '-' || target.includes(UNKNOWN) || /^[-+]\d+$/.test(target)) return { paths: from.paths, unknown: true };
  const paths = from.paths.map((directory) => {
    const joined = joinPath(directory, target);
    if (cwd === undefined || !joined.startsWith('/')) return joined;
    if (joined === tidy(cwd)) return '';
    return joined.startsWith(`${tidy(cwd)}/`) ? joined.slice(tidy(cwd).length + 1) : joined;
  });
  return { paths: [...new Set(paths)], unknown: from.unknown };
}
