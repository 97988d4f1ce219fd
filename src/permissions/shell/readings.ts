import { type Assignment, type ParsedScript, parse, type Word, type WordPart } from 'unbash';
import { expandBraces } from './braces.js';
import { printedBy } from './printed.js';
import { evaluate, heredocData } from './static.js';
import { type OpaqueMode, UNKNOWN } from './types.js';

/** What words are read against. */
export interface ReadContext {
  /** Literal values that the text gives a variable; a variable may always also hold something else. */
  readonly variables: ReadonlyMap<string, readonly string[]>;
  readonly mode: OpaqueMode;
  /** Variables that the shell itself sets, as paths: what they hold unless the text says otherwise. */
  readonly ambient?: ReadonlyMap<string, string>;
}

/** `~` is the home directory, `.` the directory that the command runs in. */
const PLACES: ReadonlyMap<string, string> = new Map([
  ['HOME', '~'],
  ['PWD', '.'],
]);
/** The home directory stays where it is while the script runs. */
export const HOME: ReadonlyMap<string, string> = new Map([['HOME', '~']]);

interface Piece {
  readonly text: string;
  /** From an unquoted expansion: the shell splits it at blanks. */
  readonly split: boolean;
}

const MAX_ALTERNATIVES = 16;
const MAX_READINGS = 24;

/** Words that a word may become, those left out that nobody knows before the command runs. */
export function knownWords(word: Word, context: ReadContext): string[] {
  if (context.mode !== 'strict') return [];
  const fields = readWord(word, { ...context, ambient: PLACES }).flat();
  return [...new Set(fields)].filter((field) => field !== '' && !field.includes(UNKNOWN));
}

/** All that a command's name may become: a glob in it stands for whatever files there are. */
function readName(word: Word, context: ReadContext): string[][] {
  const readings = readWord(word, context);
  if (!word.parts?.some((part) => part.type === 'Glob' || part.type === 'ExtendedGlob')) return readings;
  return readings.map((fields) => fields.map((field) => field.replace(/\[[^\]]*\]|[*?]/g, UNKNOWN)));
}

/** All that a word may become: alternatives, each a list of words. */
export function readWord(word: Word, context: ReadContext): string[][] {
  const parts = word.parts;
  if (parts === undefined) return [[word.value]];
  if (parts.some((part) => part.type === 'BraceExpansion')) return readBraces(word, context);
  let alternatives: Piece[][] = [[]];
  for (const part of parts) {
    const options = readPart(part, context, false);
    const next: Piece[][] = [];
    for (const head of alternatives) for (const option of options) if (next.length < MAX_ALTERNATIVES) next.push([...head, ...option]);
    alternatives = next;
  }
  return alternatives.map(fieldsOf);
}

/** All that a command's words may become, the first being its name. */
export function readWords([name, ...args]: readonly (Word | Assignment)[], context: ReadContext): string[][] {
  if (name === undefined) return [];
  let readings: string[][] = name.type === 'Word' ? readName(name, context) : readAssignment(name, context);
  for (const arg of args) {
    const options = arg.type === 'Word' ? readWord(arg, context) : readAssignment(arg, context);
    const next: string[][] = [];
    for (const head of readings) for (const option of options) if (next.length < MAX_READINGS) next.push([...head, ...option]);
    readings = next;
  }
  return readings;
}

function readAssignment(assignment: Assignment, context: ReadContext): string[][] {
  if (assignment.value.type === 'ArrayValue') return [[assignment.text]];
  const head = assignment.text.slice(0, assignment.value.pos - assignment.pos);
  return readWord(assignment.value, context).map((fields) => [head + fields.join(' ')]);
}

function readBraces(word: Word, context: ReadContext): string[][] {
  const texts = context.mode === 'strict' ? expandBraces(word.text) : null;
  if (texts === null) return [[context.mode === 'strict' ? UNKNOWN : word.text]];
  let alternatives: string[][] = [[]];
  for (const text of texts) {
    const parsed = parse(`: ${text}`).commands[0]?.command;
    const argument = parsed?.type === 'Command' ? parsed.suffix[0] : undefined;
    const options =
      argument?.type === 'Word' && !argument.parts?.some((part) => part.type === 'BraceExpansion')
        ? readWord(argument, context)
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

function readPart(part: WordPart, context: ReadContext, quoted: boolean): Piece[][] {
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
        const options = readPart(child, context, true);
        const next: Piece[][] = [];
        for (const head of alternatives) for (const option of options) if (next.length < MAX_ALTERNATIVES) next.push([...head, ...option]);
        alternatives = next;
      }
      return alternatives;
    }
    case 'SimpleExpansion':
      return readVariable(part.text.slice(1), split, context);
    case 'ParameterExpansion':
      if (part.prefix !== undefined || part.index !== undefined) return [[{ text: UNKNOWN, split }]];
      if (part.operation === undefined) return readVariable(part.parameter, split, context);
      // After `?` stands what the shell says when the variable is not set, and stops.
      if (part.operation.type === 'Default' && part.operation.operator.endsWith('?')) return readVariable(part.parameter, split, context);
      if (part.operation.type === 'Default') {
        const operand = readWord(part.operation.operand, context).map((fields) => [{ text: fields.join(' '), split }]);
        return [...operand, ...readVariable(part.parameter, split, context)];
      }
      return [[{ text: UNKNOWN, split }]];
    case 'CommandExpansion': {
      const output = part.script === undefined ? null : (heredocData(part.script) ?? printed(part.script, context));
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

function readVariable(name: string, split: boolean, { variables, mode, ambient }: ReadContext): Piece[][] {
  if (name === 'IFS' && mode === 'strict' && !variables.has('IFS')) return [[{ text: ' ', split }]];
  const place = ambient?.get(name);
  const values = variables.get(name) ?? (place === undefined ? [] : [place]);
  return [...values.slice(0, 4).map((text) => [{ text, split }]), [{ text: UNKNOWN, split }]];
}

/** What a script prints, where it is one `echo` or `printf` of literal words. */
function printed(script: ParsedScript, context: ReadContext): string | null {
  if (context.mode !== 'strict') return null;
  const statement = script.commands[0];
  if (script.commands.length !== 1 || statement?.command.type !== 'Command') return null;
  const command = statement.command;
  if (command.name === undefined || command.redirects.length > 0) return null;
  const argv: string[] = [];
  for (const word of [command.name, ...command.args]) {
    if (word.type !== 'Word') return null;
    const fields = readWord(word, context)[0] ?? [];
    if (fields.some((field) => field.includes(UNKNOWN))) return null;
    argv.push(...fields);
  }
  return printedBy(argv);
}
