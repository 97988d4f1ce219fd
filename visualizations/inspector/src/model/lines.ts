/** Longer lines are broken. */
const LINE_CHARS = 160;

/**
 * The lines of a text of any length, found piece by piece and cut out only when they are looked at: a text of many megabytes
 * is neither copied nor walked in one go.
 */
export class Lines {
  readonly #starts: number[] = [];
  #at = 0;

  constructor(readonly text: string) {}

  /** Lines found so far. */
  get count(): number {
    return this.#starts.length;
  }
  get isRead(): boolean {
    return this.#at > this.text.length;
  }

  /** Goes on by at least that many characters, to the end of a line. Returns whether more is left. */
  read(chars: number): boolean {
    const { text } = this;
    for (const until = this.#at + chars; this.#at <= text.length && this.#at < until; ) {
      const found = text.indexOf('\n', this.#at);
      const end = found < 0 ? text.length : found;
      this.#starts.push(this.#at);
      for (let at = this.#at + LINE_CHARS; at < end; at += LINE_CHARS) this.#starts.push(at);
      this.#at = end + 1;
    }
    return !this.isRead;
  }

  line(index: number): string {
    const start = this.#starts[index];
    if (start === undefined) return '';
    const line = this.text.slice(start, this.#starts[index + 1] ?? Math.min(this.#at, this.text.length));
    return line.endsWith('\n') ? line.slice(0, -1) : line;
  }
}
