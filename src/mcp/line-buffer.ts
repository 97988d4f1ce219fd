/** Takes a stream apart into lines. Decodes whole lines only, so no character is split, and joins the pieces of a long line once. */
export class LineBuffer {
  private pieces: Uint8Array[] = [];
  private size = 0;

  /** @param limit Bytes of one line: a server that never ends one must not fill the memory. */
  constructor(private readonly limit: number) {}

  /**
   * The lines that this chunk completes, without the line feeds that end them.
   *
   * @throws Error when a line is longer than the limit; what was kept of it is dropped.
   */
  take(chunk: Uint8Array): readonly string[] {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      this.keep(chunk.subarray(from, end));
      lines.push(this.end());
      from = end + 1;
    }
    this.keep(chunk.subarray(from));
    return lines;
  }

  /** What stands behind the last line feed. */
  end(): string {
    const line = Buffer.concat(this.pieces, this.size).toString('utf8');
    this.clear();
    return line;
  }

  private keep(piece: Uint8Array): void {
    this.size += piece.length;
    if (this.size > this.limit) {
      this.clear();
      throw new Error(`it sent a line of more than ${this.limit} bytes`);
    }
    if (piece.length > 0) this.pieces.push(piece);
  }

  private clear(): void {
    this.pieces = [];
    this.size = 0;
  }
}
