/** Bytes of one line: a server that never ends one must not fill the memory. The SDK's own limit. */
const MAX_LINE_BYTES = 10 * 1024 * 1024;

/** Takes a stream apart into lines. Decodes whole lines only, so no character is split, and joins the pieces of a long line once. */
export class LineBuffer {
  private pieces: Buffer[] = [];
  private size = 0;

  /**
   * The lines that this chunk completes, without their ends and without blank ones.
   *
   * @throws Error when a line is longer than the limit; what was kept of it is dropped.
   */
  take(chunk: Buffer): readonly string[] {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      this.keep(chunk.subarray(from, end));
      const line = Buffer.concat(this.pieces, this.size).toString('utf8').trim();
      this.clear();
      if (line !== '') lines.push(line);
      from = end + 1;
    }
    this.keep(chunk.subarray(from));
    return lines;
  }

  private keep(piece: Buffer): void {
    this.size += piece.length;
    if (this.size > MAX_LINE_BYTES) {
      this.clear();
      throw new Error(`it sent a line of more than ${MAX_LINE_BYTES} bytes`);
    }
    if (piece.length > 0) this.pieces.push(piece);
  }

  private clear(): void {
    this.pieces = [];
    this.size = 0;
  }
}
