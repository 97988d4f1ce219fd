/** What a sed call does, as far as its arguments show. */
export interface SedCall {
  readonly inPlace: boolean;
  readonly scripts: readonly string[];
  readonly files: readonly string[];
  /** An option that is not known to be harmless, or a script in a file. */
  readonly odd: boolean;
  readonly quiet: boolean;
}

export function parseSed(args: readonly string[]): SedCall {
  const scripts: string[] = [];
  const operands: string[] = [];
  let inPlace = false;
  let odd = false;
  let quiet = false;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? '';
    if (arg === '--') {
      operands.push(...args.slice(i + 1));
      break;
    }
    if (arg === '-' || !arg.startsWith('-')) operands.push(arg);
    else if (arg.startsWith('--')) {
      if (/^--in-place/.test(arg)) inPlace = true;
      else if (arg === '--expression') scripts.push(args[++i] ?? '');
      else if (arg.startsWith('--expression=')) scripts.push(arg.slice(13));
      else if (/^--(quiet|silent)$/.test(arg)) quiet = true;
      else if (!/^--(regexp-extended|null-data|posix|unbuffered|separate)$/.test(arg)) odd = true;
    } else {
      for (let at = 1; at < arg.length; at++) {
        const letter = arg[at] ?? '';
        if (letter === 'i') {
          inPlace = true;
          break;
        }
        if (letter === 'e') {
          scripts.push(arg.slice(at + 1) || (args[++i] ?? ''));
          break;
        }
        if (letter === 'n') quiet = true;
        else if (!/[rEzsu]/.test(letter)) odd = true;
      }
    }
  }
  const files = scripts.length === 0 ? operands.slice(1) : operands;
  if (scripts.length === 0 && operands[0] !== undefined) scripts.push(operands[0]);
  return { inPlace, scripts, files, odd, quiet };
}

const ADDRESS = String.raw`(?:\d+|\$)(?:,(?:\d+|\$|\+\d+))?`;
const PRINTS = new RegExp(String.raw`^\s*(?:${ADDRESS})?p?(?:\s*;\s*(?:${ADDRESS})?p)*\s*;?\s*$`);
const QUITS = new RegExp(String.raw`^\s*(?:${ADDRESS})?[p=q](?:\s*;\s*(?:${ADDRESS})?[p=q])*\s*;?\s*$`);

/** One `s` command with nothing but harmless flags: no `e` (runs), no `w` (writes). */
export function plainSubstitution(script: string): boolean {
  const text = script.trim();
  if (!/^s[/|#,:@!]/.test(text) || text.includes('\n')) return false;
  const end = afterFields(text, 1);
  return end > 2 && text[end - 1] === text[1] && /^[gpiIm]*\d?[gpiIm]*$/.test(text.slice(end));
}

const ONE_ADDRESS = String.raw`(?:\d+|\$|\/(?:[^/\\\n]|\\.)*\/I?)`;
const COMMAND = new RegExp(String.raw`^[\s;{}]*(?:${ONE_ADDRESS}(?:\s*[,~+]\s*(?:[~+]?\d+|${ONE_ADDRESS}))?)?[\s!]*`);

/** Does a script run a command: the `e` command, or the `e` flag of `s`? A script that is not understood does not hide one. */
export function sedRuns(script: string): boolean {
  let rest = script;
  for (let i = 0; i < 64 && rest !== ''; i++) {
    rest = rest.slice(COMMAND.exec(rest)?.[0].length ?? 0);
    if (/^e(\s|;|$)/.test(rest)) return true;
    if (rest[0] === 's' || rest[0] === 'y') {
      const end = afterFields(rest, 1);
      const flags = /^[^;\n}]*/.exec(rest.slice(end))?.[0] ?? '';
      if (rest[0] === 's' && /^[^w]*e/.test(flags)) return true;
      rest = rest.slice(end + flags.length);
    } else {
      const next = rest.slice(1).search(/[;\n}]/);
      rest = next === -1 ? '' : rest.slice(next + 1);
    }
  }
  return rest !== '';
}

/** Index after the third delimiter of an `s` or `y` command whose delimiter stands at `at`. */
function afterFields(text: string, at: number): number {
  const delimiter = text[at];
  let fields = 0;
  let i = at + 1;
  for (; i < text.length && fields < 2; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === delimiter) fields++;
  }
  return i;
}

/** Printing lines of files, or a plain substitution on a pipe. */
export function readOnlySed(args: readonly string[]): boolean {
  const call = parseSed(args);
  if (call.inPlace || call.odd || call.scripts.length === 0) return false;
  if (call.quiet && call.scripts.every((script) => PRINTS.test(script) || QUITS.test(script))) return true;
  return call.files.length === 0 && call.scripts.every(plainSubstitution);
}
