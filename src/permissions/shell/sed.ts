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
  const match = /^\s*s([/|#,:@!])/.exec(script);
  if (match === null) return false;
  const delimiter = match[1] ?? '/';
  let fields = 0;
  let at = match[0].length;
  for (; at < script.length && fields < 2; at++) {
    if (script[at] === '\\') at++;
    else if (script[at] === delimiter) fields++;
  }
  return fields === 2 && /^[gpiIm]*\d?[gpiIm]*\s*$/.test(script.slice(at)) && !script.includes('\n');
}

/** Printing lines of files, or a plain substitution on a pipe. */
export function readOnlySed(args: readonly string[]): boolean {
  const call = parseSed(args);
  if (call.inPlace || call.odd || call.scripts.length === 0) return false;
  if (call.quiet && call.scripts.every((script) => PRINTS.test(script) || QUITS.test(script))) return true;
  return call.files.length === 0 && call.scripts.every(plainSubstitution);
}
