import type { Operand } from './operands.js';

/** Options of recognised readers whose value is a file that is read: short letters, then long names. */
const FILE_OPTIONS: Readonly<Record<string, readonly [short: string, ...long: string[]]>> = {
  grep: ['f', 'file', 'exclude-from'],
  egrep: ['f', 'file', 'exclude-from'],
  fgrep: ['f', 'file', 'exclude-from'],
  rg: ['f', 'file', 'ignore-file'],
  awk: ['f', 'file'],
  gawk: ['fE', 'file', 'exec'],
  jq: ['f', 'from-file'],
  wc: ['', 'files0-from'],
  du: ['X', 'files0-from', 'exclude-from'],
  sort: ['', 'files0-from'],
  diff: ['X', 'exclude-from', 'from-file', 'to-file'],
  file: ['fm', 'files-from', 'magic-file'],
  date: ['fr', 'file', 'reference'],
  touch: ['r', 'reference'],
  truncate: ['r', 'reference'],
  chmod: ['', 'reference'],
  chown: ['', 'reference'],
  base64: ['i', 'input'],
};

/** Options of recognised programs whose value is a file that is written. */
const OUTPUT_OPTIONS: Readonly<Record<string, readonly [short: string, ...long: string[]]>> = {
  sort: ['o', 'output'],
  tree: ['o', 'output'],
  curl: ['o', 'output'],
  wget: ['O', 'output-document'],
};

/** Of these the target is no file that a rule for the program would have to cover; deny and ask rules speak of it. */
const DOWNLOADS: ReadonlySet<string> = new Set(['curl', 'wget']);

/** Shorter beginnings of a long option than this name too many options to say which. */
const SHORTEST_ABBREVIATION = 3;

/**
 * Files that a reader's options name: `-f x`, `-fx`, `-rf x`, `--file x`, `--file=x`, and the abbreviations of long options that
 * GNU programs take. A word that some option may take as its file is taken for one: reading too many files asks, too few does not.
 */
export function optionFiles(program: string, args: readonly string[]): Operand[] {
  const written = valuesOf(OUTPUT_OPTIONS[program], args).map(({ value, index }): Operand => {
    const operand = { access: 'write', value, index } as const;
    return DOWNLOADS.has(program) ? { ...operand, indirect: true } : operand;
  });
  return [...valuesOf(FILE_OPTIONS[program], args).map((found): Operand => ({ access: 'read', ...found })), ...written];
}

/** Values that the options have, and where each stands. */
function valuesOf(
  options: readonly [short: string, ...long: string[]] | undefined,
  args: readonly string[],
): { value: string; index: number }[] {
  const [short = '', ...long] = options ?? [];
  if (short === '' && long.length === 0) return [];
  const named = (option: string): boolean =>
    long.some((name) => name === option || (option.length >= SHORTEST_ABBREVIATION && name.startsWith(option)));
  const found: { value: string; index: number }[] = [];
  const take = (value: string | undefined, index: number): void => {
    if (value !== undefined && value !== '' && value !== '-') found.push({ value, index });
  };
  for (const [index, arg] of args.entries()) {
    if (arg === '--') break;
    const equals = /^--([a-z0-9-]+)(?:=([\s\S]*))?$/.exec(arg);
    if (equals !== null) {
      if (!named(equals[1] ?? '')) continue;
      if (equals[2] === undefined) take(args[index + 1], index + 1);
      else take(equals[2], index);
    } else if (short !== '') {
      const glued = new RegExp(`^-[A-Za-z]*?[${short}]([\\s\\S]*)$`).exec(arg);
      if (glued === null) continue;
      if (glued[1] === '') take(args[index + 1], index + 1);
      else take(glued[1], index);
    }
  }
  return found;
}
