import { indirectFiles } from './indirect.js';
import { optionFiles } from './optionFiles.js';
import { parseSed } from './sed.js';

export type FileAccessKind = 'read' | 'write' | 'remove' | 'enter';

/** A file operand: `index` is its place among the arguments. */
export interface Operand {
  readonly access: FileAccessKind;
  readonly value: string;
  readonly index: number;
  /** Named inside another word: only deny and ask rules look at it. */
  readonly indirect?: true;
}

type Finder = (args: readonly string[]) => Operand[];

/** Options of readers that take the next word as their value. */
const VALUED: Readonly<Record<string, RegExp>> = {
  head: /^(-[nc]|--lines|--bytes)$/,
  tail: /^(-[ncs]|--lines|--bytes|--pid|--sleep-interval)$/,
  cut: /^(-[dfcb]|--delimiter|--fields)$/,
  sort: /^(-[ktTS]|--key|--field-separator|--temporary-directory|--buffer-size)$/,
  stat: /^(-[cf]|--format|--printf)$/,
  ls: /^(-[ITw]|--ignore|--hide)$/,
  du: /^(-[dBtX]|--max-depth|--block-size|--exclude)$/,
  df: /^(-[Btx]|--type|--exclude-type)$/,
  tree: /^(-[LPI]|--charset|--filelimit)$/,
  od: /^-[AjNtw]$/,
  hexdump: /^-[efns]$/,
  strings: /^-[ntels]$/,
  nl: /^-[bdfhilnsvw]$/,
  fold: /^-w$/,
  fmt: /^-w$/,
  column: /^-[sotcNRHE]$/,
  paste: /^-d$/,
  join: /^-[12aeotv]$/,
  jq: /^--(indent|tab)$/,
  diff: /^(-[UCxXILDFW]|--label|--exclude|--width)$/,
  touch: /^-[drt]$/,
  mkdir: /^(-m|--mode)$/,
  split: /^-[abCln]$/,
  base64: /^-w$/,
  file: /^-[eFP]$/,
  date: /^(-d|--date|-r|--reference)$/,
};

const READERS =
  'cat head tail wc stat strings hexdump od xxd nl cut paste column tac rev fold expand unexpand fmt comm cmp diff sort uniq readlink realpath less more bat file du df ls tree md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum base64 join split tsort pr zcat source .'.split(
    ' ',
  );

/** File operands of recognised commands. */
const OPERANDS: ReadonlyMap<string, Finder> = new Map<string, Finder>([
  ...READERS.map((name): [string, Finder] => [
    name,
    (args) => operands(args, VALUED[name]).map((operand) => ({ ...operand, access: 'read' })),
  ]),
  [
    'cd',
    (args) =>
      operands(args)
        .slice(0, 1)
        .map((operand) => ({ ...operand, access: 'enter' })),
  ],
  [
    'pushd',
    (args) =>
      operands(args)
        .slice(0, 1)
        .map((operand) => ({ ...operand, access: 'enter' })),
  ],
  ['uniq', (args) => operands(args, /^-[fsw]$/).map((operand, at) => ({ ...operand, access: at === 1 ? 'write' : 'read' }))],
  ['fd', fdFiles],
  ['fdfind', fdFiles],
  ['grep', grepFiles],
  ['egrep', grepFiles],
  ['fgrep', grepFiles],
  ['rg', grepFiles],
  [
    'jq',
    (args) =>
      operands(args, VALUED.jq)
        .slice(args.some((arg) => /^(-f|--from-file)/.test(arg)) ? 0 : 1)
        .map((operand) => ({ ...operand, access: 'read' })),
  ],
  ['awk', awkFiles],
  ['gawk', awkFiles],
  ['find', findFiles],
  ['sed', sedFiles],
  ['touch', all('write', VALUED.touch)],
  ['mkdir', all('write', VALUED.mkdir)],
  ['tee', all('write')],
  ['truncate', all('write', /^(-[sr]|--size|--reference)$/)],
  ['rm', all('remove')],
  ['rmdir', all('remove')],
  ['unlink', all('remove')],
  ['shred', all('remove', /^-[ns]$/)],
  ['mv', moved('remove')],
  ['cp', moved('read')],
  ['install', moved('read')],
  ['rsync', moved('read', false)],
  ['ln', moved('read')],
  [
    'dd',
    (args) =>
      args.flatMap((arg, index): Operand[] =>
        /^[io]f=/.test(arg) ? [{ access: arg.startsWith('if=') ? 'read' : 'write', value: arg.slice(3), index }] : [],
      ),
  ],
  [
    'chmod',
    (args) =>
      operands(args)
        .slice(1)
        .map((operand) => ({ ...operand, access: 'write' })),
  ],
  [
    'chown',
    (args) =>
      operands(args)
        .slice(1)
        .map((operand) => ({ ...operand, access: 'write' })),
  ],
]);

/** The files that a recognised command names: as values of its options, inside other words, as operands. */
export function fileOperands(program: string, args: readonly string[]): Operand[] {
  return [...optionFiles(program, args), ...indirectFiles(program, args), ...(OPERANDS.get(program)?.(args) ?? [])];
}

function operands(args: readonly string[], valued?: RegExp): Operand[] {
  const found: Operand[] = [];
  let options = true;
  for (let index = 0; index < args.length; index++) {
    const value = args[index] ?? '';
    if (options && value === '--') options = false;
    else if (options && value.startsWith('-') && value !== '-') {
      if (valued?.test(value) === true) index++;
    } else if (value !== '-') found.push({ access: 'read', value, index });
  }
  return found;
}

function all(access: FileAccessKind, valued?: RegExp): Finder {
  return (args) => operands(args, valued).map((operand) => ({ ...operand, access }));
}

/** The last operand is where the others go, unless an option says where. */
function moved(source: FileAccessKind, mayNameTarget = true): Finder {
  return (args) => {
    const found = operands(args, mayNameTarget ? /^(-[a-zA-Z]*[tSmgo]|--target-directory|--suffix|--mode|--group|--owner)$/ : undefined);
    const into = !mayNameTarget ? [] : targetDirectories(args);
    if (into.length > 0) return [...found.map((operand) => ({ ...operand, access: source })), ...into];
    return found.map((operand, at) => ({ ...operand, access: at === found.length - 1 && at > 0 ? 'write' : source }));
  };
}

function targetDirectories(args: readonly string[]): Operand[] {
  return args.flatMap((arg, index): Operand[] => {
    if (/^(-[a-zA-Z]*t|--target-directory)$/.test(args[index - 1] ?? '')) return [{ access: 'write', value: arg, index }];
    const value = /^(?:-[a-zA-Z]*?t|--ta[a-z-]*=)(.+)$/s.exec(arg)?.[1];
    return value === undefined ? [] : [{ access: 'write', value, index }];
  });
}

function grepFiles(args: readonly string[]): Operand[] {
  const valued =
    /^(-[efABCmgtTdD]|--(regexp|file|after-context|before-context|context|max-count|glob|type|type-not|include|exclude|exclude-dir|color|label))$/;
  const given = args.some((arg) => /^(-[a-zA-Z]*[ef]|--regexp|--file|--files$)/.test(arg));
  return operands(args, valued).slice(given ? 0 : 1);
}

/** A pattern, then directories to search. */
function fdFiles(args: readonly string[]): Operand[] {
  const valued = /^(-[dteEcjSo]|--(max-depth|type|extension|exclude|color|threads|size|owner|max-results|changed-within|changed-before))$/;
  const directories = args.flatMap((arg, index): Operand[] =>
    /^(--base-directory|--search-path|-C)$/.test(args[index - 1] ?? '') ? [{ access: 'read', value: arg, index }] : [],
  );
  const glued = args.flatMap((arg, index): Operand[] => {
    const value = /^--(?:base-directory|search-path)=(.+)$/s.exec(arg)?.[1];
    return value === undefined ? [] : [{ access: 'read', value, index }];
  });
  return [...directories, ...glued, ...operands(args, valued).slice(1)];
}

function awkFiles(args: readonly string[]): Operand[] {
  const script = args.some((arg) => /^(-f|--file)/.test(arg));
  const files = operands(args, /^(-[Fvf]|--(field-separator|assign|file))$/).slice(script ? 0 : 1);
  return files.filter((operand) => !/^[A-Za-z_]\w*=/.test(operand.value));
}

function findFiles(args: readonly string[]): Operand[] {
  const found: Operand[] = [];
  const removes = args.includes('-delete');
  for (const [index, value] of args.entries()) {
    if (/^-[HLPDO]/.test(value) && found.length === 0) continue;
    if (/^[-(!]/.test(value)) break;
    found.push({ access: removes ? 'remove' : 'read', value, index });
  }
  return found;
}

function sedFiles(args: readonly string[]): Operand[] {
  const call = parseSed(args);
  return call.files.map((value) => ({ access: call.inPlace ? 'write' : 'read', value, index: args.lastIndexOf(value) }));
}
