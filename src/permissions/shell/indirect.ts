import { joinPath } from './directories.js';
import type { FileAccessKind, Operand } from './operands.js';
import { parseSed } from './sed.js';

/**
 * Files that a command names inside other words: in a sed or awk program, in a git revision. Only deny and ask rules look at these; a
 * word that merely looks like a file costs nothing where no rule speaks of it.
 */
export function indirectFiles(program: string, args: readonly string[]): Operand[] {
  switch (program) {
    case 'git':
      return gitFiles(args);
    case 'find':
      return foundFiles(args);
    case 'sed':
    case 'gsed':
      return parseSed(args).scripts.flatMap((script) => sedScriptFiles(script));
    case 'awk':
    case 'gawk':
    case 'mawk':
    case 'nawk':
      return args.flatMap((arg) =>
        [...arg.matchAll(/"([^"\s]+)"/g)].flatMap(([, value = '']) => [indirect('read', value), indirect('write', value)]),
      );
    default:
      return [];
  }
}

const indirect = (access: FileAccessKind, value: string): Operand => ({ access, value, index: -1, indirect: true });

/** What `find … -name x` looks for, where it hands it to a program or deletes it. */
function foundFiles(args: readonly string[]): Operand[] {
  const removes = args.includes('-delete');
  if (!removes && !args.some((arg) => /^-(exec|execdir|ok|okdir)$/.test(arg))) return [];
  const first = args.findIndex((arg) => /^[-(!]/.test(arg) && !/^-[HLPDO]/.test(arg));
  const starts = args.slice(0, Math.max(first, 0)).filter((arg) => !arg.startsWith('-'));
  const names = args.filter((_, index) => /^-(i?name|i?path|i?wholename)$/.test(args[index - 1] ?? ''));
  return names.flatMap((name) =>
    (starts.length > 0 ? starts : ['.']).map((start) => indirect(removes ? 'remove' : 'read', joinPath(start, name))),
  );
}

/** `r file` and `w file`, alone or as a flag of `s`; the name runs to the end of the line. */
function sedScriptFiles(script: string): Operand[] {
  return [...script.matchAll(/(?:^|[^A-Za-z\\])[gpiImM0-9]*([rRwW])[ \t]*([^\n]+)/g)].flatMap(([, command = '', rest = '']) => {
    const access = /r/i.test(command) ? 'read' : 'write';
    const names = new Set([rest.trim(), rest.trim().replace(/[\s;}].*$/s, '')]);
    return [...names].filter((name) => name !== '').map((name) => indirect(access, name));
  });
}

/** Subcommands that show what is in files, now or at a revision. */
const SHOWS = /^(diff|log|show|blame|annotate|grep|cat-file|whatchanged|difftool|archive)$/;
/** Subcommands that change or remove files in the working tree. */
const CHANGES = /^(mv|rm|restore|checkout)$/;
const LEAVES = /^[/~]|(?:^|\/)\.\.(?:\/|$)/;

function gitFiles(args: readonly string[]): Operand[] {
  const at = args.findIndex((arg) => SHOWS.test(arg) || CHANGES.test(arg));
  if (at === -1) return [];
  const inside = args.slice(0, at).reduce((directory, arg, index) => (args[index - 1] === '-C' ? joinPath(directory, arg) : directory), '');
  const subcommand = args[at] ?? '';
  if (CHANGES.test(subcommand)) {
    const paths = args.slice(at + 1).filter((arg) => !arg.startsWith('-'));
    return paths.map((path) => indirect(subcommand === 'rm' ? 'remove' : 'write', joinPath(inside, path)));
  }
  const found: Operand[] = [];
  let isPattern = subcommand === 'grep' && !args.some((arg) => /^-[a-zA-Z]*[ef]/.test(arg));
  for (const [offset, arg] of args.slice(at + 1).entries()) {
    const index = at + 1 + offset;
    if (arg.startsWith('-')) {
      const value = /^--?[a-zA-Z-]+=(.+)$/s.exec(arg)?.[1];
      if (value !== undefined) found.push(indirect('read', value));
      continue;
    }
    if (isPattern) {
      isPattern = false;
      continue;
    }
    // Outside a repository's files `git diff` compares any two.
    if (subcommand === 'diff' && LEAVES.test(arg)) found.push({ access: 'read', value: arg, index });
    const path = /^[^:]*:(?:\.\/)?(.+)$/s.exec(arg)?.[1];
    found.push(
      indirect('read', joinPath(inside, arg)),
      ...(path === undefined ? [] : [indirect('read', path.replace(/^\([^)]*\)|^[/!^]+/, ''))]),
    );
  }
  return found;
}
