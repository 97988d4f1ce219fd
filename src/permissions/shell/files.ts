import { baseName } from './derive.js';
import { joinPath } from './directories.js';
import { type FileAccessKind, fileOperands, type Operand } from './operands.js';
import { type ShellAnalysis, type ShellCommand, type ShellDirectories, UNKNOWN } from './types.js';
import { commandStarts, WRAPPERS } from './wrappers.js';

/** A file or directory that a recognised command or a redirection names. */
export interface FileAccess {
  readonly access: FileAccessKind;
  /** Relative to the call's directory, absolute, or from `~`; null where only the running shell knows it. */
  readonly path: string | null;
  /** The same path before `..` was taken out of it, where it holds one: the kernel follows a link before it climbs. */
  readonly climbing?: string;
  /** As written. */
  readonly text: string;
  /** Holds a `*`, `?` or `[…]` that the shell expands. */
  readonly glob: boolean;
  /** The program, or the redirection operator. */
  readonly command: string;
  readonly redirect: boolean;
  /** A relative path after a change of directory. */
  readonly moved: boolean;
  /** Named inside another word, such as a sed program: only deny and ask rules look at it. */
  readonly indirect: boolean;
}

/** Files that the recognised commands and the redirections of a call name, each once. */
export function fileAccesses(analysis: ShellAnalysis): FileAccess[] {
  const redirected = analysis.redirects
    .filter((redirect) => redirect.target !== '/dev/null')
    .flatMap(({ target, operator, mayBe = [], ...redirect }) => {
      const file = { ...redirect, command: operator, redirect: true };
      return [
        ...placed({ ...file, value: target, indirect: false }, redirect.directories),
        ...mayBe.flatMap((value) => guessed({ ...file, value }, redirect.directories)),
      ];
    });
  const named = [...analysis.commands, ...analysis.nested].flatMap(commandFiles);
  const seen = new Set<string>();
  return [...redirected, ...named].filter((file) => {
    const key = `${file.access}\n${file.path ?? ''}\n${file.climbing ?? ''}\n${file.redirect}\n${file.indirect}`;
    return seen.has(key) ? false : seen.add(key);
  });
}

/** A file as a command names it. */
interface NamedFile extends Omit<FileAccess, 'path' | 'climbing' | 'moved'> {
  readonly value: string | null;
  readonly tilde: boolean;
}

const CLIMBS = /(?:^|\/)\.\.(?:\/|$)/;
const STANDARD_STREAM = /^\/dev\/(null|stdin|stdout|stderr)$/;

function commandFiles(command: ShellCommand): FileAccess[] {
  const plain = command.words.map((word) => word.value ?? UNKNOWN);
  const argv = innermost(plain);
  const offset = plain.length - argv.length;
  const name = baseName(argv[0] ?? '');
  const operands = fileOperands(name, argv.slice(1));
  const base = { command: name, redirect: false, glob: false, indirect: false };
  if (name === 'cd' || name === 'pushd') {
    if (argv.length === 1) return placed({ ...base, access: 'enter', value: '~', text: name, tilde: true }, command.directories);
    if (argv.includes('-')) return placed({ ...base, access: 'enter', value: null, text: `${name} -`, tilde: false }, command.directories);
  }
  return [...namesUnknown(argv, command), ...operands.flatMap(accessesOf)];

  function accessesOf(operand: Operand): FileAccess[] {
    const word = command.words[offset + 1 + operand.index];
    const value = operand.value.includes(UNKNOWN) ? null : operand.value;
    // What `xargs` and `find -exec` hand to a reader was found by a command that is judged itself.
    if (value === null && operand.access === 'read' && (command.via === 'xargs' || command.via === 'find')) return [];
    if (STANDARD_STREAM.test(value ?? '')) return [];
    if (operand.indirect === true) {
      const tilde = value?.startsWith('~') === true;
      return value === null
        ? []
        : placed({ ...base, access: operand.access, value, text: value, tilde, indirect: true }, command.directories);
    }
    const { text = operand.value, glob = false, tilde = false, mayBe = [] } = word ?? {};
    return [
      ...placed({ ...base, access: operand.access, value, text, glob, tilde }, command.directories),
      ...mayBe.flatMap((guess) => guessed({ ...base, access: operand.access, value: guess, text }, command.directories)),
    ];
  }
}

/** A program that is only known by one of the command's readings: what that one names. */
function namesUnknown([name]: readonly string[], command: ShellCommand): FileAccess[] {
  if (name === undefined || !name.includes(UNKNOWN)) return [];
  return command.readings.flatMap((reading) => {
    const [program = '', ...args] = innermost(reading);
    return fileOperands(baseName(program), args)
      .filter(({ value }) => !value.includes(UNKNOWN))
      .flatMap(({ access, value }) =>
        guessed({ command: baseName(program), redirect: false, access, value, text: value }, command.directories),
      );
  });
}

/** A file that a word may turn out to be: only deny and ask rules look at it. */
function guessed(
  file: Pick<FileAccess, 'access' | 'command' | 'redirect' | 'text'> & { value: string },
  directories: ShellDirectories,
): FileAccess[] {
  const tilde = file.value.startsWith('~');
  return placed({ ...file, tilde, glob: /[*?[]/.test(file.value), indirect: true }, directories).filter(({ path }) => path !== null);
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

/** A named file in every directory that the command may run in. */
function placed({ value, tilde, ...file }: NamedFile, directories: ShellDirectories): FileAccess[] {
  // A quoted `~` is a file of that name.
  const quoted = value?.startsWith('~') === true && !tilde;
  const relative = value === null || quoted || !/^[/~]/.test(value);
  const moved = relative && (directories.unknown || directories.paths.some((path) => path !== ''));
  const base = {
    access: file.access,
    text: file.text,
    glob: file.glob,
    command: file.command,
    redirect: file.redirect,
    moved,
    indirect: file.indirect,
  };
  if (value === null) return [{ ...base, path: null }];
  const found = directories.paths.map((directory): FileAccess => {
    const joined = joinPath(directory, quoted ? `./${value}` : value) || '.';
    const path = quoted && directory === '' ? `./${joined}` : joined;
    const isOwn = directory === '' || !relative;
    return { ...base, path, ...(CLIMBS.test(value) ? { climbing: isOwn ? value : `${directory}/${value}` } : {}) };
  });
  return directories.unknown && relative ? [...found, { ...base, path: null }] : found;
}
