import { emitKeypressEvents } from 'node:readline';
import { type EditedLine, editLine, emptyLine, type Key } from './lineEditor.js';
import { visible } from './lines.js';
import type { Screen } from './screen.js';

/** A keyboard: a terminal's standard input. */
export type KeyInput = NodeJS.ReadableStream & { setRawMode?(on: boolean): unknown };

export interface OpenLine {
  readonly prompt: string;
  readonly history?: readonly string[];
  /** A line was typed; the input line is empty again. */
  onLine(text: string): void;
  /** Ctrl-C. Returns true when it was used up; else whatever `typed` says is cleared, or the flow is interrupted. */
  onInterrupt(typed: string): void;
  onEscape?(): void;
  /** Ctrl-D on an empty line, or the input has ended. */
  onEnd(): void;
}

interface Reader extends OpenLine {
  line: EditedLine;
}

/** Where the input line stands among a screen's footers: below everything else. */
const POSITION = 10;
const PASTE_MARKS = { on: '\u001b[?2004h', off: '\u001b[?2004l' };

/**
 * The input line at the foot of the screen. Lines can be opened over each other: a question takes the keyboard, and what was being typed
 * below it is there again afterwards. The terminal is in raw mode only while a line is open.
 */
export class Prompter {
  private readonly readers: Reader[] = [];
  private removeFooter: (() => void) | undefined;
  private readonly onKey = (_: string | undefined, key: Key) => this.take(key);
  private readonly onEnd = () => this.readers.at(-1)?.onEnd();

  constructor(
    private readonly input: KeyInput,
    private readonly output: NodeJS.WritableStream,
    private readonly screen: Screen,
  ) {
    emitKeypressEvents(input);
  }

  open(options: OpenLine): { close(): void; setHistory(history: readonly string[]): void } {
    const reader: Reader = { ...options, line: emptyLine(options.history) };
    this.readers.push(reader);
    if (this.readers.length === 1) this.begin();
    this.screen.refresh();
    return {
      setHistory: (history) => {
        reader.line = { ...reader.line, history };
      },
      close: () => {
        const at = this.readers.indexOf(reader);
        if (at === -1) return;
        this.readers.splice(at, 1);
        if (this.readers.length === 0) this.end();
        this.screen.refresh();
      },
    };
  }

  /** One line in answer to a question. Rejects when the signal fires: the question no longer stands. */
  ask(prompt: string, signal: AbortSignal, onInterrupt: () => void): Promise<string> {
    return new Promise((resolve, reject) => {
      const withdraw = () => {
        line.close();
        reject(new Error('The question was withdrawn.'));
      };
      const answer = (text: string) => {
        signal.removeEventListener('abort', withdraw);
        line.close();
        this.screen.print(`${this.screen.paint('gray', prompt)}${visible(text)}`);
        resolve(text);
      };
      const line = this.open({ prompt, onLine: answer, onInterrupt, onEscape: onInterrupt, onEnd: onInterrupt });
      if (signal.aborted) withdraw();
      else signal.addEventListener('abort', withdraw, { once: true });
    });
  }

  close(): void {
    if (this.readers.length === 0) return;
    this.readers.length = 0;
    this.end();
  }

  private begin(): void {
    this.input.setRawMode?.(true);
    this.output.write(PASTE_MARKS.on);
    this.input.on('keypress', this.onKey);
    this.input.on('end', this.onEnd);
    this.input.resume();
    this.removeFooter = this.screen.addFooter(POSITION, () => this.render());
  }

  private end(): void {
    this.input.off('keypress', this.onKey);
    this.input.off('end', this.onEnd);
    this.input.setRawMode?.(false);
    this.output.write(PASTE_MARKS.off);
    this.input.pause();
    this.removeFooter?.();
    this.removeFooter = undefined;
  }

  private take(key: Key): void {
    const reader = this.readers.at(-1);
    if (!reader) return;
    const { line, action } = editLine(reader.line, key);
    const typed = line.text;
    reader.line = action === 'submit' || (action === 'interrupt' && typed !== '') ? emptyLine(line.history) : line;
    if (action === 'submit') reader.onLine(typed);
    else if (action === 'interrupt') reader.onInterrupt(typed);
    else if (action === 'escape') reader.onEscape?.();
    else if (action === 'end') reader.onEnd();
    this.screen.refresh();
  }

  private render(): readonly string[] {
    const reader = this.readers.at(-1);
    return reader === undefined ? [] : renderLine(reader.line, reader.prompt, this.screen);
  }
}

/** The line as it stands on the screen, the character under the cursor reversed. A long text shows the rows around the cursor. */
function renderLine(
  { text, cursor }: Pick<EditedLine, 'text' | 'cursor'>,
  prompt: string,
  screen: Pick<Screen, 'paint' | 'height'>,
): readonly string[] {
  const [under = ''] = new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text.slice(cursor, cursor + 64));
  const at = typeof under === 'string' ? '' : under.segment;
  const mark = at === '' || at === '\n' ? ' ' : at;
  const shown = `${visible(text.slice(0, cursor))}\u001b[7m${visible(mark)}\u001b[27m${at === '\n' ? '\n' : ''}${visible(text.slice(cursor + at.length))}`;
  const rows = shown.replaceAll('\t', '  ').split('\n');
  const current = rows.findIndex((row) => row.includes('\u001b[7m'));
  const room = Math.max(1, Math.floor(screen.height / 2));
  const from = Math.max(0, Math.min(current - Math.floor(room / 2), rows.length - room));
  const indent = ' '.repeat(prompt.length);
  return rows.slice(from, from + room).map((row, index) => `${from + index === 0 ? screen.paint('cyan', prompt) : indent}${row}`);
}
