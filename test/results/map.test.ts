import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ImageBlockParam } from '../../src/messages/types.js';
import { cleanResult, mapResult } from '../../src/results/map.js';
import { headWithin, NO_OUTPUT, sanitizeText, tailWithin } from '../../src/results/text.js';
import { buildTool } from '../../src/tool/build.js';
import type { MappedToolResult } from '../../src/tool/types.js';
import { png } from '../tools/media.js';

const plain = buildTool({ name: 'Plain', description: 'test', inputSchema: z.object({}), call: async () => ({ data: undefined }) });
const mapping = (mapped: MappedToolResult) =>
  buildTool({
    name: 'T',
    description: 'test',
    inputSchema: z.object({}),
    call: async () => ({ data: '' }),
    mapToolResultToToolResultBlockParam: () => mapped,
  });
const image = (
  data: string,
  media_type: ImageBlockParam['source'] extends infer S ? (S extends { media_type: infer M } ? M : never) : never = 'image/png',
): ImageBlockParam => ({
  type: 'image',
  source: { type: 'base64', media_type, data },
});

describe('empty output', () => {
  it.each([
    ['an empty string', ''],
    ['blanks', '   '],
    ['a line end', '\n'],
    ['undefined', undefined],
    ['null', null],
  ])('is the placeholder: %s', (_name, output) => {
    expect(mapResult(plain, output).content).toBe(NO_OUTPUT);
  });

  it.each<[string, MappedToolResult]>([
    ['no content', { content: undefined }],
    ['an empty list', { content: [] }],
    ['an empty text block', { content: [{ type: 'text', text: '' }] }],
    [
      'blank text blocks',
      {
        content: [
          { type: 'text', text: ' ' },
          { type: 'text', text: '\n' },
        ],
      },
    ],
  ])('is the placeholder and keeps the error flag: %s', (_name, mapped) => {
    expect(mapResult(mapping(mapped), '')).toEqual({ content: NO_OUTPUT, isError: false, images: [] });
    expect(mapResult(mapping({ ...mapped, isError: true }), '')).toEqual({ content: NO_OUTPUT, isError: true, images: [] });
  });

  it('of a list is JSON, not nothing', () => {
    expect(mapResult(plain, []).content).toBe('[]');
    expect(mapResult(plain, false).content).toBe('false');
    expect(mapResult(plain, 0).content).toBe('0');
  });
});

it('turns a mapper that throws into an error result', () => {
  const broken = buildTool({
    name: 'Broken',
    description: 'test',
    inputSchema: z.object({}),
    call: async () => ({ data: '' }),
    mapToolResultToToolResultBlockParam: () => {
      throw new Error('no such field');
    },
  });
  expect(mapResult(broken, '')).toMatchObject({ isError: true, content: expect.stringContaining('no such field') });
});

describe('an image', () => {
  const good = png(4, 4).toString('base64');
  const noteFor = (block: ImageBlockParam): string => {
    const { content } = mapResult(mapping({ content: [block] }), '');
    const [first] = Array.isArray(content) ? content : [];
    return first?.type === 'text' ? first.text : `kept as ${first?.type}`;
  };

  it.each([
    ['with data that is not base64', image('%%%'), 'not valid base64'],
    ['with no data', image(''), 'no data'],
    ['encoded twice', image(Buffer.from(good).toString('base64')), 'base64 twice over'],
    ['of zero bytes that says it is one', image('='), 'not valid base64'],
    ['that is text', image(Buffer.from('hello, world').toString('base64')), 'are not image/png'],
    ['with a broken header', image(png(4, 4).subarray(0, 14).toString('base64')), 'header is broken'],
    ['that is too wide', image(png(9000, 1).toString('base64')), '9000×1'],
    ['that is too large', image('A'.repeat(6_000_000)), 'over the limit'],
  ])('%s becomes a note', (_name, block, note) => {
    expect(noteFor(block)).toContain(note);
  });

  it('with a foreign media type becomes a note', () => {
    const foreign: unknown = { type: 'image', source: { type: 'base64', media_type: 'text/plain', data: good } };
    expect(noteFor(foreign as ImageBlockParam)).toContain('"text/plain" is not an image type');
  });

  it('of another known kind than it says gets its right label', () => {
    const { content } = mapResult(mapping({ content: [image(good, 'image/jpeg')] }), '');
    expect(content).toEqual([image(good)]);
  });

  it('in an error result goes behind the results', () => {
    const result = mapResult(mapping({ content: [{ type: 'text', text: 'failed' }, image(good)], isError: true }), '');
    expect(result).toEqual({ content: [{ type: 'text', text: 'failed' }], isError: true, images: [image(good)] });
  });

  it('alone in an error result is announced where the words would be', () => {
    expect(mapResult(mapping({ content: [image(good)], isError: true }), '').content).toBe('(the output follows after the results)');
  });

  it.each([
    ['a data URL', `data:image/png;base64,${good}`],
    ['the alphabet of URLs', good.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')],
  ])('in %s is sent as the API takes it', (_, data) => {
    expect(mapResult(mapping({ content: [image(data)] }), '').content).toEqual([image(good)]);
  });

  it('beside the content is checked too', () => {
    const result = cleanResult({ content: 'text', images: [image(good), image('%%%')] });
    expect(result.images).toEqual([image(good)]);
    expect(JSON.stringify(result.content)).toContain('not valid base64');
  });
});

describe('what an error result cannot hold', () => {
  it('is given in words', () => {
    const report = {
      type: 'document' as const,
      source: { type: 'text' as const, media_type: 'text/plain' as const, data: 'what went wrong' },
    };
    const hit = {
      type: 'search_result' as const,
      source: 'https://a.b',
      title: 'Hit',
      content: [{ type: 'text' as const, text: 'the text' }],
    };
    expect(cleanResult({ isError: true, content: [report, hit] }).content).toEqual([
      { type: 'text', text: 'what went wrong' },
      { type: 'text', text: 'Hit (https://a.b)\nthe text' },
    ]);
  });
});

describe('documents and search results', () => {
  it('are cleaned as all text is', () => {
    const source = { type: 'text' as const, media_type: 'text/plain' as const, data: 'a\0b \uD800 \u001B[31mred' };
    const hit = { type: 'search_result' as const, source: 's\0', title: 't\uD800', content: [{ type: 'text' as const, text: 'x\0' }] };
    expect(cleanResult({ content: [{ type: 'document', source }, hit] }).content).toEqual([
      { type: 'document', source: { ...source, data: 'a\u2400b \uFFFD red' } },
      { ...hit, source: 's\u2400', title: 't\uFFFD', content: [{ type: 'text', text: 'x\u2400' }] },
    ]);
  });

  it.each([
    ['a document of an unknown source', { type: 'document', source: { type: 'nope' } }, 'document left out'],
    ['a document without an address', { type: 'document', source: { type: 'url', url: '' } }, 'document left out'],
    ['an empty document', { type: 'document', source: { type: 'text', media_type: 'text/plain', data: ' ' } }, 'it is empty'],
    ['a search result without text', { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: '' }] }, 'no text'],
    ['a search result that is none', { type: 'search_result' }, 'search result left out'],
    ['an image of an unknown source', { type: 'image', source: { type: 'blob', data: 'x' } }, 'image left out'],
    ['an image at no address', { type: 'image', source: { type: 'url', url: 'javascript:alert(1)' } }, 'image left out'],
  ])('become a note where the API would refuse them: %s', (_name, block, note) => {
    const made = mapResult(mapping({ content: JSON.parse(JSON.stringify([block])) }), '');
    expect(made.content).toEqual([{ type: 'text', text: expect.stringContaining(note) }]);
  });

  it('keeps an image by its address', () => {
    const block = { type: 'image' as const, source: { type: 'url' as const, url: 'https://example.com/a.png' } };
    expect(cleanResult({ content: [block] }).content).toEqual([block]);
  });
});

describe('an image that was cut off', () => {
  const jpeg = Buffer.from([
    0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 0x3f, 0, 0x7f, 0xff, 0xd9,
  ]);
  const whole = png(40, 40);
  const cleaned = (bytes: Buffer, type: 'image/png' | 'image/jpeg') =>
    cleanResult({ content: [image(bytes.toString('base64'), type)] }).content;
  it.each([
    ['in its pixels', whole.subarray(0, whole.length - 20), 'image/png'],
    ['after its header', whole.subarray(0, 33), 'image/png'],
    ['in the middle', Buffer.concat([whole.subarray(0, 45), whole.subarray(60)]), 'image/png'],
    ['in its scan', jpeg.subarray(0, -2), 'image/jpeg'],
  ] as const)('becomes a note: %s', (_name, bytes, type) => {
    expect(cleaned(Buffer.from(bytes), type)).toEqual([{ type: 'text', text: expect.stringContaining('cut off or damaged') }]);
  });
  it('is told from a whole one, also one with something behind it', () => {
    for (const [bytes, type] of [
      [whole, 'image/png'],
      [Buffer.concat([whole, Buffer.alloc(9)]), 'image/png'],
      [jpeg, 'image/jpeg'],
    ] as const)
      expect(cleaned(bytes, type)).toMatchObject([{ type: 'image' }]);
  });
});

describe('text', () => {
  it('has no NUL, no lone surrogate and no colour codes', () => {
    expect(sanitizeText('\u001B[31mred\u001B[0m a\0b \uD83D x \uDE00 😀')).toBe('red a\u2400b \uFFFD x \uFFFD 😀');
  });
  it('shows what is left of a broken escape sequence', () => {
    expect(sanitizeText('cut \u001B[')).toBe('cut \u241B[');
    expect(sanitizeText('\u009B31mred \u001BPq#0~~\u001B\\ \u001B]0;title\u0007end')).toBe('red  end');
    expect(sanitizeText('cut \u001B[', 'Read')).toBe('cut \u001B[');
  });
  it('of tools that show files exactly keeps its escape sequences', () => {
    expect(sanitizeText('\u001B[31mred', 'Read')).toBe('\u001B[31mred');
  });
  it('that is no text is summarised', () => {
    const noise = Buffer.from(Array.from({ length: 2000 }, (_, index) => (index * 7919) % 256)).toString('utf8');
    expect(mapResult(plain, noise).content).toMatch(/^\(binary output of/);
  });
  it('stays one line of JSONL and well-formed, whatever comes in', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), maxLength: 200 }), (text) => {
        const { content } = mapResult(plain, text);
        const line = JSON.stringify(content);
        expect(line).not.toMatch(/[\n\0]|\\u0000|\\ud[89a-f]/i);
        expect(Buffer.from(line, 'utf8').toString('utf8')).toBe(line);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a preview', () => {
  it('never cuts a character or a surrogate pair and stays within its bytes', () => {
    const unit = fc.constantFrom('a', 'é', '≤', '😀', '\n');
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 80 }), fc.integer({ min: 1, max: 60 }), (parts, limit) => {
        const text = parts.join('');
        for (const cut of [headWithin(text, limit), tailWithin(text, limit)]) {
          expect(cut).not.toContain('\uFFFD');
          expect(cut).not.toMatch(/\p{Surrogate}/u);
          expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit);
        }
        expect(text.startsWith(headWithin(text, limit))).toBe(true);
        expect(text.endsWith(tailWithin(text, limit))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
  it('ends at a line', () => {
    expect(headWithin('one\ntwo\nthree', 9)).toBe('one\ntwo');
    expect(tailWithin('one\ntwo\nthree', 8)).toBe('three');
    // A long line beside a short one is shown, not left out.
    expect(headWithin(`one\n${'x'.repeat(100)}`, 20)).toBe(`one\n${'x'.repeat(16)}`);
    expect(tailWithin(`${'x'.repeat(100)}\nend`, 20)).toBe(`${'x'.repeat(16)}\nend`);
  });
});

it('a character that was cut off at the end makes no text binary', () => {
  expect(mapResult(plain, '\uFFFD').content).toBe('\uFFFD');
  expect(mapResult(plain, 'ab\uFFFD').content).toBe('ab\uFFFD');
  // A short line in another encoding, and a name that ends in NUL, are still worth reading.
  expect(mapResult(plain, 'caf\uFFFD\n').content).toBe('caf\uFFFD\n');
  expect(mapResult(plain, 'a\0').content).toBe('a\u2400');
  expect(mapResult(plain, '\uFFFD\uFFFD\uFFFD').content).toContain('binary');
});
