import type { ArithmeticExpression, ParsedScript, Word, WordPart } from 'unbash';
import type { ShellWord } from './types.js';

export interface DescribedWord extends ShellWord {
  /** Why the word keeps a rule for single commands from covering its command. */
  readonly blockers: readonly string[];
}

const NONE: readonly string[] = [];

/** A word as written, and what it keeps rules from. */
export function describeWord(word: Word): DescribedWord {
  const parts = word.parts;
  if (parts === undefined) {
    const escaped = /\\[ \t;|&<>]/.test(word.text);
    return {
      text: word.text,
      value: word.value,
      glob: false,
      tilde: word.text.startsWith('~'),
      blockers: escaped ? [ESCAPED] : NONE,
    };
  }
  const blockers = new Set<string>();
  let glob = false;
  let value: string | null = '';
  for (const part of parts) {
    if (part.type === 'Glob') glob = true;
    const text = staticText(part, blockers);
    value = value === null || text === null ? null : value + text;
  }
  return { text: word.text, value, glob, tilde: word.text.startsWith('~'), blockers: [...blockers] };
}

export const ESCAPED = 'has a backslash before a blank or an operator';

function staticText(part: WordPart, blockers: Set<string>): string | null {
  switch (part.type) {
    case 'Literal':
      if (/\\[ \t;|&<>]/.test(part.text) && part.text !== part.value) blockers.add(ESCAPED);
      return part.value;
    case 'SingleQuoted':
    case 'Glob':
      return part.value;
    case 'AnsiCQuoted':
      blockers.add("has a $'…' string");
      return part.value;
    case 'LocaleString':
    case 'DoubleQuoted': {
      if (part.type === 'LocaleString') blockers.add('has a $"…" string');
      let value: string | null = '';
      for (const child of part.parts) {
        const text = child.type === 'Literal' ? child.value : staticText(child, blockers);
        value = value === null || text === null ? null : value + text;
      }
      return value;
    }
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      blockers.add(`uses the variable ${part.text}`);
      return null;
    case 'CommandExpansion': {
      const data = part.script === undefined ? null : heredocData(part.script);
      if (data !== null) return data;
      blockers.add('has a command substitution');
      return null;
    }
    case 'ProcessSubstitution':
      blockers.add('has a process substitution');
      return null;
    case 'ArithmeticExpansion': {
      const number = part.expression === undefined ? null : evaluate(part.expression);
      if (number === null) blockers.add('has an arithmetic expansion of something that only the shell knows');
      return number === null ? null : String(number);
    }
    case 'BraceExpansion':
      blockers.add('has a brace expansion');
      return null;
    case 'ExtendedGlob':
      blockers.add('has an extended glob');
      return null;
  }
}

/** The text of `$(cat <<'EOF' … EOF)`: data, the usual way to pass several lines. */
export function heredocData(script: ParsedScript): string | null {
  const statement = script.commands[0];
  if (script.commands.length !== 1 || statement === undefined || statement.background === true) return null;
  const command = statement.command;
  if (command.type !== 'Command' || command.name?.text !== 'cat' || command.prefix.length > 0 || command.suffix.length !== 1) return null;
  const here = command.suffix[0];
  if (here?.type !== 'HereDoc' || here.delimiter?.quoted !== true || here.descriptor !== undefined) return null;
  return here.body.text.replace(/\n+$/, '');
}

export function evaluate(expression: ArithmeticExpression): number | null {
  switch (expression.type) {
    case 'ArithmeticWord':
      return /^\d+$/.test(expression.value) ? Number(expression.value) : null;
    case 'ArithmeticGroup':
      return evaluate(expression.expression);
    case 'ArithmeticBinary': {
      const left = evaluate(expression.left);
      const right = evaluate(expression.right);
      if (left === null || right === null) return null;
      if (expression.operator === '+') return left + right;
      if (expression.operator === '-') return left - right;
      if (expression.operator === '*') return left * right;
      return expression.operator === '/' && right !== 0 ? Math.trunc(left / right) : null;
    }
    default:
      return null;
  }
}
