import { spawnSync } from 'node:child_process';
import { chmodSync, linkSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ToolFailure } from '../../src/tool/errors.js';
import type { WriteStep } from '../../src/tools/fs/write-file.js';
import { writeFileSafely } from '../../src/tools/fs/write-file.js';
import { temporaryDirectory } from './context.js';

let dir: string;
let remove: () => void;
beforeEach(() => {
  ({ dir, remove } = temporaryDirectory());
});
afterEach(() => remove());

const child = path.join(import.meta.dirname, 'write-crash-child.ts');

describe('a process that is killed in the middle of an edit', () => {
  it.each<[WriteStep, 'old' | 'new']>([
    ['temporaryCreated', 'old'],
    ['temporaryWritten', 'old'],
    ['beforeReplace', 'old'],
    ['replaced', 'new'],
  ])('leaves a whole file with its mode: %s → %s', (step, expected) => {
    const file = path.join(dir, 'a.sh');
    writeFileSync(file, 'old\n'.repeat(10_000));
    chmodSync(file, 0o750);
    const result = spawnSync(process.execPath, ['--import', 'tsx', child, dir, file, step], { encoding: 'utf8' });
    expect(result).toMatchObject({ signal: 'SIGKILL', stdout: '' });
    expect(readFileSync(file, 'utf8')).toBe(`${expected}\n`.repeat(10_000));
    expect(statSync(file).mode & 0o777).toBe(0o750);
  });

  it('leaves the new content beside a hard-linked file that it was overwriting', () => {
    const file = path.join(dir, 'a');
    writeFileSync(file, 'old\n');
    linkSync(file, path.join(dir, 'b'));
    const result = spawnSync(process.execPath, ['--import', 'tsx', child, dir, file, 'overwriting'], { encoding: 'utf8' });
    expect(result.signal).toBe('SIGKILL');
    const saved = readdirSync(dir).filter((name) => name.endsWith('.tmp'));
    expect(saved.map((name) => readFileSync(path.join(dir, name), 'utf8'))).toEqual(['new\n']);
  });
});

describe('a write that meets another writer', () => {
  const target = () => ({ asked: path.join(dir, 'a'), real: path.join(dir, 'a') });

  it.each([
    ['changes the content', () => writeFileSync(path.join(dir, 'a'), 'theirs'), 'was changed by someone else'],
    ['creates the file', () => writeFileSync(path.join(dir, 'a'), 'theirs'), 'was created by someone else'],
  ])('gives way when it %s in between', async (what, interfere, message) => {
    const expected = what === 'creates the file' ? undefined : Buffer.from('mine');
    if (expected !== undefined) writeFileSync(path.join(dir, 'a'), expected);
    const attempt = writeFileSafely({
      target: target(),
      bytes: Buffer.from('new'),
      expected,
      observe: (step) => (step === 'temporaryWritten' ? interfere() : undefined),
    });
    await expect(attempt).rejects.toThrow(ToolFailure);
    await expect(attempt).rejects.toThrow(message);
    expect(readFileSync(path.join(dir, 'a'), 'utf8')).toBe('theirs');
    expect(readdirSync(dir)).toEqual(['a']);
  });

  it('leaves no temporary file behind when a step fails', async () => {
    writeFileSync(path.join(dir, 'a'), 'old');
    const attempt = writeFileSafely({
      target: target(),
      bytes: Buffer.from('new'),
      expected: Buffer.from('old'),
      observe(step) {
        if (step === 'beforeReplace') throw new Error('disk gone');
      },
    });
    await expect(attempt).rejects.toThrow('disk gone');
    expect(readdirSync(dir)).toEqual(['a']);
    expect(readFileSync(path.join(dir, 'a'), 'utf8')).toBe('old');
  });
});
