/** A key as `readline.emitKeypressEvents` reports it. */
export interface Key {
  readonly sequence?: string | undefined;
  readonly name?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
}

/** What is being typed. Plain data; `editLine` is a pure function of it and a key. */
export interface EditedLine {
  readonly text: string;
  /** Position in `text`, in code units, at the border of a character. */
  readonly cursor: number;
  /** Earlier lines, oldest first. */
  readonly history: readonly string[];
  /** Which of them is shown; undefined while a new line is typed. */
  readonly shown: number | undefined;
  /** The new line, kept while earlier ones are looked at. */
  readonly draft: string;
  /** Between the terminal's marks of a paste: line breaks are text. */
  readonly isPasting: boolean;
}

export type EditAction = 'submit' | 'interrupt' | 'escape' | 'end' | undefined;

export const emptyLine = (history: readonly string[] = []): EditedLine => ({
  text: '',
  cursor: 0,
  history,
  shown: undefined,
  draft: '',
  isPasting: false,
});

/** The line after a key. A trailing backslash, Alt-Enter and a paste make further lines; Enter alone submits. */
export function editLine(line: EditedLine, key: Key): { readonly line: EditedLine; readonly action: EditAction } {
  const same = (next: EditedLine, action?: EditAction) => ({ line: next, action });
  const { name } = key;
  if (name === 'paste-start') return same({ ...line, isPasting: true });
  if (name === 'paste-end') return same({ ...line, isPasting: false });
  if (name === 'return' || name === 'enter') {
    if (line.isPasting || key.meta) return same(insert(line, '\n'));
    if (line.text.slice(0, line.cursor).endsWith('\\')) return same(insert(remove(line, line.cursor - 1, line.cursor), '\n'));
    return same(line, 'submit');
  }
  if (line.isPasting) return same(insert(line, textOf(key)));
  if (key.ctrl && name === 'c') return same(line, 'interrupt');
  if (key.ctrl && name === 'd') return line.text === '' ? same(line, 'end') : same(remove(line, line.cursor, after(line)));
  if (name === 'escape') return same(line, 'escape');
  return same(edited(line, key));
}

function edited(line: EditedLine, key: Key): EditedLine {
  const { text, cursor } = line;
  const command = `${key.ctrl ? 'ctrl-' : key.meta ? 'alt-' : ''}${key.name ?? ''}`;
  switch (command) {
    case 'left':
    case 'ctrl-b':
      return { ...line, cursor: before(line) };
    case 'right':
    case 'ctrl-f':
      return { ...line, cursor: after(line) };
    case 'home':
    case 'ctrl-a':
      return { ...line, cursor: lineStart(line) };
    case 'end':
    case 'ctrl-e':
      return { ...line, cursor: lineEnd(line) };
    case 'alt-b':
    case 'alt-left':
    case 'ctrl-left':
      return { ...line, cursor: wordStart(line) };
    case 'alt-f':
    case 'alt-right':
    case 'ctrl-right':
      return { ...line, cursor: wordEnd(line) };
    case 'backspace':
    case 'ctrl-h':
      return remove(line, before(line), cursor);
    case 'delete':
      return remove(line, cursor, after(line));
    case 'ctrl-w':
    case 'alt-backspace':
      return remove(line, wordStart(line), cursor);
    case 'ctrl-u':
      return remove(line, lineStart(line), cursor);
    case 'ctrl-k':
      return remove(line, cursor, lineEnd(line));
    case 'up':
    case 'ctrl-p':
      return text.lastIndexOf('\n', cursor - 1) === -1 || cursor === 0 ? recall(line, -1) : { ...line, cursor: rowAbove(line) };
    case 'down':
    case 'ctrl-n':
      return text.indexOf('\n', cursor) === -1 ? recall(line, 1) : { ...line, cursor: rowBelow(line) };
    default:
      return key.ctrl || key.meta ? line : insert(line, textOf(key));
  }
}

/** What a key types: nothing for function keys and control characters. */
function textOf({ sequence = '' }: Key): string {
  return sequence.startsWith('\u001b') ? '' : sequence.replaceAll('\r', '\n').replaceAll(/(?![\t\n])\p{Cc}/gu, '');
}

function insert(line: EditedLine, text: string): EditedLine {
  const { text: old, cursor } = line;
  return { ...line, text: old.slice(0, cursor) + text + old.slice(cursor), cursor: cursor + text.length };
}

function remove(line: EditedLine, from: number, to: number): EditedLine {
  return { ...line, text: line.text.slice(0, from) + line.text.slice(to), cursor: from };
}

function recall(line: EditedLine, step: -1 | 1): EditedLine {
  const { history, shown } = line;
  const draft = shown === undefined ? line.text : line.draft;
  const at = (shown ?? history.length) + step;
  if (at < 0 || at > history.length) return line;
  const text = history[at] ?? draft;
  return { ...line, draft, shown: at === history.length ? undefined : at, text, cursor: text.length };
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
/** Code units looked at around the cursor: no character is longer. */
const NEAR = 64;

/** Where the last character of a text begins. Only its end is looked at, so that a long paste stays quick. */
function lastStart(text: string): number {
  const from = Math.max(0, text.length - NEAR);
  return from + ([...graphemes.segment(text.slice(from))].at(-1)?.index ?? 0);
}
/** Where the first character of a text ends. */
function headEnd(text: string): number {
  const [first] = graphemes.segment(text.slice(0, NEAR));
  return first?.segment.length ?? 0;
}

const before = ({ text, cursor }: EditedLine): number => lastStart(text.slice(0, cursor));
const after = ({ text, cursor }: EditedLine): number => cursor + headEnd(text.slice(cursor));
const lineStart = ({ text, cursor }: EditedLine): number => (cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1);
const lineEnd = ({ text, cursor }: EditedLine): number => (text.indexOf('\n', cursor) === -1 ? text.length : text.indexOf('\n', cursor));
const wordStart = ({ text, cursor }: EditedLine): number => Math.max(0, text.slice(0, cursor).trimEnd().search(/\S+$/));
const wordEnd = ({ text, cursor }: EditedLine): number => cursor + (/^\s*\S*/.exec(text.slice(cursor))?.[0].length ?? 0);

function rowAbove(line: EditedLine): number {
  const start = lineStart(line);
  const above = lineStart({ ...line, cursor: start - 1 });
  return Math.min(above + (line.cursor - start), start - 1);
}
function rowBelow(line: EditedLine): number {
  const below = lineEnd(line) + 1;
  return Math.min(below + (line.cursor - lineStart(line)), lineEnd({ ...line, cursor: below }));
}
