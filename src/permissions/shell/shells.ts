import type { Derived, Stdin } from './derive.js';
import { fromStdin, opaque, scriptOf } from './scripts.js';
import { UNKNOWN } from './types.js';

export const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'mksh', 'ash', 'fish', 'rbash', 'csh', 'tcsh']);

/** Interpreters and the options that hand them a program as text. */
export const INTERPRETERS: ReadonlyMap<string, RegExp> = new Map([
  ['python', /^-[A-Za-z]*c/],
  ['node', /^(-[a-z]*[ep]$|--eval|--print)/],
  ['deno', /^(eval|repl)$/],
  ['bun', /^(-e|--eval|-p|--print)/],
  ['tsx', /^(-e|--eval|-p|--print)/],
  ['perl', /^-[A-Za-z0-9]*[eE]/],
  ['ruby', /^-[A-Za-z]*e/],
  ['php', /^(-r|--run|-B|-R|-E)/],
  ['lua', /^-e/],
  ['osascript', /^-e/],
  ['Rscript', /^-e/],
  ['julia', /^(-e|-E|--eval|--print)/],
  ['groovy', /^-e/],
  ['scala', /^-e/],
  ['ghc', /^-e/],
  ['tclsh', /^$/],
  ['pwsh', /^(-c|-command|-e|-encodedcommand)/i],
  ['powershell', /^(-c|-command|-e|-encodedcommand)/i],
]);

/** `python3.12` is python, `nodejs` is node. */
export function interpreterOf(name: string): string {
  const plain = name.replace(/[\d.]+$/, '');
  if (plain === 'nodejs') return 'node';
  return plain === 'pypy' ? 'python' : plain;
}

export function shell(args: readonly string[], stdin: Stdin | null): Derived[] {
  let command = false;
  let reads = false;
  let i = 0;
  for (; i < args.length; i++) {
    const arg = args[i] ?? '';
    if (arg === '--' || arg === '-') {
      i++;
      break;
    }
    if (!/^[-+]/.test(arg)) break;
    if (arg.startsWith('--')) {
      if (/^--(rcfile|init-file)$/.test(arg)) i++;
      if (arg === '--command') command = true;
      continue;
    }
    if (arg.includes('c') && arg.startsWith('-')) command = true;
    if (arg.includes('s') && arg.startsWith('-')) reads = true;
    if (/[oO]$/.test(arg)) i++;
  }
  const operand = args[i];
  if (command) return operand === undefined ? [] : scriptOf('script', [operand], 'the text after -c is only known when it runs');
  if (reads || operand === undefined || operand === '/dev/stdin' || operand === '/proc/self/fd/0') return fromStdin('the shell', stdin);
  return operand.includes(UNKNOWN) ? [opaque('which script the shell runs is only known when it runs')] : [];
}

export function interpreted(name: string, args: readonly string[], stdin: Stdin | null, code: RegExp): Derived[] {
  if (args.some((arg) => code.test(arg))) return [opaque(`what the ${name} program in the arguments does is only known when it runs`)];
  const operand = args.find((arg) => !arg.startsWith('-'));
  if ((operand === undefined || args.includes('-')) && stdin !== null && !args.some((arg) => /^(--?version|-[vVh]|--help)$/.test(arg))) {
    return [opaque(`${name} runs the program it is given as input`)];
  }
  return operand !== undefined && operand === UNKNOWN ? [opaque(`which program ${name} runs is only known when it runs`)] : [];
}

export function sourced(args: readonly string[], stdin: Stdin | null): Derived[] {
  const file = args[0] === '--' ? args[1] : args[0];
  if (file === undefined) return [];
  if (file === '/dev/stdin') return fromStdin('source', stdin);
  return file.includes(UNKNOWN) ? [opaque('which file is sourced is only known when it runs')] : [];
}
