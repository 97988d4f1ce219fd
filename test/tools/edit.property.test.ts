import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { ToolFailure } from '../../src/tool/errors.js';
import { editTool } from '../../src/tools/edit/edit.js';
import { findMatches, replaceRanges } from '../../src/tools/edit/match.js';
import { decodeText, encodeText } from '../../src/tools/fs/text-file.js';
import { readTool } from '../../src/tools/read/read.js';
import { contextIn, run, temporaryDirectory } from './context.js';

const { dir, remove } = temporaryDirectory();
afterAll(remove);

const bytes = fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array));
/** Texts with much of what matters to line ends and quotes. */
const lively = fc
  .array(fc.constantFrom('a', 'b', '\n', '\r\n', '\r', '"', '\u201C', "'", '\u2019', ' ', 'é', '😀', '$&', '$1', '\uFEFF'), {
    maxLength: 60,
  })
  .map((parts) => parts.join(''));

describe('file contents', () => {
  it('survive decoding and encoding byte by byte, whatever they are', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          bytes,
          lively.map((text) => Buffer.from(text, 'utf16le')),
          lively.map((text) => Buffer.from(text)),
        ),
        (content) => {
          const text = decodeText(content);
          if (text !== undefined) expect(encodeText(text.text, text).equals(content)).toBe(true);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('of any kind are read without a crash', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          bytes,
          lively.map((text) => Buffer.from(text)),
        ),
        async (content) => {
          const file = path.join(dir, 'any');
          writeFileSync(file, content);
          const context = contextIn(dir);
          try {
            await run(readTool(), { file_path: file }, context);
            expect(context.files.get(file)).toBeDefined();
          } catch (error) {
            expect(error).toBeInstanceOf(ToolFailure);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('an edit', () => {
  it('loses no byte outside the place that it replaces', async () => {
    const inputs = fc.record({ before: lively, old: lively.filter((text) => text !== ''), after: lively, fresh: lively });
    await fc.assert(
      fc.asyncProperty(inputs, async ({ before, old, after, fresh }) => {
        const file = path.join(dir, 'edited');
        const original = before + old + after;
        // A mark at the very beginning is the file's encoding, not text that could be edited.
        fc.pre(!original.startsWith('\uFEFF'));
        // Two marks before a line feed are a line end behind a lone mark; line ends made alike once more, that would be another one.
        fc.pre(!fresh.includes('\r\r\n'));
        writeFileSync(file, original);
        const context = contextIn(dir);
        await run(readTool(), { file_path: file }, context);
        try {
          await run(editTool(), { file_path: file, old_string: old, new_string: fresh }, context);
        } catch {
          expect(readFileSync(file, 'utf8')).toBe(original);
          return;
        }
        const result = readFileSync(file, 'utf8');
        expect(result.startsWith(before)).toBe(true);
        expect(result.endsWith(after)).toBe(true);
        expect(result.slice(before.length, result.length - after.length).replaceAll('\r\n', '\n')).toBe(fresh.replaceAll('\r\n', '\n'));
      }),
      { numRuns: 400 },
    );
  });

  it('replaces every match and nothing between them', () => {
    fc.assert(
      fc.property(
        lively,
        lively.filter((text) => text !== ''),
        lively,
        (text, old, fresh) => {
          const matches = findMatches(text, old);
          const result = replaceRanges(text, matches, fresh);
          const outside = (whole: string, cuts: readonly { start: number; end: number }[]): string[] =>
            [...cuts, { start: whole.length, end: whole.length }].map((cut, index) => whole.slice(cuts[index - 1]?.end ?? 0, cut.start));
          // The untouched pieces appear in the result in order.
          let from = 0;
          for (const piece of outside(text, matches.ranges)) {
            const found = result.indexOf(piece, from);
            expect(found).toBeGreaterThanOrEqual(0);
            from = found + piece.length;
          }
          if (matches.ranges.length === 0) expect(result).toBe(text);
          if (matches.kind === 'exact') for (const { start, end } of matches.ranges) expect(text.slice(start, end)).toBe(old);
        },
      ),
      { numRuns: 3000 },
    );
  });
});
