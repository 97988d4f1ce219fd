import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BlockWriter } from '../../src/inspect/blockWriter.js';

/** Takes each block only some turns later, when a block that was used again too soon would hold other text. */
const slowReader = () => {
  const taken: Buffer[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      void turn().then(() => {
        taken.push(Buffer.from(chunk));
        done();
      });
    },
  });
  return { stream, text: () => Buffer.concat(taken).toString('utf8') };
};

describe('text handed on in blocks', () => {
  it('arrives whole and in order, whatever its characters and lengths', async () => {
    const piece = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc.tuple(fc.constantFrom('a', 'ü', '›', '💥'), fc.integer({ min: 1, max: 200_000 })).map(([char, times]) => char.repeat(times)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(piece, fc.boolean()), { maxLength: 12 }), async (pieces) => {
        const { stream, text } = slowReader();
        const blocks = new BlockWriter(stream);
        for (const [piece, flushed] of pieces) {
          blocks.add(piece);
          if (flushed) blocks.flush();
        }
        blocks.flush();
        await new Promise<void>((ended) => stream.end(ended));
        expect(text() === pieces.map(([piece]) => piece).join('')).toBe(true);
      }),
      { numRuns: 40 },
    );
  });
});
