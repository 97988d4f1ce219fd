import { baseName } from './derive.js';
import { joinPath } from './directories.js';
import { type ShellAnalysis, UNKNOWN } from './types.js';

export interface RemovalContext {
  /** The call's directory, absolute. */
  readonly cwd: string;
  readonly home: string;
  /** Additional working directories, absolute. */
  readonly directories?: readonly string[];
}

/** A glob or a slash right after a variable: with the variable empty it stands for the file system's root. */
const AFTER_VARIABLE = /\$(?:\{[A-Za-z_]\w*\}|[A-Za-z_]\w*)\/(?:\*|\.\*)?$/;

/** The shell's own arguments: what they are, nobody wrote down. */
const POSITIONAL = /^\$(?:[0-9@*]|\{[0-9@*]+\})/;

/**
 * Why a call may remove something that nobody gets back: only a person may say yes to it, whatever the mode and the rules
 * (Claude Code docs, permission modes). Null for every other call.
 */
export function criticalRemoval(analysis: ShellAnalysis, context: RemovalContext): string | null {
  for (const command of [...analysis.commands, ...analysis.nested]) {
    for (const reading of command.readings) {
      const name = baseName(reading[0] ?? '');
      if (name !== 'rm' && name !== 'rmdir') continue;
      const words = command.words;
      const spelled = words.slice(1).flatMap((word) => spelledOut(word.text, context) ?? []);
      for (const target of [...targets(reading.slice(1)), ...spelled]) {
        for (const directory of command.directories.paths) {
          const reason = critical(target, directory, context);
          if (reason !== null) return `${name} would remove ${reason}`;
        }
      }
      const risky = words.find((word) => AFTER_VARIABLE.test(word.text.replaceAll('"', '')));
      const recursive = reading.some((arg) => /^-[a-zA-Z]*[rR]|^--r/.test(arg));
      const given = !recursive ? undefined : words.slice(1).find((word) => POSITIONAL.test(word.text.replaceAll('"', '')));
      if (given !== undefined) return `${name} would remove whatever ${given.text} stands for`;
      if (risky !== undefined) return `${name} would remove what stands below ${risky.text}, and the variable may be empty`;
    }
  }
  return null;
}

/** A word whose only unknown parts are the home and the working directory. */
function spelledOut(text: string, { cwd, home }: RemovalContext): string | null {
  if (!/[$`]/.test(text) || text.includes("'")) return null;
  const known = text
    .replace(/\$\{HOME\}|\$HOME\b/g, home)
    .replace(/\$\{PWD\}|\$PWD\b|\$\(pwd\)|`pwd`/g, cwd)
    .replaceAll('"', '');
  return /[$`]/.test(known) ? null : known;
}

function targets(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  if (end === -1) return args.filter((arg) => !/^-./.test(arg));
  return [...args.slice(0, end).filter((arg) => !/^-./.test(arg)), ...args.slice(end + 1)];
}

function critical(target: string, directory: string, { cwd, home, directories = [] }: RemovalContext): string | null {
  const known = target.includes(UNKNOWN)
    ? null
    : target.replace(/^~(?=\/|$)/, home).replace(/\/+$/, (slashes) => (target === slashes ? '/' : ''));
  if (known === null) return null;
  const base = joinPath(cwd, directory.replace(/^~(?=\/|$)/, home));
  const path = joinPath(base === '' ? '/' : base, known) || '/';
  if (/^[A-Za-z]:[\\/]?[^\\/]*$/.test(target)) return `the drive or a directory at its top (${target})`;
  const parent = path.replace(/\/[^/]*$/, '') || '/';
  const last = path.slice(path.lastIndexOf('/') + 1);
  const glob = /[*?[]/.test(last);
  if (path === '/' || parent === '/') return `the file system's root or a directory at its top (${target})`;
  if (/^\/private\/(etc|var|tmp|home)$/.test(path)) return `a directory of the system (${target})`;
  if (path === home) return `the home directory (${target})`;
  if (path === cwd) return `the working directory (${target})`;
  if (cwd.startsWith(`${path}/`) || home.startsWith(`${path}/`))
    return `a directory that holds the working directory or the home directory (${target})`;
  if (/^\.?\*+$/.test(last) && parent === cwd) return `everything in the working directory (${target})`;
  if (glob && (parent === home || (cwd.startsWith(`${parent}/`) && parent !== cwd))) return `everything in ${parent}`;
  if (glob && directories.some((one) => one === parent || one.startsWith(`${parent}/`))) return `everything in ${parent}`;
  return null;
}
