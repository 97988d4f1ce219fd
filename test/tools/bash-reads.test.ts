import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bashTool } from '../../src/tools/bash/bash.js';
import { fileShownBy } from '../../src/tools/bash/reads.js';
import { editTool } from '../../src/tools/edit/edit.js';
import { contextIn, run, temporaryDirectory } from './context.js';

let dir: string;
let remove: () => void;
beforeEach(() => {
  ({ dir, remove } = temporaryDirectory());
});
afterEach(() => remove());

describe('a command that shows one file', () => {
  it.each([
    ['cat a.txt', 'a.txt', false],
    ['cat "a b.txt"', 'a b.txt', false],
    ['nl -ba a.txt', 'a.txt', false],
    ['head -n 5 a.txt', 'a.txt', true],
    ['bat -p a.txt', 'a.txt', false],
    ['bat --line-range=1:5 a.txt', 'a.txt', true],
    ['bat -r1:5 a.txt', 'a.txt', true],
    ['tail -20 a.txt', 'a.txt', true],
    ["sed -n '1,5p' a.txt", 'a.txt', true],
    ['grep -n x a.txt', 'a.txt', true],
  ])('counts as a read of it: %s', (command, file, partial) => {
    expect(fileShownBy(command)).toEqual({ path: file, partial });
  });

  it.each([
    'cat a b',
    'cat a | head',
    'cat a > b',
    'cat $F',
    'cat *.txt',
    'cat a; rm b',
    'sed -i s/a/b/ f',
    'cat < a',
    'X=1 cat a',
    'cat $(ls)',
    'cat a &',
    'cat',
    'echo a',
  ])('counts for nothing when it is more or less than that: %s', (command) => {
    expect(fileShownBy(command)).toBeUndefined();
  });

  it('lets the file be edited afterwards', async () => {
    writeFileSync(path.join(dir, 'a.txt'), 'one\n');
    const context = contextIn(dir);
    await run(bashTool(), { command: 'cat a.txt' }, context);
    await run(editTool(), { file_path: path.join(dir, 'a.txt'), old_string: 'one', new_string: 'two' }, context);
    expect(context.files.get(path.join(dir, 'a.txt'))).toMatchObject({ partial: false });
  });

  it.each([
    ['with numbers before its lines', 'one\n12\ttwo', 'cat -n a.txt'],
    ['with its byte order mark', '\uFEFFone\r\n', 'cat a.txt'],
  ])('counts a file that is shown %s', async (_name, content, command) => {
    writeFileSync(path.join(dir, 'a.txt'), content);
    const context = contextIn(dir);
    await run(bashTool(), { command }, context);
    expect(context.files.get(path.join(dir, 'a.txt'))).toMatchObject({ partial: false });
  });

  it('shows nothing of a file that a Read deny rule covers', async () => {
    writeFileSync(path.join(dir, 'a.txt'), 'one\n');
    const context = contextIn(dir, { deniedToRead: () => true });
    await run(bashTool(), { command: 'cat a.txt' }, context);
    expect([...context.files.entries()]).toEqual([]);
  });
});
