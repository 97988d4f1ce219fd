import type { Writable } from 'node:stream';

const BLOCK_BYTES = 256 * 1024;
const MAX_SPARE = 2;

/**
 * Gathers short texts as bytes and hands them on in blocks. Joining them to a long string first would cost more than packing it:
 * one character beyond Latin-1 doubles all of it, and it is too large for the young generation of the heap.
 */
export class BlockWriter {
  #block: Buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #used = 0;
  readonly #spare: Buffer[] = [];

  constructor(readonly stream: Writable) {}

  add(text: string): void {
    // No character of a string needs more than three bytes.
    const most = text.length * 3;
    if (most > BLOCK_BYTES - this.#used) this.flush();
    if (most > BLOCK_BYTES) this.stream.write(text);
    else this.#used += this.#block.write(text, this.#used);
  }

  flush(): void {
    if (this.#used === 0) return;
    const block = this.#block;
    this.stream.write(block.subarray(0, this.#used), () => {
      if (this.#spare.length < MAX_SPARE) this.#spare.push(block);
    });
    this.#block = this.#spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#used = 0;
  }
}
