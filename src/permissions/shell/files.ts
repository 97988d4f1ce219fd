import { baseName } from './derive.js';
import { joinPath } from './directories.js';
import { FINDERS, type FileAccessKind } from './operands.js';
import { type ShellAnalysis, type ShellCommand, type ShellDirectories, UNKNOWN } from './types.js';
import { commandStarts, WRAPPERS } from './wrappers.js';

/** A file or directory that a recognised command or a redirection names. */
export interface FileAccess {
  readonly access: FileAccessKind;
  /** Relative to the call's directory, absolute, or from `~`; null where only the running shell knows it. */
  readonly path: string | null;
  /** As written. */
  readonly text: string;
  /** Holds a `*`, `?` or `[…]` that the shell expands. */
  readonly glob: boolean;
  /** The program, or the redirection operator. */
  readonly command: string;
  readonly redirect: boolean;
}

/** Files that the recognised commands and the redirections of a call name. */
export function fileAccesses(analysis: ShellAnalysis): FileAccess[] {
  const found: FileAccess[] = [];
  for (const redirect of analysis.redirects) {
    if (redirect.target === '/dev/null') continue;
    place(
      found,
      redirect.access,
      redirect.target,
      redirect.text,
      redirect.glob,
      redirect.operator,
      true,
      redirect.directories,
      redirect.tilde,
    );
  }
  for (const command of [...analysis.commands, ...analysis.nested]) commandFiles(command, found);
  return found;
}

function commandFiles(command: ShellCommand, found: FileAccess[]): void {
  const plain = command.words.map((word) => word.value ?? UNKNOWN);
  const argv = innermost(plain);
  const offset = plain.length - argv.length;
  const name = baseName(argv[0] ?? '');
  const finder = FINDERS.get(name);
  if (finder === undefined) return;
  if (name === 'cd' && argv.includes('-')) place(found, 'enter', null, 'cd -', false, name, false, command.directories, false);
  if (/^(cd|pushd)$/.test(name) && argv.length === 1) place(found, 'enter', '~', 'cd', false, name, false, command.directories, true);
  for (const operand of finder(argv.slice(1))) {
    const word = command.words[offset + 1 + operand.index];
    const value = operand.value.includes(UNKNOWN) ? null : operand.value;
    // What `xargs` and `find -exec` hand to a reader was found by a command that is judged itself.
    if (value === null && operand.access === 'read' && (command.via === 'xargs' || command.via === 'find')) continue;
    if (/^\/dev\/(null|stdin|stdout|stderr)$/.test(value ?? '')) continue;
    place(
      found,
      operand.access,
      value,
      word?.text ?? operand.value,
      word?.glob ?? false,
      name,
      false,
      command.directories,
      word?.tilde ?? false,
    );
  }
}

/** The command inside plain wrappers: `timeout 5 cat x` reads x. */
function innermost(argv: readonly string[]): readonly string[] {
  let rest = argv;
  for (let i = 0; i < 6; i++) {
    const spec = WRAPPERS.get(baseName(rest[0] ?? ''));
    const start = spec === undefined || rest[0] === 'xargs' ? undefined : commandStarts(rest.slice(1), spec).at(-1);
    if (start === undefined) return rest;
    rest = rest.slice(1 + start);
  }
  return rest;
}

function place(
  found: FileAccess[],
  access: FileAccessKind,
  value: string | null,
  text: string,
  glob: boolean,
  command: string,
  redirect: boolean,
  directories: ShellDirectories,
  tilde: boolean,
): void {
  const base = { access, text, glob, command, redirect };
  // A quoted `~` is a file of that name.
  const path = value?.startsWith('~') === true && !tilde ? `./${value}` : value;
  if (path === null) {
    found.push({ ...base, path: null });
    return;
  }
  const paths = new Set(directories.paths.map((directory) => joinPath(directory, path)));
  for (const joined of paths) found.push({ ...base, path: joined === '' ? '.' : joined });
  if (directories.unknown && !/^[/~]/.test(path)) found.push({ ...base, path: null });
}
