import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { posix } from 'node:path';

/** The little of a file system that decisions read. Injected, so that facts stay pure and tests need no disk. */
export interface PathFs {
  /** The text of a symbolic link; null for anything else, or nothing. */
  readlink(path: string): string | null;
  /** Names in a directory; empty when it cannot be read. */
  readdir(path: string): readonly string[];
}

/** Never throws: what cannot be looked at is neither a link nor a directory with entries. */
export const nodePathFs: PathFs = {
  readlink(path) {
    try {
      return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(path) : null;
    } catch {
      return null;
    }
  },
  readdir(path) {
    try {
      return readdirSync(path);
    } catch {
      return [];
    }
  },
};

export interface PathBase {
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

const DRIVE = /^([A-Za-z]):(?=[\\/]|$)/;
/** `\\server\share`: another machine. */
export const isUncPath = (path: string): boolean => /^(\\\\|\/\/)[^\\/]+[\\/]+[^\\/]/.test(path) && path.startsWith('\\\\');

/** `D:\keep\a.txt` as `/d/keep/a.txt`; null for a path that has no drive. */
export function drivePath(path: string): string | null {
  const drive = DRIVE.exec(path)?.[1];
  return drive === undefined ? null : posix.normalize(`/${drive.toLowerCase()}/${path.slice(2).replaceAll('\\', '/')}`);
}

/** One normalised absolute form, slashes forward, `..` gone, no trailing slash: what every path rule is matched against. */
export function absolutePath(path: string, base: PathBase): string {
  const windows = base.platform === 'win32';
  const cwd = (windows ? drivePath(base.cwd) : null) ?? base.cwd;
  const home = (windows ? drivePath(base.home) : null) ?? base.home;
  const spelled = windows ? windowsSpelling(path, cwd) : path;
  const drive = windows ? drivePath(spelled) : null;
  const expanded = spelled === '~' || spelled.startsWith('~/') ? home + spelled.slice(1) : spelled;
  return trimSlash(drive ?? posix.resolve(cwd, expanded));
}

/**
 * A path as Windows reads it, with forward slashes: `\\?\D:\x` is `D:/x`, `D:x` lies in the working directory of that drive, a name's
 * trailing dots and blanks do not count, and a stream (`x::$DATA`) is in its file.
 */
function windowsSpelling(path: string, cwd: string): string {
  const plain = path
    .replaceAll('\\', '/')
    .replace(/^\/\/[?.]\/(?=[A-Za-z]:(?:\/|$))/, '')
    .replace(/^\/\/[?.]\/UNC\//i, '//');
  const [, letter = '', rest = ''] = /^([A-Za-z]):(?!\/|$)(.*)$/s.exec(plain) ?? [];
  const isOwn = letter !== '' && isInside(`/${letter.toLowerCase()}`, cwd);
  const placed = letter === '' ? plain : isOwn ? rest : `${letter}:/${rest}`;
  return placed
    .split('/')
    .map((name, index) => (/^\.{1,2}$/.test(name) || (index === 0 && DRIVE.test(name)) ? name : withoutTail(name.replace(/:.*$/s, ''))))
    .join('/');
}

function withoutTail(name: string): string {
  let end = name.length;
  while (name[end - 1] === '.' || name[end - 1] === ' ') end--;
  return name.slice(0, end);
}

const trimSlash = (path: string): string => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path);

/** All names under which the operating system knows a path. */
export interface PathForms {
  /** As asked for, absolute and normalised. */
  readonly path: string;
  /** With every symbolic link followed; of what does not exist yet, as far as it does. */
  readonly target: string;
  /** `path`, every hop of a chain of links, and `target`; a deny that covers one of them holds. */
  readonly all: readonly string[];
  /** The links lead in a circle: such a path is refused, not followed. */
  readonly loops: boolean;
}

const MAX_LINKS = 40;

/** Follows links component by component; every replacement of a link by its text is a form of its own. */
export function pathForms(path: string, fs: PathFs): PathForms {
  const all = [path];
  let current = path;
  for (let hops = 0; hops < MAX_LINKS; hops++) {
    const next = followFirstLink(current, fs);
    if (next === null) return { path, target: current, all, loops: false };
    if (all.includes(next)) return { path, target: next, all, loops: true };
    all.push(next);
    current = next;
  }
  return { path, target: current, all, loops: true };
}

function followFirstLink(path: string, fs: PathFs): string | null {
  let end = 0;
  while (end < path.length) {
    const slash = path.indexOf('/', end + 1);
    end = slash === -1 ? path.length : slash;
    const head = path.slice(0, end);
    const text = fs.readlink(head);
    if (text !== null) return trimSlash(posix.join(posix.resolve(posix.dirname(head), text), path.slice(end)));
  }
  return null;
}

/**
 * Where the kernel ends up on a path whose `..` are still in it: each link is followed before the next `..` climbs, so that
 * `link/../x` lies beside the link's target. `path` is absolute.
 */
export function climb(path: string, fs: PathFs): string {
  let current = '/';
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    current = part === '..' ? posix.dirname(pathForms(current, fs).target) : posix.join(current, part);
  }
  return current;
}

/** True when `path` is `directory` or inside it. Both absolute and normalised. */
export function isInside(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);
}

/** Whether a path still leads to the target that a decision was made about: to be asked again right before a file is opened. */
export function stillLeadsTo(path: string, target: string, fs: PathFs = nodePathFs): boolean {
  const forms = pathForms(path, fs);
  return !forms.loops && forms.target === target;
}
