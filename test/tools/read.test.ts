import { once } from 'node:events';
import { createWriteStream, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mapResult } from '../../src/results/map.js';
import type { ToolContext } from '../../src/tool/types.js';
import { withoutNaN } from '../../src/tools/read/notebook.js';
import { parsePages } from '../../src/tools/read/pdf.js';
import { readTool } from '../../src/tools/read/read.js';
import { globTool } from '../../src/tools/search/glob.js';
import { grepTool } from '../../src/tools/search/grep.js';
import { toolPaths } from '../../src/tools/tool-paths.js';
import { contextIn, run, shown, temporaryDirectory } from './context.js';
import { pdfWithPages, png } from './media.js';

const read = readTool();
let dir: string;
let remove: () => void;
let context: ToolContext;
beforeEach(() => {
  ({ dir, remove } = temporaryDirectory());
  context = contextIn(dir);
});
afterEach(() => remove());
const at = (name: string): string => path.join(dir, name);
const show = async (input: object): Promise<string> => shown(read, await run(read, input, context));

describe('Read', () => {
  it('numbers lines, and says when a file is empty or an offset past its end', async () => {
    writeFileSync(at('a'), 'one\r\ntwo\n');
    expect(await show({ file_path: at('a') })).toBe('     1\tone\n     2\ttwo');
    expect(await show({ file_path: 'a', offset: 2 })).toBe('     2\ttwo\n[PARTIAL view: lines 2-2 of 2.]');
    expect(await show({ file_path: 'a', offset: 9 })).toBe('[offset 9 is past the end: the file has 2 lines.]');
    writeFileSync(at('e'), '');
    expect(await show({ file_path: at('e') })).toBe('[The file exists but is empty.]');
  });

  it('cuts a whole read at the cap with a notice, and refuses an explicit window over it', async () => {
    writeFileSync(at('big'), `${'x'.repeat(99)}\n`.repeat(2000));
    const small = contextIn(dir, { env: { CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS: '1000' } });
    const text = shown(read, await run(read, { file_path: at('big') }, small));
    expect(text.length).toBeLessThan(4300);
    expect(text).toContain('PARTIAL view: lines 1-37 of 2000');
    expect(small.files.get(at('big'))).toMatchObject({ partial: true });
    await expect(run(read, { file_path: at('big'), offset: 1, limit: 100 }, small)).rejects.toThrow('over the limit of 4000');
  });

  it('reads a window of a file too large for memory, and asks for one', async () => {
    const stream = createWriteStream(at('huge'));
    for (let block = 0; block < 34; block++) if (!stream.write(`${String(block).padEnd(63)}\n`.repeat(16_384))) await once(stream, 'drain');
    stream.end();
    await once(stream, 'close');
    await expect(show({ file_path: at('huge') })).rejects.toThrow('Give offset and limit');
    const text = await show({ file_path: at('huge'), offset: 16_384, limit: 2 });
    expect(text.replaceAll(/ +\n/g, '\n')).toBe(` 16384\t0\n 16385\t1\n[PARTIAL view: lines 16384-16385 of 557056.]`);
    expect(await show({ file_path: at('huge'), offset: 600_000, limit: 2 })).toBe(
      '[offset 600000 is past the end: the file has 557056 lines.]',
    );
    await expect(show({ file_path: at('huge'), offset: 1, limit: 3000 })).rejects.toThrow('over the limit of 100000');
  });

  it('shows a PNG as an image whatever its name, and refuses other binary content with its size', async () => {
    writeFileSync(at('picture.txt'), png(3, 2));
    const result = mapResult(read, await run(read, { file_path: at('picture.txt') }, context));
    expect(result.content).toMatchObject([{ type: 'text', text: expect.stringContaining('image/png, 3×2') }, { type: 'image' }]);
    writeFileSync(at('data.bin'), Buffer.from([0, 1, 2, 3]));
    await expect(show({ file_path: at('data.bin') })).rejects.toThrow('binary file (4 bytes)');
    writeFileSync(at('broken.png'), png(3, 2).subarray(0, 14));
    await expect(show({ file_path: at('broken.png') })).rejects.toThrow('header is broken');
  });

  it('shows a short PDF whole and pages of a long one as text', async () => {
    writeFileSync(at('short.pdf'), pdfWithPages(2));
    const short = mapResult(read, await run(read, { file_path: at('short.pdf') }, context));
    expect(short.content).toMatchObject([{ text: expect.stringContaining('2 pages') }, { type: 'document' }]);
    writeFileSync(at('long.pdf'), pdfWithPages(25));
    await expect(show({ file_path: at('long.pdf') })).rejects.toThrow('has 25 pages');
    const text = await show({ file_path: at('long.pdf'), pages: '2-3' });
    expect(text).toContain('<page number="2">\nThis is page 2');
    expect(text).toContain('This is page 3');
    expect(text).not.toContain('This is page 4');
    await expect(show({ file_path: at('long.pdf'), pages: '1-25' })).rejects.toThrow('at most 20');
    writeFileSync(at('bad.pdf'), '%PDF-1.4 and nothing else');
    await expect(show({ file_path: at('bad.pdf') })).rejects.toThrow('cannot be read as a PDF');
    expect(() => parsePages('x', 5)).toThrow('give one page');
    expect(parsePages('4-', 5)).toEqual({ first: 4, last: 5 });
  });

  it('shows the cells of a notebook with their outputs and images', async () => {
    const cells = [
      { cell_type: 'markdown', id: 'm', source: ['# Title\n', 'text'], metadata: {} },
      {
        cell_type: 'code',
        id: 'c',
        source: 'print(1)',
        metadata: {},
        outputs: [
          { output_type: 'stream', name: 'stdout', text: ['1\n'] },
          { output_type: 'display_data', data: { 'image/png': png(1, 1).toString('base64') }, metadata: {} },
        ],
      },
    ];
    writeFileSync(at('n.ipynb'), JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 }));
    const { content } = mapResult(read, await run(read, { file_path: at('n.ipynb') }, context));
    expect(content).toMatchObject([
      { text: expect.stringContaining('<cell id="c" type="code">\nprint(1)\n</cell>\n<output>\n1') },
      { type: 'image' },
    ]);
    const odd = {
      cell_type: 'code',
      source: 'plot()',
      outputs: [
        {
          output_type: 'error',
          ename: 'E',
          evalue: 'v',
          traceback: ['\u001b[0;31mred\u001b[0m', `${'x'.repeat(9_980)}😀${'y'.repeat(99)}`],
        },
        { output_type: 'display_data', data: { 'image/png': [png(1, 1).toString('base64'), '\n'] } },
        { output_type: 'execute_result', data: { 'application/json': 'NOT A NUMBER', 'text/plain': 'Not NaN' } },
      ],
    };
    writeFileSync(at('odd.ipynb'), JSON.stringify({ cells: [odd], nbformat: 4 }).replace('"NOT A NUMBER"', 'NaN'));
    const shownOdd = mapResult(read, await run(read, { file_path: at('odd.ipynb') }, context)).content;
    expect(shownOdd).toMatchObject([{ text: expect.stringContaining('E: v\nred\nxxx') }, { type: 'image' }]);
    expect(JSON.stringify(shownOdd)).toContain('Not NaN');
    expect(JSON.stringify(shownOdd)).not.toMatch(/\\ufffd|\\ud83d|\uFFFD/);
    const large = 'NaN'.repeat(5_000_000);
    expect(withoutNaN(`{"a \\" NaN": NaN, "b": "${large}", "c": -Infinity}`)).toBe(`{"a \\" NaN": null, "b": "${large}", "c": null}`);
    writeFileSync(at('bad.ipynb'), '{"cells": 3}');
    await expect(show({ file_path: at('bad.ipynb') })).rejects.toThrow('is not a notebook');
  });
});

describe('Glob', () => {
  it('lists the most recently changed first, hidden and ignored files too, but not the repository store', async () => {
    mkdirSync(at('.git'));
    mkdirSync(at('src/deep'), { recursive: true });
    for (const [index, name] of ['.git/x.ts', 'src/b.ts', 'src/deep/a.ts', '.hidden.ts', 'ignored.ts', 'c.js'].entries()) {
      writeFileSync(at(name), '');
      utimesSync(at(name), 1000 + index, 1000 + index);
    }
    writeFileSync(at('.gitignore'), 'ignored.ts\n');
    const output = await run(globTool(), { pattern: '**/*.ts' }, context);
    expect(output.filenames).toEqual(['ignored.ts', '.hidden.ts', 'src/deep/a.ts', 'src/b.ts']);
    expect((await run(globTool(), { pattern: at('src/*.ts') }, contextIn('/'))).filenames).toEqual([at('src/b.ts').slice(1)]);
    expect(shown(globTool(), await run(globTool(), { pattern: '*.none' }, context))).toBe('No files found');
  });

  it('finds what lies in a directory whose name has brackets, where they mean no class of characters', async () => {
    mkdirSync(at('app/[id]'), { recursive: true });
    mkdirSync(at('app/d'), { recursive: true });
    writeFileSync(at('app/[id]/page.tsx'), '');
    const output = await run(globTool(), { pattern: 'app/[id]/*.tsx' }, context);
    expect(output.filenames).toEqual(['app/[id]/page.tsx']);
    expect(shown(globTool(), output)).toContain('brackets');
    expect((await run(globTool(), { pattern: 'app/[[]id]/*.tsx' }, context)).notes).toEqual([]);
    writeFileSync(at('app/d/page.tsx'), '');
    expect(await run(globTool(), { pattern: 'app/[id]/*.tsx' }, context)).toMatchObject({ filenames: ['app/d/page.tsx'], notes: [] });
  });

  it('follows a pattern that climbs, and refuses a file as the place', async () => {
    mkdirSync(at('one/two'), { recursive: true });
    writeFileSync(at('one/up.ts'), '');
    expect((await run(globTool(), { pattern: '../*.ts', path: 'one/two' }, context)).filenames).toEqual(['one/up.ts']);
    expect((await run(globTool(), { pattern: './one/two/../up.ts' }, context)).filenames).toEqual(['one/up.ts']);
    for (const pattern of ['one', './one/', at('one')])
      expect(shown(globTool(), await run(globTool(), { pattern }, context))).toContain(`${pattern} is a directory; the pattern`);
    await expect(run(globTool(), { pattern: '*', path: 'one/up.ts' }, context)).rejects.toThrow('is a file, not a directory');
  });

  it('stops at 100 and says how many more there are', async () => {
    for (let index = 0; index < 130; index++) writeFileSync(at(`f${index}.txt`), '');
    const output = await run(globTool(), { pattern: '*.txt' }, context);
    expect(output).toMatchObject({ numFiles: 130, truncated: true });
    expect(shown(globTool(), output)).toContain('30 more files match');
  });
});

describe('Grep', () => {
  beforeEach(() => {
    writeFileSync(at('a.txt'), 'alpha\nbeta\nalphabet\n');
    writeFileSync(at('b.js'), 'beta\r\nalpha:1\r\n');
    writeFileSync(at('secret.txt'), 'alpha\n');
    utimesSync(at('a.txt'), 1000, 1000);
  });
  const search = (input: object, within = context) => run(grepTool(), input, within);

  it('shows files, lines or counts', async () => {
    expect((await search({ pattern: 'alpha', glob: '*.{txt,js}' })).entries.toSorted()).toEqual(['a.txt', 'b.js', 'secret.txt']);
    expect((await search({ pattern: 'alpha', output_mode: 'content', glob: 'a.*' })).entries).toEqual([
      'a.txt:1:alpha',
      'a.txt:3:alphabet',
    ]);
    expect((await search({ pattern: 'alpha', output_mode: 'content', path: 'b.js' })).entries).toEqual(['2:alpha:1']);
    const counts = await search({ pattern: 'a', output_mode: 'count', glob: 'a.txt' });
    expect(counts).toMatchObject({ entries: ['a.txt:5'], matches: 5 });
  });

  it('shows context, ignores case, takes a pattern that starts with a dash', async () => {
    expect((await search({ pattern: 'BETA', '-i': true, '-B': 1, output_mode: 'content', path: 'a.txt' })).entries).toEqual([
      '1-alpha',
      '2:beta',
    ]);
    expect((await search({ pattern: '-n', output_mode: 'content' })).total).toBe(0);
    expect((await search({ pattern: 'alpha\nbeta', multiline: true })).entries).toEqual(['a.txt']);
  });

  it('pages through results and says when an offset is past their end', async () => {
    const page = await search({ pattern: 'a', output_mode: 'content', path: 'a.txt', head_limit: 1, offset: 1 });
    expect(shown(grepTool(), page)).toBe('2:beta\n(entries 2-2 of 3; use offset and head_limit for more)');
    expect(shown(grepTool(), await search({ pattern: 'a', offset: 99 }))).toContain('No entries at this offset');
  });

  it('leaves out files that a Read deny rule covers, in every mode', async () => {
    const denied = contextIn(dir, { deniedToRead: (file) => file === at('secret.txt') });
    for (const output_mode of ['files_with_matches', 'content', 'count']) {
      const { entries } = await search({ pattern: 'alpha', output_mode }, denied);
      expect(entries.join('\n')).not.toContain('secret');
      expect(entries.length).toBeGreaterThan(0);
    }
    const globbed = await run(globTool(), { pattern: '*.txt' }, denied);
    expect(globbed.filenames).toEqual(['a.txt']);
    symlinkSync('secret.txt', at('link.txt'));
    await expect(search({ pattern: 'alpha', path: 'link.txt' }, denied)).rejects.toThrow('Read deny rule');
  });

  it('takes a list of globs by commas too, and spaces inside braces', async () => {
    expect((await search({ pattern: 'alpha', glob: 'a*.txt,*.js' })).entries.toSorted()).toEqual(['a.txt', 'b.js']);
    expect((await search({ pattern: 'alpha', glob: '*.{js, jsx}' })).entries).toEqual(['b.js']);
    writeFileSync(at('x,y.txt'), 'alpha\n');
    expect((await search({ pattern: 'alpha', glob: 'x,y.txt' })).entries).toEqual(['x,y.txt']);
  });

  it('leaves out what .gitignore names, also where a glob matches it, but not a file that is named', async () => {
    mkdirSync(at('.git'));
    writeFileSync(at('.gitignore'), 'ignored*\n');
    writeFileSync(at('ignored.txt'), 'alpha\n');
    for (const output_mode of ['files_with_matches', 'content', 'count'])
      expect((await search({ pattern: 'alpha', glob: '*.txt', output_mode })).entries.join('|')).toMatch(/^(?!.*ignored).*a\.txt/);
    const none = await search({ pattern: 'alpha', glob: '*nored.txt' });
    expect(shown(grepTool(), none)).toMatch(/^No files found\n\(left out as git-ignored: 1; give/);
    expect((await search({ pattern: 'alpha', path: 'ignored.txt', glob: '*.txt' })).entries).toEqual(['ignored.txt']);
  });

  it('asks rules about the whole name of a file, also where it holds a line feed', async () => {
    mkdirSync(at('hidden'));
    writeFileSync(at('hidden/a\nb.txt'), 'alpha\n');
    writeFileSync(at('c\nd.txt'), 'alpha\n');
    const denied = contextIn(dir, { deniedToRead: (file) => file.startsWith(at('hidden')) });
    const content = await search({ pattern: 'alpha', output_mode: 'content', glob: '*b.txt' }, denied);
    expect(content.entries).toEqual([]);
    expect((await search({ pattern: 'alpha', output_mode: 'count' }, denied)).entries.join('|')).not.toContain('b.txt');
    expect((await search({ pattern: 'alpha', output_mode: 'content', glob: '*d.txt' })).entries).toEqual(['c\nd.txt:1:alpha']);
  });

  it('says that a binary file matches instead of that nothing does', async () => {
    writeFileSync(at('data.bin'), 'zz\0\0\nneedle\n');
    const output = await search({ pattern: 'needle', output_mode: 'content', path: 'data.bin' });
    expect(output.entries).toEqual(['data.bin: binary file matches; its lines are not shown']);
    // Text first, so that the search finds out later.
    writeFileSync(at('late.bin'), `needle\n${'text\n'.repeat(20_000)}\0\n`);
    const late = await search({ pattern: 'needle', output_mode: 'content', glob: 'late.bin' });
    expect(late.entries).toContain('late.bin: binary file matches; its lines are not shown');
  });

  it('takes CRLF for a line end, at an anchor and across lines', async () => {
    const lines = { output_mode: 'content', path: 'b.js' };
    expect((await search({ ...lines, pattern: 'beta$' })).entries).toEqual(['1:beta']);
    expect((await search({ ...lines, pattern: 'beta\\nalpha', multiline: true })).entries).toEqual(['1:beta', '2:alpha:1']);
    expect((await search({ ...lines, pattern: 'beta\\r\\nalpha', multiline: true })).total).toBe(2);
    expect((await search({ pattern: 'alpha\\n+beta[^\\n]', multiline: true })).total).toBe(0);
  });

  it('gives the diagnostic of a pattern that is refused', async () => {
    await expect(search({ pattern: '(' })).rejects.toThrow(/unclosed group/);
    await expect(search({ pattern: 'x', type: 'nonsense' })).rejects.toThrow('nonsense');
  });
});

it('names the paths of file tools for path rules', () => {
  expect(toolPaths('Edit', { file_path: 'x/../a' }, '/w')).toEqual([{ path: '/w/a', access: 'edit' }]);
  expect(toolPaths('Grep', { pattern: 'x' }, '/w')).toEqual([{ path: '/w', access: 'read' }]);
  expect(toolPaths('Glob', { pattern: '/etc/*.conf' }, '/w')).toEqual([
    { path: '/w', access: 'read' },
    { path: '/etc', access: 'read' },
  ]);
  expect(toolPaths('Glob', { pattern: '../x/*.ts', path: 'src' }, '/w')).toEqual([
    { path: '/w/src', access: 'read' },
    { path: '/w/x', access: 'read' },
  ]);
  expect(toolPaths('Bash', { command: 'ls' }, '/w')).toEqual([]);
});
