import type { CommandNode, Redirection } from 'unbash';
import type { Stdin } from './derive.js';
import { printedBy } from './printed.js';
import { readWord } from './readings.js';
import type { WalkState } from './state.js';

/** What a pipeline stage hands to the next. */
export function outputOf(state: WalkState, node: CommandNode): Stdin {
  const unknown: Stdin = { kind: 'unknown', from: 'the command before it' };
  if (node.type !== 'Command' || node.name === undefined) return unknown;
  const words = [node.name, ...node.args]
    .map((word) => (word.type === 'Word' ? readWord(word, state.reading)[0] : [word.text]))
    .flatMap((fields) => fields ?? []);
  if (words[0] === 'cat' && words.length === 1) return inputOf(state, node.redirects) ?? unknown;
  const text = node.redirects.length > 0 ? null : printedBy(words);
  return text === null ? unknown : { kind: 'text', text };
}

/** What redirections hand to a command on its standard input. */
export function inputOf(state: WalkState, redirects: readonly Redirection[]): Stdin | null {
  let stdin: Stdin | null = null;
  for (const redirect of redirects) {
    if (redirect.type === 'HereString') {
      const text = redirect.target === undefined ? '' : (readWord(redirect.target, state.reading)[0] ?? []).join(' ');
      stdin = { kind: 'text', text };
    } else if (redirect.type === 'HereDoc') {
      stdin = { kind: 'text', text: redirect.body.text };
    } else if (redirect.operator === '<' || redirect.operator === '<>') {
      stdin = { kind: 'unknown', from: `the file ${redirect.target?.text ?? ''}`.trim() };
    }
  }
  return stdin;
}
