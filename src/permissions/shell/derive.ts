import { deriveByProgram } from './programs.js';
import { UNKNOWN, type Via } from './types.js';
import { commandStarts, PLAIN_WRAPPERS, WRAPPERS } from './wrappers.js';

/** What a command gets on its standard input, as far as the text shows it. */
export type Stdin = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'unknown'; readonly from: string };

/** A command, a script or a blind spot in another command's arguments or input. */
export type Derived =
  | { readonly kind: 'argv'; readonly via: Via; readonly argv: readonly string[]; readonly plain: boolean }
  | { readonly kind: 'script'; readonly via: Via; readonly script: string; readonly plain: boolean }
  | { readonly kind: 'opaque'; readonly reason: string };

/** All commands that running `argv` starts, as far as its arguments and input show. */
export function derive(argv: readonly string[], stdin: Stdin | null): Derived[] {
  const name = baseName(argv[0] ?? '');
  const args = argv.slice(1);
  if (name === UNKNOWN || name === '') return [];
  const result = deriveByProgram(name, args, stdin);
  const spec = WRAPPERS.get(name);
  if (spec === undefined || (name === 'command' && /^-[pvV]*[vV]/.test(args[0] ?? ''))) return result;
  const fed = name === 'xargs' || name === 'parallel';
  const options = args.some((arg) => arg.startsWith('-'));
  for (const start of commandStarts(args, spec)) {
    const rest = args.slice(start);
    if (!fed) {
      result.push({ kind: 'argv', via: 'wrapper', argv: rest, plain: PLAIN_WRAPPERS.has(name) });
      continue;
    }
    const marker = rest.findIndex((arg) => /^::::?\+?$/.test(arg));
    const command = marker === -1 ? rest : rest.slice(0, marker);
    const placed = replaced(args.slice(0, start), name === 'parallel');
    for (const given of handedOn(stdin, placed !== null)) {
      const known = command.map((arg) => (placed === null ? arg : arg.replaceAll(placed, given[0] ?? UNKNOWN)));
      result.push({
        kind: 'argv',
        via: 'xargs',
        argv: placed === null || name === 'parallel' ? [...known, ...given] : known,
        plain: !options,
      });
    }
    if (name === 'parallel') result.push({ kind: 'script', via: 'xargs', script: command.join(' '), plain: false });
  }
  if (
    name === 'parallel' &&
    args.every((arg) => arg.startsWith('-') || /^:::/.test(arg) === false) &&
    commandStarts(args, spec).length === 0
  ) {
    result.push({ kind: 'opaque', reason: 'parallel runs whatever lines it is given' });
  }
  return result;
}

const MAX_HANDED_ON = 12;

/**
 * What `xargs` hands on: its input's words together and, as its options may have it, one by one or a line at a time; with its own
 * quotes or without them. Where the input is not shown, words that nobody knows.
 */
function handedOn(stdin: Stdin | null, byLine: boolean): string[][] {
  if (stdin?.kind !== 'text' || stdin.text.includes(UNKNOWN)) return [[UNKNOWN]];
  const texts = [...new Set([stdin.text, stdin.text.replace(/['"\\]/g, '')])];
  const found = texts.flatMap((text) => {
    const parts = text.split(byLine ? /\n/ : /\s+/).filter((part) => part !== '');
    const single = parts.map((part) => [part]);
    return byLine || parts.length < 2 ? single : [parts, ...single];
  });
  return found.length > MAX_HANDED_ON ? [...found.slice(0, MAX_HANDED_ON), [UNKNOWN]] : found;
}

/** The text that `xargs -I` puts its input in the place of. */
function replaced(options: readonly string[], always: boolean): string | null {
  for (const [index, option] of options.entries()) {
    if (option === '-I' || option === '--replace') return options[index + 1] ?? '{}';
    if (/^-[Ii]./.test(option)) return option.slice(2);
    if (option === '-i') return '{}';
    if (option.startsWith('--replace=')) return option.slice(10);
  }
  return always ? '{}' : null;
}

export function baseName(program: string): string {
  const slash = program.lastIndexOf('/');
  return slash === -1 ? program : program.slice(slash + 1);
}
