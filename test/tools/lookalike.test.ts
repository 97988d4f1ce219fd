import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { editTool } from '../../src/tools/edit/edit.js';
import { findLookalike, lookalikeAmong, spelledOut } from '../../src/tools/fs/lookalike.js';
import { readTool } from '../../src/tools/read/read.js';
import { globTool } from '../../src/tools/search/glob.js';
import { contextIn, run, temporaryDirectory } from './context.js';

const { dir, remove } = temporaryDirectory();
afterAll(remove);
const context = contextIn(dir);

async function refusal(content: string, old: string): Promise<string> {
  const file = path.join(dir, 'text');
  writeFileSync(file, content);
  await run(readTool(), { file_path: file }, context);
  const error: unknown = await run(editTool(), { file_path: file, old_string: old, new_string: 'new' }, context).catch(
    (why: unknown) => why,
  );
  expect(readFileSync(file, 'utf8')).toBe(content);
  return error instanceof Error ? error.message : 'the edit was made';
}

describe('an edit whose old text differs from the file only in what nobody sees', () => {
  it.each([
    ['a no-break space', 'first\nlist in\u00a0current\n', 'list in current', 'Line 2', 'U+00A0 (no-break space) where U+0020 (space)'],
    ['a narrow no-break space', '3\u202fPM', '3 PM', 'Line 1', 'U+202F (narrow no-break space) where U+0020 (space)'],
    ['a decomposed letter', 'cafe\u0301', 'caf\u00e9', 'Unicode normalisation form', '(U+0065 U+0301) where "\u00e9" (U+00E9)'],
    ['a composed letter', 'caf\u00e9', 'cafe\u0301', 'Unicode normalisation form', '(U+00E9) where'],
    ['a Korean syllable in parts', '\u1112\u1161\u11ab', '\ud55c', 'Unicode normalisation form', 'U+1112 U+1161 U+11AB'],
    ['a zero width space', 'foo\u200bbar', 'foobar', 'invisible', 'U+200B (zero width space) that was not given'],
    ['a zero width space of its own', 'foobar', 'foo\u200bbar', 'invisible', 'U+200B (zero width space) was given'],
    ['a soft hyphen', 'co\u00adop', 'coop', 'invisible', 'U+00AD (soft hyphen)'],
    ['a direction mark', 'a\u200eb', 'ab', 'invisible', 'U+200E (left-to-right mark)'],
    ['a dash', 'a \u2014 b', 'a - b', 'look alike', 'U+2014 (em dash) where "-" (U+002D)'],
    ['an ellipsis', 'wait\u2026', 'wait...', 'look alike', 'U+2026'],
    ['line ends of carriage returns', 'a\rb', 'a\nb', 'line ends', 'U+000D (carriage return) where U+000A (line feed)'],
    ['an escape in the file', 'k(/\\u00A0/)', 'k(/\u00a0/)', 'escaped', 'U+00A0 (no-break space) was given'],
    ['an escape too much', 'a\nb', 'a\\nb', 'escaped', 'U+000A (line feed) where'],
    ['an entity', 'a && b', 'a &amp;&amp; b', 'escaped', '"&amp;"'],
  ])('is refused with %s named', async (_name, content, old, where, what) => {
    const message = await refusal(content, old);
    expect(message).toContain(where);
    expect(message).toContain(what);
    expect(message).toContain('as JSON');
  });

  it('names every line, and gives a form that matches', async () => {
    const message = await refusal('a\u00a0b\nx\na\u00a0b\n', 'a b');
    expect(message).toContain('Lines 1, 3 differ only in');
    expect(message).toContain('"a\\u00a0b"');
    expect(JSON.parse(spelledOut('a\u00a0b\u202e\u{e0041}e\u0301"\\'))).toBe('a\u00a0b\u202e\u{e0041}e\u0301"\\');
  });

  it('is told when tabs stand for spaces, or letters of another alphabet for those given', async () => {
    expect(await refusal('if x:\n\treturn 1\n', 'if x:\n    return 1')).toContain('the file indents with tabs, old_string with spaces');
    expect(await refusal('const \u0441ount = 1;\n', 'const count = 1;')).toContain('"\u0441" (U+0441) where "c" (U+0063)');
    expect(await refusal('', 'a')).toContain('The file is empty');
  });
});

it('finds the very stretch, whatever stands around it', () => {
  const unit = fc.constantFrom(
    '\u00e9',
    'e\u0301',
    '\ud55c',
    '\u1112\u1161\u11ab',
    'a b',
    'a\u00a0b',
    '\u6f22\u5b57',
    '\r\n',
    'plain text',
    'z\u200b',
    '\u{1f600}',
  );
  const seen = (text: string): string => text.normalize('NFC').replaceAll('\u00a0', ' ').replaceAll('\u200b', '').replaceAll('\r\n', '\n');
  fc.assert(
    fc.property(
      fc.array(unit, { maxLength: 6 }),
      fc.array(unit, { minLength: 1, maxLength: 4 }),
      fc.array(unit, { maxLength: 6 }),
      (before, middle, after) => {
        const text = [before.join('|'), middle.join('|'), after.join('|')].join('#');
        const wanted = seen(`#${middle.join('|')}#`);
        fc.pre(!text.includes(wanted) && seen(text).split(wanted).length === 2);
        const found = findLookalike(text, wanted);
        expect(found?.found).toBe(`#${middle.join('|')}#`);
        expect(found?.places).toEqual([before.join('|').length]);
      },
    ),
    { numRuns: 300 },
  );
});

it('does not take a difference that shows for one that does not', () => {
  expect(findLookalike('Hello', 'hello')).toBeUndefined();
  expect(findLookalike('a b', 'ab')).toBeUndefined();
  expect(findLookalike('anything', '\u200b')).toBeUndefined();
  expect(lookalikeAmong(['a.txt', 'c.txt'], 'b.txt')).toBeUndefined();
});

describe('a path that leads nowhere', () => {
  it('is told with the name that looks the same', async () => {
    writeFileSync(path.join(dir, 'Screenshot at 3.00.00\u202fPM.png'), '');
    const asked = path.join(dir, 'Screenshot at 3.00.00 PM.png');
    await expect(run(readTool(), { file_path: asked }, context)).rejects.toThrow(
      /U\+202F \(narrow no-break space\) where U\+0020.*\\u202fPM/,
    );
    mkdirSync(path.join(dir, 'Re\u0301sume\u0301'));
    const inside = path.join(dir, 'R\u00e9sum\u00e9', 'cv.txt');
    await expect(run(readTool(), { file_path: inside }, context)).rejects.toThrow(/There is no R.*normalisation form.*Re\\u0301/);
    await expect(run(globTool(), { pattern: '*', path: path.dirname(inside) }, context)).rejects.toThrow('normalisation form');
  });

  it('is told as a link where it is one, not as a name that looks like itself', async () => {
    symlinkSync('nowhere', path.join(dir, 'dangling'));
    await expect(run(readTool(), { file_path: path.join(dir, 'dangling') }, context)).rejects.toThrow(
      /dangling does not exist: .*dangling is a symbolic link/,
    );
  });

  it('is told with a name that is near', async () => {
    writeFileSync(path.join(dir, 'config.json'), '{}');
    await expect(run(readTool(), { file_path: path.join(dir, 'confg.json') }, context)).rejects.toThrow('Did you mean');
    const long = path.join(dir, 'n'.repeat(300));
    await expect(run(readTool(), { file_path: long }, context)).rejects.toThrow('the name is too long');
  });
});
