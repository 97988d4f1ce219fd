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
