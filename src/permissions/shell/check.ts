import { type Assignment, forEachChild, type Redirection, type SyntaxNode, type Word } from 'unbash';
import { followSubscript } from './collect.js';
import { knownWords } from './readings.js';
import type { Scope, WalkState } from './state.js';
import { describeWord } from './static.js';
import type { ShellAssignment, ShellWord } from './types.js';

/** Notes what a word keeps rules from, and the commands inside it. */
export function checkWord(state: WalkState, word: Word, scope: Scope): ShellWord {
  const described = describeWord(word);
  for (const blocker of described.blockers) state.blockers.add(blocker);
  walkExpansions(state, word, scope);
  return described.value === null ? { ...described, mayBe: knownWords(word, state.reading) } : described;
}

export function checkAssignment(state: WalkState, assignment: Assignment, scope: Scope): ShellAssignment {
  if (assignment.index !== undefined) {
    checkWord(state, assignment.index, scope);
    state.blockers.add(`computes an index of ${assignment.name}`);
  }
  if (assignment.value.type === 'ArrayValue') {
    for (const element of assignment.value.elements) checkWord(state, element, scope);
    state.blockers.add(`sets the array ${assignment.name}`);
    return { name: assignment.name, value: null };
  }
  const { value } = checkWord(state, assignment.value, scope);
  if (value !== null) followSubscript(state, value, scope);
  return { name: assignment.name, value };
}

/** The words of a test expression. */
export function walkWords(state: WalkState, node: SyntaxNode, scope: Scope): void {
  forEachChild(node, (child) => {
    if (child.type === 'Word') followSubscript(state, checkWord(state, child, scope).value ?? '', scope);
    else walkWords(state, child, scope);
  });
}

/** Scripts inside a word: `$(…)`, backticks, `<(…)`, also inside arithmetic. */
export function walkExpansions(state: WalkState, node: SyntaxNode, scope: Scope): void {
  if (node.type === 'Word' && node.parts === undefined) return;
  forEachChild(node, (child) => {
    if (child.type === 'ParameterExpansion' && child.operation?.type === 'Transform' && child.operation.operand.text === 'P') {
      state.opaque.push({ text: child.text, reason: `${child.text} runs the substitutions in a variable's value` });
    }
    if (isUnread(child)) state.broken ??= `${child.text} is nested too deep to look at`;
    if (child.type === 'Script') state.walkParsed(child, { ...scope, stdin: null, via: scope.via, timed: false, depth: scope.depth + 1 });
    else walkExpansions(state, child, scope);
  });
}

/** A substitution that the parser left alone. */
function isUnread(node: SyntaxNode): node is Extract<SyntaxNode, { text: string }> {
  switch (node.type) {
    case 'CommandExpansion':
    case 'ProcessSubstitution':
    case 'ArithmeticCommandExpansion':
      return node.script === undefined;
    case 'ArithmeticExpansion':
      return node.expression === undefined && /\$\(|`/.test(node.text);
    default:
      return false;
  }
}

/** Notes the files that redirections open, and the commands inside their words. */
export function walkRedirects(state: WalkState, redirects: readonly Redirection[], scope: Scope): void {
  for (const redirect of redirects) {
    if (redirect.descriptor?.type === 'FileDescriptorVariable') state.blockers.add('opens a file descriptor by a variable');
    if (redirect.type === 'HereDoc') {
      const parts = redirect.body.parts ?? [];
      for (const part of parts) {
        if (part.type === 'SimpleExpansion' || part.type === 'ParameterExpansion') state.blockers.add(`uses the variable ${part.text}`);
        if (part.type === 'CommandExpansion') state.blockers.add('has a command substitution');
      }
      walkExpansions(state, redirect.body, scope);
      continue;
    }
    if (redirect.target === undefined) {
      state.broken ??= 'a redirection has no target';
      continue;
    }
    const word = checkWord(state, redirect.target, scope);
    if (redirect.type === 'HereString') continue;
    if ((redirect.operator === '>&' || redirect.operator === '<&') && /^(\d+-?|-)$/.test(word.value ?? '')) continue;
    if (redirect.operator === '<&') {
      state.blockers.add('copies a file descriptor that only the shell knows');
      continue;
    }
    state.redirects.push({
      access: redirect.operator === '<' ? 'read' : 'write',
      operator: redirect.operator,
      text: word.text,
      target: word.value,
      ...(word.mayBe === undefined ? {} : { mayBe: word.mayBe }),
      glob: word.glob,
      tilde: word.tilde,
      directories: scope.directories,
    });
  }
}
