import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ToolContext } from '../../src/tool/types.js';
import { editTool } from '../../src/tools/edit/edit.js';
import { approvedTarget, openForReading } from '../../src/tools/fs/access.js';
import { writeFileSafely } from '../../src/tools/fs/write-file.js';
import { readTool } from '../../src/tools/read/read.js';
import { resolveToolPaths } from '../../src/tools/tool-paths.js';
import { writeTool } from '../../src/tools/write.js';
import { contextIn, run, shown, temporaryDirectory } from './context.js';

const edit = editTool();
const write = writeTool();
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
const put = (name: string, content: string | Buffer): string => {
  writeFileSync(at(name), content);
  return at(name);
};
const text = (name: string): string => readFileSync(at(name), 'utf8');
const see = (name: string, part: { offset?: number; limit?: number } = {}) => run(read, { file_path: at(name), ...part }, context);
const change = (name: string, old_string: string, new_string: string, replace_all = false) =>
  run(edit, { file_path: at(name), old_string, new_string, replace_all }, context);
const overwrite = (name: string, content: string) => run(write, { file_path: at(name), content }, context);

describe('replacement', () => {
  const tricky = 'log("$& ok $$ $1 $` $\'");';
  it.each([false, true])('writes new text literally, dollar signs and all (replace_all %s)', async (all) => {
    put('a.js', `x\nlog("done");\n${all ? 'log("done");\n' : ''}`);
    await see('a.js');
    const output = await change('a.js', 'log("done");', tricky, all);
    expect(text('a.js')).toBe(`x\n${tricky}\n${all ? `${tricky}\n` : ''}`);
    expect(output.diff).toContain(`+${tricky}`);
    expect(output.replacements).toBe(all ? 2 : 1);
  });

  it('refuses an ambiguous match and names the lines', async () => {
    put('a', 'x\ny\nx\n');
    await see('a');
    await expect(change('a', 'x', 'z')).rejects.toThrow('occurs 2 times');
    await expect(change('a', 'x', 'z')).rejects.toThrow('lines 1, 3');
  });

  it('shows the nearest lines when nothing matches', async () => {
    put('a', 'function one() {\n\treturn 1;\n}\n');
    await see('a');
    await expect(change('a', 'function one() {\n  return 1;\n}', 'x')).rejects.toThrow(
      /Only the white space differs from:\n +1\tfunction one/,
    );
    await expect(change('a', '     2\treturn 1;', 'x')).rejects.toThrow('leave out the numbers');
  });

  it('creates a file from an empty old text, and refuses that for a file with content', async () => {
    await change('new/deep.txt', '', 'hello');
    expect(text('new/deep.txt')).toBe('hello');
    await expect(change('new/deep.txt', '', 'again')).rejects.toThrow('old_string is empty');
  });

  it('refuses a file that was not read, a missing one with a near name, a binary one, a directory and a notebook', async () => {
    put('a.txt', 'x');
    await expect(change('a.txt', 'x', 'y')).rejects.toThrow('has not been read');
    await expect(change('b.txt', 'x', 'y')).rejects.toThrow(/does not exist.*a\.txt/);
    put('bin', Buffer.from([1, 2, 0, 3]));
    await expect(change('bin', 'x', 'y')).rejects.toThrow('has not been read');
    mkdirSync(at('d'));
    await expect(change('d', 'x', 'y')).rejects.toThrow('is a directory');
    await expect(run(write, { file_path: at('d'), content: '' }, context)).rejects.toThrow('is a directory');
    await expect(change('n.ipynb', 'x', 'y')).rejects.toThrow('NotebookEdit');
  });

  it('counts code points: the same text is no change', async () => {
    put('a', 'x');
    await see('a');
    await expect(change('a', 'x', 'x')).rejects.toThrow('the same, code point by code point');
  });
});

describe('line ends', () => {
  it('matches across CRLF and LF and writes CRLF back', async () => {
    put('a', 'a\r\nb\r\nc');
    await see('a');
    await change('a', 'a\nb', 'a\nX');
    expect(text('a')).toBe('a\r\nX\r\nc');
    await change('a', 'X', 'X\nY');
    expect(text('a')).toBe('a\r\nX\r\nY\r\nc');
  });

  it('changes only the edited lines of a mixed file', async () => {
    put('a', 'one\r\ntwo\nthree\nfour\n');
    await see('a');
    await change('a', 'one\ntwo', 'one\nTWO');
    expect(text('a')).toBe('one\r\nTWO\nthree\nfour\n');
    await change('a', 'three', 'three\n3b');
    expect(text('a')).toBe('one\r\nTWO\nthree\n3b\nfour\n');
  });

  it('does not bring CRLF from the old text of a model into an LF file', async () => {
    put('a', 'a\nb\n');
    await see('a');
    await change('a', 'a\r\nb', 'a\r\nX');
    expect(text('a')).toBe('a\nX\n');
  });

  it('keeps CRLF on a full write of a CRLF file and says so; a new file gets exactly the bytes given', async () => {
    put('a', 'a\r\nb\r\n');
    await see('a');
    const output = await overwrite('a', 'x\ny\n');
    expect(text('a')).toBe('x\r\ny\r\n');
    expect(shown(write, output)).toContain('keeps its CRLF');
    expect(shown(write, await overwrite('a', 'x\r\ny\n'))).toContain('line ends were CRLF and are mixed now');
    expect(shown(write, await overwrite('a', 'x\ny\n'))).toContain('were mixed and are LF now');
    expect(shown(write, await overwrite('a', 'x\r\ny\r\n'))).toContain('were LF and are CRLF now');
    expect(text('a')).toBe('x\r\ny\r\n');
    await overwrite('new', 'x\ny\r\nz');
    expect(text('new')).toBe('x\ny\r\nz');
  });
});

describe('encodings', () => {
  it.each([
    ['UTF-8 with a mark', Buffer.from('\uFEFFhé\n', 'utf8'), Buffer.from('\uFEFFhö\n', 'utf8')],
    ['UTF-16LE', Buffer.from('\uFEFFhé\n', 'utf16le'), Buffer.from('\uFEFFhö\n', 'utf16le')],
    ['UTF-16BE', Buffer.from('\uFEFFhé\n', 'utf16le').swap16(), Buffer.from('\uFEFFhö\n', 'utf16le').swap16()],
    ['Latin-1', Buffer.from('hé\n', 'latin1'), Buffer.from('hö\n', 'latin1')],
  ])('keeps %s', async (_name, before, after) => {
    put('a', before);
    expect(shown(read, await see('a'))).toContain('hé');
    await change('a', 'é', 'ö');
    expect(readFileSync(at('a')).equals(after)).toBe(true);
    await overwrite('a', 'hé\n');
    expect(readFileSync(at('a')).equals(before)).toBe(true);
  });

  it('takes the mark at the start of a file for no part of a text that was copied with it', async () => {
    put('a', '\uFEFFone\ntwo\n');
    await see('a');
    await change('a', '\uFEFFone', '\uFEFFfirst');
    expect(text('a')).toBe('\uFEFFfirst\ntwo\n');
  });

  it('writes a file whose name is long in bytes and short in characters', async () => {
    const name = `${'\u6f22'.repeat(80)}.txt`;
    await overwrite(name, 'x');
    await overwrite(name, 'y');
    expect(text(name)).toBe('y');
  });

  it('refuses a character that Latin-1 does not have', async () => {
    put('a', Buffer.from('hé\n', 'latin1'));
    await see('a');
    await expect(change('a', 'é', '→')).rejects.toThrow('Latin-1');
    expect(readFileSync(at('a')).equals(Buffer.from('hé\n', 'latin1'))).toBe(true);
  });
});

describe('read before edit', () => {
  it('goes by content: a touch is no change, a restored time stamp hides none', async () => {
    put('a', 'one\n');
    await see('a');
    utimesSync(at('a'), new Date(), new Date(Date.now() + 60_000));
    await change('a', 'one', 'two');
    const { mtime } = statSync(at('a'));
    put('a', 'two, changed\n');
    utimesSync(at('a'), mtime, mtime);
    await expect(change('a', 'two', 'three')).rejects.toThrow('has changed since it was read');
    await see('a');
    await change('a', 'two', 'three');
    await change('a', 'three', 'four');
    expect(text('a')).toBe('four, changed\n');
  });

  it('lets a partly read file be edited where the match is unique, and not overwritten', async () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index + 1};`);
    put('a', `${lines.join('\n')}\n`);
    expect(shown(read, await see('a', { offset: 1, limit: 10 }))).toContain('PARTIAL view: lines 1-10 of 100');
    put('a', `${lines.with(89, 'other').join('\n')}\n`);
    await change('a', 'line 5;', 'line five;');
    expect(text('a').split('\n')[89]).toBe('other');
    await expect(overwrite('a', 'x')).rejects.toThrow('Only a part');
    await expect(change('a', 'line', 'x', true)).rejects.toThrow('replace_all');
  });

  it('takes parts that make up the whole for the whole, and parts of other content not', async () => {
    const content = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`).join('\n');
    put('a', content);
    await see('a', { offset: 21, limit: 10 });
    await see('a', { offset: 1, limit: 10 });
    await expect(overwrite('a', 'x')).rejects.toThrow('Only a part');
    await see('a', { offset: 8, limit: 13 });
    await overwrite('a', 'x');
    expect(text('a')).toBe('x');
    put('b', content);
    await see('b', { offset: 1, limit: 15 });
    put('b', content.replace('line 3', 'line three'));
    await see('b', { offset: 16, limit: 15 });
    await expect(overwrite('b', 'x')).rejects.toThrow('Only a part');
  });

  it('does not send a model in a circle over a file that cannot be read', async () => {
    put('data', Buffer.from([0, 1, 2, 0xff]));
    await expect(overwrite('data', 'x')).rejects.toThrow('binary file, which Read does not show');
    put('empty.ipynb', '');
    expect(shown(read, await see('empty.ipynb'))).toContain('exists but is empty');
    await overwrite('empty.ipynb', '{}');
    put('broken.ipynb', '{"cells": [');
    await expect(see('broken.ipynb')).rejects.toThrow('with offset and limit');
    await see('broken.ipynb', { offset: 1, limit: 10 });
    await overwrite('broken.ipynb', '{}');
    expect(text('broken.ipynb')).toBe('{}');
  });

  it('refuses a name that ends as a directory does', async () => {
    await expect(overwrite('folder/', 'x')).rejects.toThrow('names a directory');
  });

  it('loses no update of parallel edits of one file', async () => {
    put('a', `${Array.from({ length: 20 }, (_, index) => `<${index}>`).join('\n')}\n`);
    await see('a');
    await Promise.all(Array.from({ length: 20 }, (_, index) => change('a', `<${index}>`, `[${index}]`)));
    expect(text('a')).toBe(`${Array.from({ length: 20 }, (_, index) => `[${index}]`).join('\n')}\n`);
  });

  it('needs a read before an existing file is overwritten, and none for a new one', async () => {
    put('a', 'x');
    await expect(overwrite('a', 'y')).rejects.toThrow('has not been read');
    await overwrite('b', 'y');
    await overwrite('b', 'z');
    expect(text('b')).toBe('z');
  });
});

describe('quotes', () => {
  it('writes the code points given and takes a change of quotes alone for a change', async () => {
    await overwrite('a', '\u201Cit\u2019s\u201D "x"\n');
    expect(text('a')).toBe('\u201Cit\u2019s\u201D "x"\n');
    await change('a', '"x"', '\u201Cx\u201D');
    expect(text('a')).toBe('\u201Cit\u2019s\u201D \u201Cx\u201D\n');
  });

  it('matches curly quotes by straight ones only when that is unique, and says so', async () => {
    put('a', 'say \u201Chi\u201D\n');
    await see('a');
    const output = await change('a', 'say "hi"', 'say "ho"');
    expect(text('a')).toBe('say "ho"\n');
    expect(shown(edit, output)).toContain('curly and straight quotes as the same');
    put('b', '\u201Cq\u201D\n\u201Cq\u201D\n');
    await see('b');
    await expect(change('b', '"q"', 'x')).rejects.toThrow('matches 2 places');
    await expect(change('b', '"q"', 'x', true)).rejects.toThrow('matches 2 places');
  });

  it('edits the exact line when both forms are there', async () => {
    put('a', '\u201Cq\u201D\n"q"\n');
    await see('a');
    await change('a', '"q"', "'q'");
    expect(text('a')).toBe("\u201Cq\u201D\n'q'\n");
  });
});

describe('links and modes', () => {
  it('writes through a link to its target and never replaces the link', async () => {
    put('real.txt', 'one\n');
    symlinkSync('real.txt', at('link.txt'));
    await see('link.txt');
    const output = await change('link.txt', 'one', 'two');
    await overwrite('link.txt', 'three\n');
    expect(readlinkSync(at('link.txt'))).toBe('real.txt');
    expect(text('real.txt')).toBe('three\n');
    expect(shown(edit, output)).toContain(at('real.txt'));
  });

  it('follows a chain of directory and file links', async () => {
    mkdirSync(at('real/host'), { recursive: true });
    put('real/settings.json', 'one\n');
    symlinkSync('../settings.json', at('real/host/settings.json'));
    symlinkSync('real/host', at('synced'));
    symlinkSync('synced', at('dot'));
    await run(read, { file_path: at('dot/settings.json') }, context);
    await run(edit, { file_path: at('dot/settings.json'), old_string: 'one', new_string: 'two' }, context);
    expect(text('real/settings.json')).toBe('two\n');
    expect(lstatSync(at('real/host/settings.json')).isSymbolicLink()).toBe(true);
  });

  it('creates the target of a dangling link and refuses a loop', async () => {
    symlinkSync('later.txt', at('dangling'));
    await overwrite('dangling', 'x');
    expect(readlinkSync(at('dangling'))).toBe('later.txt');
    expect(text('later.txt')).toBe('x');
    symlinkSync('b', at('a'));
    symlinkSync('a', at('b'));
    await expect(overwrite('a', 'x')).rejects.toThrow('loop of symbolic links');
    await expect(see('a')).rejects.toThrow('loop of symbolic links');
  });

  it('keeps mode bits on Edit and on Write, and hard links', async () => {
    put('run.sh', '#!/bin/sh\n');
    chmodSync(at('run.sh'), 0o755);
    await see('run.sh');
    await change('run.sh', '/bin/sh', '/bin/bash');
    expect(statSync(at('run.sh')).mode & 0o777).toBe(0o755);
    put('secret', 'a');
    chmodSync(at('secret'), 0o600);
    await see('secret');
    await overwrite('secret', 'b');
    expect(statSync(at('secret')).mode & 0o777).toBe(0o600);
    put('first', 'one');
    linkSync(at('first'), at('second'));
    await see('first');
    const output = await change('first', 'one', 'two, longer');
    expect(text('second')).toBe('two, longer');
    expect(statSync(at('first')).ino).toBe(statSync(at('second')).ino);
    expect(shown(edit, output)).toContain('hard links');
    expect(readdirSync(dir).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('keeps the owner', async () => {
    put('a', 'one');
    // Only root may give a file away; for anyone else the owner to keep is oneself.
    if (process.getuid?.() === 0) chownSync(at('a'), 1234, 4321);
    const { uid, gid } = statSync(at('a'));
    await see('a');
    await change('a', 'one', 'two');
    expect(statSync(at('a'))).toMatchObject({ uid, gid });
  });

  it('refuses a read-only file without changing its mode', async () => {
    put('a', 'one');
    chmodSync(at('a'), 0o444);
    await see('a');
    await expect(change('a', 'one', 'two')).rejects.toThrow('is read-only (mode 444)');
    expect(statSync(at('a')).mode & 0o777).toBe(0o444);
    expect(text('a')).toBe('one');
  });
});

describe('what may not be touched', () => {
  it('refuses what a Read deny rule covers, by link or by target', async () => {
    put('secret', 'x');
    symlinkSync('secret', at('innocent'));
    const denied = contextIn(dir, { deniedToRead: (file) => file === at('secret') });
    for (const name of ['secret', 'innocent']) {
      await expect(run(read, { file_path: at(name) }, denied)).rejects.toThrow('covered by a Read deny rule');
      denied.files.set(at('secret'), { digest: 'x', partial: false });
      await expect(run(edit, { file_path: at(name), old_string: 'x', new_string: 'y' }, denied)).rejects.toThrow('cannot be edited');
      await expect(run(write, { file_path: at(name), content: 'y' }, denied)).rejects.toThrow('cannot be edited');
    }
  });

  it('refuses when a path leads elsewhere than when it was allowed', async () => {
    put('good', 'x');
    put('bad', 'secret');
    symlinkSync('good', at('link'));
    const resolvedPaths = await resolveToolPaths('Read', { file_path: 'link' }, dir);
    expect(resolvedPaths).toEqual({ [at('link')]: at('good') });
    unlinkSync(at('link'));
    symlinkSync('bad', at('link'));
    const approved = contextIn(dir, { resolvedPaths });
    await expect(run(read, { file_path: at('link') }, approved)).rejects.toThrow('Nothing was done');
  });

  it('does not open a link that was swapped after the check', async () => {
    put('good', 'x');
    put('secret', 'y');
    symlinkSync('good', at('link'));
    const target = await approvedTarget(at('link'), 'read', context);
    unlinkSync(at('link'));
    symlinkSync('secret', at('link'));
    await expect(openForReading(target)).rejects.toThrow('changed where it leads');
    await expect(writeFileSafely({ target, bytes: Buffer.from('z'), expected: Buffer.from('x') })).rejects.toThrow(
      'changed where it leads',
    );
    unlinkSync(at('good'));
    symlinkSync('secret', at('good'));
    await expect(openForReading({ asked: at('good'), real: at('good') })).rejects.toThrow();
    expect(text('secret')).toBe('y');
  });

  it('refuses network paths, fifos and directories', async () => {
    await expect(run(read, { file_path: '\\\\host\\share\\x' }, context)).rejects.toThrow('UNC');
    await expect(run(write, { file_path: '\\\\host\\share\\x', content: '' }, context)).rejects.toThrow('UNC');
    await new Promise((resolve) => spawn('mkfifo', [at('pipe')]).once('exit', resolve));
    await expect(see('pipe')).rejects.toThrow('not a regular file');
    await expect(see('.')).rejects.toThrow('is a directory');
  });

  it('does not write credentials into a file that git shares', async () => {
    mkdirSync(at('.git'));
    put('.git/HEAD', 'ref: refs/heads/main\n');
    put('.gitignore', '.env\n');
    const key = `sk-ant-${'a1B2'.repeat(12)}`;
    await expect(overwrite('config.ts', `const key = "${key}";`)).rejects.toThrow('an Anthropic API key');
    await overwrite('.env', `KEY=${key}`);
    await run(writeTool({ secretGuard: false }), { file_path: at('config.ts'), content: key }, context);
    await change('config.ts', key, `${key} // noted`);
    expect(text('config.ts')).toContain('noted');
  });
});
