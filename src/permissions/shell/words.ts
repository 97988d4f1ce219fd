import { type ArithmeticExpression, type Assignment, type ParsedScript, parse, type Word, type WordPart } from 'unbash';
import { expandBraces } from './braces.js';
import { type ShellWord, UNKNOWN } from './types.js';

/** Literal values that the text gives a variable; a variable may always also hold something else. */
export type Variables = ReadonlyMap<string, readonly string[]>;

export interface DescribedWord extends ShellWord {
  /** Why the word keeps a rule for single commands from covering its command. */
  readonly blockers: readonly string[];
}

interface Piece {
  readonly text: string;
  /** From an unquoted expansion: the shell splits it at blanks. */
  readonly split: boolean;
}

const MAX_ALTERNATIVES = 16;
const NONE: readonly string[] = [];

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

const ESCAPED = 'has a backslash before a blank or an operator';

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
function heredocData(script: ParsedScript): string | null {
  const statement = script.commands[0];
  if (script.commands.length !== 1 || statement === undefined || statement.background === true) return null;
  const command = statement.command;
  if (command.type !== 'Command' || command.name?.text !== 'cat' || command.prefix.length > 0 || command.suffix.length !== 1) return null;
  const here = command.suffix[0];
  if (here?.type !== 'HereDoc' || here.delimiter?.quoted !== true || here.descriptor !== undefined) return null;
  return here.body.text.replace(/\n+$/, '');
}

function evaluate(expression: ArithmeticExpression): number | null {
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

/** All that a command's name may become: a glob in it stands for whatever files there are. */
export function readName(word: Word, variables: Variables): string[][] {
  const readings = readWord(word, variables);
  if (!word.parts?.some((part) => part.type === 'Glob' || part.type === 'ExtendedGlob')) return readings;
  return readings.map((fields) => fields.map((field) => field.replace(/\[[^\]]*\]|[*?]/g, UNKNOWN)));
}

/** All that a word may become: alternatives, each a list of words. */
export function readWord(word: Word, variables: Variables): string[][] {
  const parts = word.parts;
  if (parts === undefined) return [[word.value]];
  if (parts.some((part) => part.type === 'BraceExpansion')) return readBraces(word, variables);
  let alternatives: Piece[][] = [[]];
  for (const part of parts) {
    const options = readPart(part, variables, false);
    const next: Piece[][] = [];
    for (const head of alternatives) for (const option of options) if (next.length < MAX_ALTERNATIVES) next.push([...head, ...option]);
    alternatives = next;
  }
  return alternatives.map(fieldsOf);
}

export function readAssignment(assignment: Assignment, variables: Variables): string[][] {
  if (assignment.value.type === 'ArrayValue') return [[assignment.text]];
  const head = assignment.text.slice(0, assignment.value.pos - assignment.pos);
  return readWord(assignment.value, variables).map((fields) => [head + fields.join(' ')]);
}

function readBraces(word: Word, variables: Variables): string[][] {
  const texts = expandBraces(word.text);
  if (texts === null) return [[UNKNOWN]];
  let alternatives: string[][] = [[]];
  for (const text of texts) {
    const parsed = parse(`: ${text}`).commands[0]?.command;
    const argument = parsed?.type === 'Command' ? parsed.suffix[0] : undefined;
    const options =
      argument?.type === 'Word' && !argument.parts?.some((part) => part.type === 'BraceExpansion')
        ? readWord(argument, variables)
        : [text === '' ? [] : [text]];
    const next: string[][] = [];
    for (const head of alternatives) for (const option of options) if (next.length < MAX_ALTERNATIVES) next.push([...head, ...option]);
    alternatives = next;
  }
  return alternatives;
}

function fieldsOf(pieces: readonly Piece[]): string[] {
  const fields: string[] = [];
  let current: string | null = null;
  for (const piece of pieces) {
    if (!piece.split) {
      current = (current ?? '') + piece.text;
      continue;
    }
    const chunks = piece.text.split(/[ \t\n]+/);
    chunks.forEach((chunk, index) => {
      if (index > 0 && current !== null) {
        fields.push(current);
        current = null;
      }
      if (chunk !== '') current = (current ?? '') + chunk;
    });
  }
  if (current !== null) fields.push(current);
  return fields;
}

function readPart(part: WordPart, variables: Variables, quoted: boolean): Piece[][] {
  const split = !quoted;
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
    case 'Glob':
      return [[{ text: part.value, split: false }]];
    case 'DoubleQuoted':
    case 'LocaleString': {
      let alternatives: Piece[][] = [[{ text: '', split: false }]];
      for (const child of part.parts) {
        const options = readPart(child, variables, true);
        const next: Piece[][] = [];
        for (const head of alternatives) for (const option of options) if (next.length < MAX_ALTERNATIVES) next.push([...head, ...option]);
        alternatives = next;
      }
      return alternatives;
    }
    case 'SimpleExpansion':
      return readVariable(part.text.slice(1), split, variables);
    case 'ParameterExpansion':
      if (part.prefix !== undefined || part.index !== undefined) return [[{ text: UNKNOWN, split }]];
      if (part.operation === undefined) return readVariable(part.parameter, split, variables);
      if (part.operation.type === 'Default') {
        const operand = readWord(part.operation.operand, variables).map((fields) => [{ text: fields.join(' '), split }]);
        return [...operand, ...readVariable(part.parameter, split, variables)];
      }
      return [[{ text: UNKNOWN, split }]];
    case 'CommandExpansion': {
      const output = part.script === undefined ? null : (heredocData(part.script) ?? printed(part.script, variables));
      return output === null ? [[{ text: UNKNOWN, split }]] : [[{ text: output, split }]];
    }
    case 'ArithmeticExpansion': {
      const number = part.expression === undefined ? null : evaluate(part.expression);
      return [[{ text: number === null ? UNKNOWN : String(number), split: false }]];
    }
    default:
      return [[{ text: UNKNOWN, split: false }]];
  }
}

function readVariable(name: string, split: boolean, variables: Variables): Piece[][] {
  if (name === 'IFS' && !variables.has('IFS')) return [[{ text: ' ', split }]];
  const values = variables.get(name) ?? NONE;
  return [...values.slice(0, 4).map((text) => [{ text, split }]), [{ text: UNKNOWN, split }]];
}

/** What a script prints, where it is one `echo` or `printf` of literal words. */
export function printed(script: ParsedScript, variables: Variables): string | null {
  const statement = script.commands[0];
  if (script.commands.length !== 1 || statement?.command.type !== 'Command') return null;
  const command = statement.command;
  if (command.name === undefined || command.redirects.length > 0) return null;
  const argv: string[] = [];
  for (const word of [command.name, ...command.args]) {
    if (word.type !== 'Word') return null;
    const fields = readWord(word, variables)[0] ?? [];
    if (fields.some((field) => field.includes(UNKNOWN))) return null;
    argv.push(...fields);
  }
  return printedBy(argv);
}

/** What `echo …` or `printf …` prints; null for any other program. */
export function printedBy(argv: readonly string[]): string | null {
  const name = (argv[0] ?? '').split('/').pop();
  const args = argv.slice(1);
  if (name === 'echo') {
    let escapes = false;
    while (/^-[neE]+$/.test(args[0] ?? '')) escapes = (args.shift() ?? '').includes('e') || escapes;
    const text = args.join(' ');
    return escapes ? decodeEscapes(text) : text;
  }
  if (name !== 'printf' || args[0] === '-v') return null;
  if (args[0] === '--') args.shift();
  const format = decodeEscapes(args[0] ?? '');
  const values = args.slice(1);
  const once = () => format.replace(/%([sbq%])/g, (_, kind: string) => (kind === '%' ? '%' : (values.shift() ?? '')));
  let text = once();
  for (let i = 0; values.length > 0 && /%[sbq]/.test(format) && i < 32; i++) text += once();
  return /%[^%\s]/.test(format.replace(/%[sbq%]/g, '')) ? null : text;
}

function decodeEscapes(text: string): string {
  return text.replace(/\\(n|t|r|\\|x[0-9a-fA-F]{1,2}|0?[0-7]{1,3})/g, (_, code: string) => {
    if (code === 'n') return '\n';
    if (code === 't') return '\t';
    if (code === 'r') return '\r';
    if (code === '\\') return '\\';
    return String.fromCharCode(code.startsWith('x') ? Number.parseInt(code.slice(1), 16) : Number.parseInt(code, 8));
  });
}
