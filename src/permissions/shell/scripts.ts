import type { Derived, Stdin } from './derive.js';
import { UNKNOWN, type Via } from './types.js';

export function opaque(reason: string): Derived {
  return { kind: 'opaque', reason };
}

/** A script whose text is shown; where part of it is not, also a blind spot. */
export function scriptOf(via: Via, words: readonly string[], unknown: string, plain = false): Derived[] {
  const script = words.join(' ');
  if (script.trim() === '') return [];
  const derived: Derived[] = [{ kind: 'script', via, script, plain }];
  return script.includes(UNKNOWN) ? [...derived, opaque(unknown)] : derived;
}

export function fromStdin(name: string, stdin: Stdin | null): Derived[] {
  if (stdin === null) return [];
  if (stdin.kind === 'unknown') return [opaque(`${name} runs whatever ${stdin.from} hands it`)];
  return scriptOf('stdin', [stdin.text], `${name} runs input that is only known when it runs`);
}

/** `rsync` splits its remote shell at blanks itself: what a variable holds there is no more than arguments. */
export function remoteShell(args: readonly string[]): Derived[] {
  return optionValues(args, /^(-[a-zA-Z]*e|--rsh)$/, /^--rsh=/).flatMap((text): Derived[] => {
    const argv = text.trim().split(/\s+/);
    const [program = ''] = argv;
    return text.includes(UNKNOWN) && !/['"\\]/.test(text) && !program.includes(UNKNOWN)
      ? [{ kind: 'argv', via: 'option', argv, plain: false }]
      : scriptOf('option', [text], 'rsync -e runs text that is only known when it runs');
  });
}

/** Scripts that options hold, in the next word or in their own. */
export function optionScripts(args: readonly string[], separate: RegExp, attached: RegExp): Derived[] {
  return optionValues(args, separate, attached).flatMap((script) =>
    scriptOf('option', [script], 'an option runs text that is only known when it runs'),
  );
}

function optionValues(args: readonly string[], separate: RegExp, attached: RegExp): string[] {
  return args.flatMap((arg, index) => (separate.test(arg) ? (args[index + 1] ?? []) : attached.test(arg) ? arg.replace(attached, '') : []));
}
