import { expect, it } from 'vitest';
import { acrossLineEnds, globsOf } from '../../src/tools/search/pattern.js';
import { ripgrepRecords } from '../../src/tools/search/records.js';

const NOTE = 'binary file matches (found "\\0" byte around offset 3)';

it('tells lines, gaps and notes about binary files apart', () => {
  const output = `a.ts\x001:x\r\n--\na.ts\x009:y\nb.bin: ${NOTE}\nc\nd.ts\x002:z\ne.bin: ${NOTE}\nf.bin: ${NOTE}\n`;
  expect([...ripgrepRecords(output)]).toEqual([
    { type: 'line', file: 'a.ts', text: '1:x' },
    { type: 'gap' },
    { type: 'line', file: 'a.ts', text: '9:y' },
    { type: 'binary', file: 'b.bin' },
    { type: 'line', file: 'c\nd.ts', text: '2:z' },
    { type: 'binary', file: 'e.bin' },
    { type: 'binary', file: 'f.bin' },
  ]);
});

it('takes a line that reads like a note for the line of a file that it is', () => {
  expect([...ripgrepRecords(`a.ts\x001:x: ${NOTE}\nb.ts\x002:y`)]).toEqual([
    { type: 'line', file: 'a.ts', text: `1:x: ${NOTE}` },
    { type: 'line', file: 'b.ts', text: '2:y' },
  ]);
});

it('reads nothing past the next file name to tell what a line is', () => {
  // A search to the end of the output for each of its lines would take hours here.
  const output = 'src/a.ts\x0012:text\n'.repeat(1_000_000);
  let lines = 0;
  for (const record of ripgrepRecords(output)) if (record.type === 'line') lines++;
  expect(lines).toBe(1_000_000);
});

it.each([
  ['a\\nb', 'a(?:\\r?\\n)b'],
  ['a\nb', 'a(?:\\r?\\n)b'],
  ['[^a\\n]\\n', '[^a\\n](?:\\r?\\n)'],
  ['[[:alpha:]\\n]', '[[:alpha:]\\n]'],
  ['[]\\n]', '[]\\n]'],
  ['\\[\\n\\]', '\\[(?:\\r?\\n)\\]'],
  ['(?x)a\nb', '(?x)a\nb'],
])('lets a line feed of a pattern match a CRLF, but not one within a class: %j', (pattern, expected) => {
  expect(acrossLineEnds(pattern)).toBe(expected);
});

it.each([
  ['*.ts *.{js, jsx},!*.d.ts', ['*.ts', '*.{js,jsx}', '!*.d.ts']],
  ['x,y.txt', ['x,y.txt']],
  [' , ,*.a,', ['*.a']],
  ['{*.a,*.b}', ['{*.a,*.b}']],
])('parts the globs of %j', (list, globs) => {
  expect(globsOf(list)).toEqual(globs);
});
