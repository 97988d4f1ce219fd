import { joinPath } from './directories.js';
import { foundFiles } from './found.js';
import type { FileAccessKind, Operand } from './operands.js';
import { takesValue } from './options.js';
import { parseSed } from './sed.js';
import { UNKNOWN } from './types.js';

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
  const own = args.findIndex((arg, index) => !arg.startsWith('-') && arg !== UNKNOWN && !takesValue('git', args[index - 1] ?? ''));
  const at = CHANGES.test(args[own] ?? '') ? own : args.findIndex((arg) => SHOWS.test(arg));
  if (at === -1) return [];
  const inside = args.slice(0, at).reduce((directory, arg, index) => (args[index - 1] === '-C' ? joinPath(directory, arg) : directory), '');
  const subcommand = args[at] ?? '';
  if (CHANGES.test(subcommand)) {
    const given = args.slice(at + 1);
    if (sparesFiles(subcommand, given)) return [];
    const paths = given.filter((arg) => !arg.startsWith('-'));
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

/** Forms of these subcommands that leave the working tree's files alone: only the index changes, or the words name a new branch. */
function sparesFiles(subcommand: string, args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const options = end === -1 ? args : args.slice(0, end);
  const has = (option: RegExp): boolean => options.some((arg) => option.test(arg));
  switch (subcommand) {
    case 'rm':
      return has(/^--cached$/);
    case 'restore':
      return has(/^(--staged$|-[pqmW]*S)/) && !has(/^(--w|-[pqmS]*W)/);
    case 'checkout':
      return has(/^(--orphan$|-[qflt]*[bB])/);
    default:
      return false;
  }
}
