import { PassThrough, Writable } from 'node:stream';
import stripAnsi from 'strip-ansi';

/** A keyboard and a screen without a terminal: what is typed goes in as keys, what is written is collected. */
export class FakeTerminal {
  readonly input = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (on: boolean) => {
      this.rawModes.push(on);
    },
  });
  readonly output: Writable & { readonly isTTY: boolean; columns: number; rows: number };
  readonly rawModes: boolean[] = [];
  private written = '';
  private readonly waiting = new Set<() => void>();

  constructor({ isTTY = true, columns = 80, rows = 24 } = {}) {
    const stream = new Writable({
      decodeStrings: false,
      write: (chunk: unknown, _encoding, done) => {
        this.written += String(chunk);
        for (const check of this.waiting) check();
        done();
      },
    });
    this.output = Object.assign(stream, { isTTY, columns, rows });
  }

  /** Everything written so far, without styles and cursor movements. */
  get text(): string {
    return stripAnsi(this.written);
  }
  get raw(): string {
    return this.written;
  }
  type(keys: string): void {
    this.input.write(keys);
  }
  /** Resolves when a text has been written, counted from `from`. */
  shows(text: string, from = 0): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!this.text.slice(from).includes(text)) return;
        this.waiting.delete(check);
        resolve();
      };
      this.waiting.add(check);
      check();
    });
  }
}
