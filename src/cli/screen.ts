import { Writable } from 'node:stream';
import { createLogUpdate } from 'log-update';
import stringWidth from 'string-width';
import { beginning, createPaint, type Paint, printable } from './lines.js';

/** Rows that an unfinished line of text may fill before its beginning is written for good. */
const OPEN_ROWS = 4;
/** Of a terminal that does not say how large it is, or says that it has no size at all. */
const DEFAULT_SIZE = { columns: 80, rows: 24 };
const STREAM_REDRAW_MS = 40;

/** Lines at the lower edge of a terminal that are redrawn in place. */
export type Footer = (width: number) => readonly string[];

/**
 * What a person sees: lines that stay, text as it streams, and below it footers that are redrawn in place (running calls, the input line).
 * Not a terminal: lines only, one after another, and no footers.
 */
export interface Screen {
  readonly paint: Paint;
  readonly isLive: boolean;
  readonly width: number;
  /** Rows of the terminal. */
  readonly height: number;
  /** Lines that stay. Unfinished text before them is ended. */
  print(text: string): void;
  /** A piece of text in a stream; control characters are made visible. */
  stream(text: string): void;
  /** Ends streamed text that has no line break yet. */
  endText(): void;
  /** Footers stand in the order of `position`. Returns how to take it away. */
  addFooter(position: number, footer: Footer): () => void;
  refresh(): void;
  close(): void;
}

export type ScreenStream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

export function createScreen(stream: ScreenStream): Screen {
  return stream.isTTY === true ? new LiveScreen(stream) : new PlainScreen(stream);
}

function sizeOf({ columns, rows }: ScreenStream): typeof DEFAULT_SIZE {
  return { columns: columns || DEFAULT_SIZE.columns, rows: rows || DEFAULT_SIZE.rows };
}

/** The same terminal, with a size that can be relied on. */
function sized(out: ScreenStream): Writable {
  const write = (chunk: string, _encoding: string, done: () => void) => {
    out.write(chunk);
    done();
  };
  return Object.defineProperties(new Writable({ decodeStrings: false, write }), {
    columns: { get: () => sizeOf(out).columns },
    rows: { get: () => sizeOf(out).rows },
  });
}

class PlainScreen implements Screen {
  readonly isLive = false;
  readonly width = 400;
  readonly height = 24;
  readonly paint: Paint;
  private open = '';

  constructor(private readonly out: ScreenStream) {
    this.paint = createPaint(out);
  }

  print(text: string): void {
    this.endText();
    this.out.write(`${text}\n`);
  }
  stream(text: string): void {
    this.open += printable(text);
    const end = this.open.lastIndexOf('\n') + 1;
    if (end === 0) return;
    this.out.write(this.open.slice(0, end));
    this.open = this.open.slice(end);
  }
  addFooter(): () => void {
    return () => {};
  }
  refresh(): void {}
  close(): void {
    this.endText();
  }
  endText(): void {
    if (this.open !== '') this.out.write(`${this.open}\n`);
    this.open = '';
  }
}

class LiveScreen implements Screen {
  readonly isLive = true;
  readonly paint: Paint;
  private readonly live: ReturnType<typeof createLogUpdate>;
  private readonly footers: { readonly position: number; readonly footer: Footer }[] = [];
  /** Text that has no line break yet: it is redrawn with the footers, above them. */
  private open = '';
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  private readonly onResize = () => this.refresh();

  constructor(private readonly out: ScreenStream) {
    this.paint = createPaint(out);
    this.live = createLogUpdate(sized(out));
    out.on('resize', this.onResize);
  }

  get width(): number {
    return sizeOf(this.out).columns;
  }
  get height(): number {
    return Math.max(4, sizeOf(this.out).rows);
  }

  print(text: string): void {
    const unfinished = this.open === '' ? '' : `${this.open}\n`;
    this.open = '';
    this.commit(`${unfinished}${text}\n`);
  }

  stream(text: string): void {
    this.open += printable(text);
    const end = this.open.lastIndexOf('\n') + 1;
    const whole = this.open.slice(0, end);
    this.open = this.open.slice(end);
    const overflow = this.takeOverflow();
    if (whole !== '' || overflow !== '') this.commit(`${whole}${overflow}`);
    else this.timer ??= setTimeout(() => this.refresh(), STREAM_REDRAW_MS).unref();
  }

  endText(): void {
    if (this.open === '') return;
    const text = `${this.open}\n`;
    this.open = '';
    this.commit(text);
  }

  addFooter(position: number, footer: Footer): () => void {
    const entry = { position, footer };
    this.footers.push(entry);
    this.footers.sort((a, b) => a.position - b.position);
    this.refresh();
    return () => {
      const at = this.footers.indexOf(entry);
      if (at !== -1) this.footers.splice(at, 1);
      this.refresh();
    };
  }

  refresh(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.isClosed) return;
    const lines = [...(this.open === '' ? [] : [this.open]), ...this.footers.flatMap(({ footer }) => footer(this.width))];
    if (lines.length === 0) this.live.clear();
    else this.live(lines.join('\n'));
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    clearTimeout(this.timer);
    this.out.off('resize', this.onResize);
    this.live.clear();
    if (this.open !== '') this.out.write(`${this.open}\n`);
    this.open = '';
    this.live.done();
  }

  private commit(text: string): void {
    this.live.clear();
    this.out.write(text);
    this.refresh();
  }

  /** A paragraph can be longer than the screen is high, and what has scrolled away cannot be redrawn. Cut at spaces, as it is read. */
  private takeOverflow(): string {
    let taken = '';
    while (stringWidth(this.open) > this.width * OPEN_ROWS) {
      const row = beginning(this.open, this.width);
      const space = row.lastIndexOf(' ');
      const end = space > 0 ? space : Math.max(1, row.length);
      taken += `${this.open.slice(0, end)}\n`;
      this.open = this.open.slice(space > 0 ? end + 1 : end);
    }
    return taken;
  }
}
