import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeDirectory, makeDirectorySync } from '../src/makeDirectory.js';
import { text, toolUse } from '../src/testing/index.js';
import { scene, tempDir } from './support/sessions.js';

const ways = [
  ['at once', (path: string, mode?: number) => Promise.resolve().then(() => makeDirectorySync(path, mode))],
  ['without blocking', makeDirectory],
] as const;

describe.each(ways)('a directory that is made %s', (_, make) => {
  it('is there with all that it lies in, each with the mode given', async () => {
    const root = tempDir();
    await make(join(root, 'a/b/c'), 0o700);
    expect(['a', 'a/b', 'a/b/c'].map((name) => statSync(join(root, name)).mode & 0o777)).toEqual([0o700, 0o700, 0o700]);
    await make(join(root, 'a/b/c'), 0o700);
  });

  it('may be there already, also behind a link', async () => {
    const root = tempDir();
    mkdirSync(join(root, 'real'));
    symlinkSync('real', join(root, 'link'));
    await make(join(root, 'link/x'));
    expect(existsSync(join(root, 'real/x'))).toBe(true);
    await make('/');
  });

  it('fails where a file is in the way', async () => {
    const root = tempDir();
    writeFileSync(join(root, 'file'), '');
    await expect(make(join(root, 'file'))).rejects.toThrow(/EEXIST/);
    await expect(make(join(root, 'file/below/it'))).rejects.toThrow(/ENOTDIR/);
  });

  it.runIf(process.platform === 'linux')('fails, and does not try for ever, where nothing can be made', async () => {
    await expect(make('/proc/none/below')).rejects.toThrow(/ENOENT/);
  });
});

describe.runIf(process.platform === 'linux')('a place in which no directory can be made', () => {
  it('is an error of the call that writes there, and of the session that would be kept there', async () => {
    const script = [[toolUse('Write', { file_path: '/proc/none/below.txt', content: 'x' }, { id: 't1' })], [text('done')]];
    const made = await scene(script, { builtInTools: ['Write'], permissions: { mode: 'bypassPermissions' } });
    expect((await made.session.send('go').done).end).toBe('completed');
    expect(made.results().get('t1')).toEqual({ text: expect.stringContaining('/proc/none'), isError: true });
    await expect(scene([], { store: '/proc/none' })).rejects.toThrow(/ENOENT/);
  });
});
