import type { CommandNode, Redirection } from 'unbash';
import type { Stdin } from './derive.js';
import { printedBy } from './printed.js';
import { readWord, readWords } from './readings.js';
import type { WalkState } from './state.js';

/** What a pipeline stage hands to the next: every text that it may print, a line each. */
export function outputOf(state: WalkState, node: CommandNode): Stdin {
  const unknown: Stdin = { kind: 'unknown', from: 'the command before it' };
  if (node.type !== 'Command' || node.name === undefined) return unknown;
  const readings = readWords([node.name, ...node.args], state.reading);
  if (readings[0]?.[0] === 'cat' && readings[0].length === 1) return inputOf(state, node.redirects) ?? unknown;
  const texts = node.redirects.length > 0 ? [null] : readings.map(printedBy);
  return texts.includes(null) ? unknown : { kind: 'text', text: texts.join('\n') };
}

/** What redirections hand to a command on its standard input. */
export function inputOf(state: WalkState, redirects: readonly Redirection[]): Stdin | null {
  let stdin: Stdin | null = null;
  for (const redirect of redirects) {
    if (redirect.type === 'HereString') {
      const texts = redirect.target === undefined ? [] : readWord(redirect.target, state.reading).map((fields) => fields.join(' '));
      stdin = { kind: 'text', text: texts.join('\n') };
    } else if (redirect.type === 'HereDoc') {
      stdin = { kind: 'text', text: redirect.body.text };
    } else if (redirect.operator === '<' || redirect.operator === '<>') {
      stdin = { kind: 'unknown', from: `the file ${redirect.target?.text ?? ''}`.trim() };
    }
  }
  return stdin;
}
