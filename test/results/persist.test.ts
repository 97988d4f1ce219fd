import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { DocumentBlockParam, ImageBlockParam, MessageParam, ToolResultBlockParam } from '../../src/messages/types.js';
import { finishResult } from '../../src/results/finish.js';
import { budgetImages, mediaFileName, saveMedia } from '../../src/results/image-budget.js';
import { textSize } from '../../src/results/map.js';
import { fitMessageBudget, persistIfLarge } from '../../src/results/persist.js';
import { createResultStore, type ResultStore, safeFileName } from '../../src/results/store.js';
import { buildTool } from '../../src/tool/build.js';
import { temporaryDirectory } from '../tools/context.js';
import { png } from '../tools/media.js';

let dir: string;
let remove: () => void;
let store: ResultStore;
beforeEach(() => {
  ({ dir, remove } = temporaryDirectory());
  store = createResultStore(path.join(dir, 'tool-results'));
});
afterEach(() => remove());

const tool = buildTool({ name: 'Big', description: 'test', inputSchema: z.object({}), call: async () => ({ data: '' }) });

describe('a result over the limit', () => {
  it('goes to a file whole; the model gets size, path and the first 2 KB', async () => {
    const text = `${'line of text with ≤\n'.repeat(4000)}`;
    const { block, persisted, size } = await finishResult(tool, 'toolu_1', text, store);
    expect(persisted).toEqual({ path: path.join(store.dir, 'toolu_1.txt'), chars: text.length, bytes: Buffer.byteLength(text) });
    expect(readFileSync(persisted?.path ?? '', 'utf8')).toBe(text);
    expect(statSync(persisted?.path ?? '').mode & 0o777).toBe(0o600);
    expect(block.content).toMatch(/^<persisted-output>\nOutput too large to show \(80,000 characters, 85\.9 KB\)/);
    expect(block.content).toContain('Preview (first 2KB):\nline of text with ≤\n');
    expect(block.content).toMatch(/≤\n<\/persisted-output>$/);
    expect(size).toBeLessThan(2400);
  });

  it('of exactly the limit stays', async () => {
    expect(await finishResult(tool, 'toolu_1', 'x'.repeat(50_000), store)).toMatchObject({ size: 50_000 });
    expect(existsSync(store.dir)).toBe(false);
  });

  it('with several text blocks goes to JSON; images stay in place', async () => {
    const image: ImageBlockParam = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: png(1, 1).toString('base64') },
    };
    const { content, persisted } = await persistIfLarge(
      'toolu_2',
      [{ type: 'text', text: 'a'.repeat(60) }, image, { type: 'text', text: 'b'.repeat(60) }],
      100,
      store,
    );
    expect(JSON.parse(readFileSync(persisted?.path ?? '', 'utf8'))).toEqual(['a'.repeat(60), 'b'.repeat(60)]);
    expect(persisted?.path).toMatch(/toolu_2\.json$/);
    expect(content).toMatchObject([{ type: 'text' }, image]);
  });

  it('is counted in whatever form it comes: text documents and search results too', async () => {
    const document = {
      type: 'document' as const,
      source: { type: 'text' as const, media_type: 'text/plain' as const, data: 'd'.repeat(600) },
    };
    const hit = { type: 'search_result' as const, source: 's', title: 't', content: [{ type: 'text' as const, text: 'h'.repeat(600) }] };
    expect((await persistIfLarge('both', [document, hit], 1300, store)).content).toEqual([document, hit]);
    const { content, persisted } = await persistIfLarge('both', [document, hit], 1000, store);
    expect(content).toContain('Output too large to show');
    expect(readFileSync(persisted?.path ?? '', 'utf8')).toContain('h'.repeat(600));
  });

  it('is shortened at both ends, not lost, when it cannot be saved', async () => {
    writeFileSync(path.join(dir, 'file'), '');
    const blocked = createResultStore(path.join(dir, 'file', 'sub'));
    const { block, persisted } = await finishResult(tool, 'toolu_3', `start ${'x'.repeat(60_000)} end`, blocked);
    expect(persisted).toBeUndefined();
    expect(block.content).toMatch(/^start x+\n\n\[[\d,]+ characters left out; they could not be saved: /);
    expect(block.content).toMatch(/ end$/);
  });
});

describe('the budget of a message', () => {
  const result = (id: string, size: number): ToolResultBlockParam => ({ type: 'tool_result', tool_use_id: id, content: 'x'.repeat(size) });

  it('persists the largest results until the rest fits, in place', async () => {
    const results = [result('a', 40_000), result('b', 49_000), result('c', 45_000), result('d', 48_000), result('e', 44_000)];
    const fitted = await fitMessageBudget(results, store);
    expect(fitted.map((block) => block.tool_use_id)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(fitted.map((block) => typeof block.content === 'string' && block.content.startsWith('<persisted-output>'))).toEqual([
      false,
      true,
      false,
      false,
      false,
    ]);
    expect(readFileSync(path.join(store.dir, 'b.txt'), 'utf8')).toHaveLength(49_000);
  });

  it('leaves results alone that fit together', async () => {
    const results = [result('a', 100_000), result('b', 100_000)];
    expect(await fitMessageBudget(results, store)).toEqual(results);
  });

  it('always ends within the limit unless every result is small already', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 30_000 }), { maxLength: 12 }), async (sizes) => {
        const fitted = await fitMessageBudget(
          sizes.map((size, index) => result(`r${index}`, size)),
          store,
          50_000,
        );
        const total = fitted.reduce((sum, block) => sum + textSize(block.content ?? ''), 0);
        expect(total <= 50_000 || fitted.every((block) => textSize(block.content ?? '') <= 4096)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});

const DIR = { dir: '/results' };
const pngBlock = (width: number, height: number): ImageBlockParam => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: png(width, height).toString('base64') },
});
const imagesIn = (messages: readonly MessageParam[]): number => JSON.stringify(messages).split('"type":"image"').length - 1;

describe('the image budget of a request', () => {
  // Distinct images of about 1.7 MB of base64 each, as bytes that need not decode here.
  const image = (index: number): ImageBlockParam => ({
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: String(index).padStart(4, '0') + 'A'.repeat(1_700_000) },
  });
  const messages: MessageParam[] = Array.from({ length: 60 }, (_, index): MessageParam[] => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `toolu_${index}`, name: 'Read', input: {} }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `toolu_${index}`, content: [{ type: 'text', text: 'image' }, image(index)] }],
    },
  ]).flat();
  messages.push({ role: 'user', content: 'continue' });

  it('keeps the newest and replaces older ones by their file, pairing untouched', () => {
    const fitted = budgetImages(messages, { dir: '/results' });
    expect(JSON.stringify(fitted).length).toBeLessThan(22 * 1024 * 1024);
    expect(fitted).toHaveLength(messages.length);
    const kept = fitted.flatMap((message, index) => (message === messages[index] ? [] : [index]));
    expect(kept).toEqual(Array.from({ length: 50 }, (_, index) => index * 2 + 1));
    expect(fitted[1]).toMatchObject({
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_0',
          content: [{ text: 'image' }, { type: 'text', text: expect.stringContaining(`/results/${mediaFileName(image(0))}`) }],
        },
      ],
    });
    expect(budgetImages(messages, { dir: '/results' })).toEqual(fitted);
  });

  it('changes what it drops in steps, so that the prefix of the request lasts', () => {
    const prefixes = Array.from({ length: 12 }, (_, more) => {
      const fitted = budgetImages(messages.slice(0, 40 + more * 2), { dir: '/results' });
      return fitted.filter((message, index) => message !== messages[index]).length;
    });
    expect(prefixes.every((count, index) => count >= (prefixes[index - 1] ?? 0))).toBe(true);
    expect(new Set(prefixes).size).toBeLessThanOrEqual(5);
  });

  it('counts documents too', () => {
    const document = (index: number): DocumentBlockParam => ({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: `${index}`.padStart(4, '0') + 'A'.repeat(9_000_000) },
    });
    const long: MessageParam[] = [0, 1, 2, 3].map((index) => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `toolu_${index}`, content: [document(index)] }],
    }));
    const fitted = JSON.stringify(budgetImages(long, { dir: '/results' }));
    expect(fitted.length).toBeLessThan(21 * 1024 * 1024);
    expect(fitted).toContain('older document left out');
    expect(fitted).toContain('"0003AAA');
  });

  it('changes nothing while everything fits', () => {
    const few = messages.slice(0, 10);
    expect(budgetImages(few, { dir: '/results' })).toBe(few);
  });

  it('keeps a request within the number of images that the API takes, in steps', () => {
    const small = (index: number): MessageParam => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `toolu_${index}`, content: [pngBlock(index + 1, 1)] }],
    });
    const kept = (count: number): number =>
      imagesIn(
        budgetImages(
          Array.from({ length: count }, (_, index) => small(index)),
          DIR,
        ),
      );
    expect([20, 21, 100, 101, 125, 126].map(kept)).toEqual([20, 21, 100, 76, 100, 76]);
  });

  it('leaves an image out that is too large among many, and keeps it among few', () => {
    const turn = (...blocks: ImageBlockParam[]): MessageParam => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: blocks }],
    });
    const smalls = (count: number, from = 0) => Array.from({ length: count }, (_, index) => turn(pngBlock(index + from + 1, 1)));
    const wide = turn(pngBlock(2001, 1));
    const few = [wide, ...smalls(19)];
    expect(budgetImages(few, DIR)).toBe(few);
    // An old one goes, the others stay.
    const old = budgetImages([wide, ...smalls(30)], DIR);
    expect(imagesIn(old)).toBe(30);
    expect(JSON.stringify(old[0])).toContain('older image left out');
    // What has just been read stays, and the oldest make room.
    const fresh = budgetImages([...smalls(30), wide], DIR);
    expect(imagesIn(fresh)).toBe(16);
    expect(fresh.at(-1)).toBe(wide);
  });

  it('names files that are there, each image once', async () => {
    const block: ImageBlockParam = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: png(2, 2).toString('base64') },
    };
    await saveMedia([block, block], store);
    expect(readdirSync(store.dir)).toEqual([mediaFileName(block)]);
    expect(readFileSync(path.join(store.dir, mediaFileName(block) ?? '')).equals(png(2, 2))).toBe(true);
  });
});

describe('the store', () => {
  it('writes behind, shows only complete files, and flushes', async () => {
    const files = Array.from({ length: 20 }, (_, index) => store.put(`f${index}`, 'x'.repeat(10_000)));
    await store.flush();
    expect(files.every((file) => statSync(file.path).size === 10_000)).toBe(true);
    expect(readdirSync(store.dir)).toHaveLength(20);
  });
  it('keeps the later of two writes', async () => {
    store.put('a', 'one');
    await store.put('a', 'two').done;
    expect(readFileSync(path.join(store.dir, 'a'), 'utf8')).toBe('two');
  });
  it.each(['../../etc/passwd', '/abs', '.hidden', '', 'a\0b', `${'x'.repeat(500)}.txt`])('keeps %j inside its directory', (name) => {
    expect(path.dirname(path.join('/d', safeFileName(name)))).toBe('/d');
    expect(safeFileName(name)).toMatch(/^[^./].{0,199}$/);
  });
});
