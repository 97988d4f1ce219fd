import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { startLocalRestate } from '../../src/durable/server.js';
import { text, toolUse } from '../../src/testing/script/steps.js';
import { scriptedServer } from '../../src/testing/server/server.js';
import { freePort } from '../support/system.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Starts a program of this checkout as its user would. */
function start(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): { child: ChildProcess; ended: Promise<Ran>; says(words: string): Promise<void> } {
  const child = spawn(process.execPath, ['--import', 'tsx', join(root, file), ...args], {
    cwd: root,
    env: { ...process.env, ANTHROPIC_API_KEY: 'test', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  const waiting: { readonly words: string; readonly resolve: () => void }[] = [];
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString('utf8');
    for (const { words, resolve } of waiting) if (err.includes(words)) resolve();
  });
  const ended = new Promise<Ran>((resolve) => child.once('close', (code) => resolve({ code, out, err })));
  closing.push(() => child.kill('SIGKILL'));
  const says = (words: string) =>
    new Promise<void>((resolve, reject) => {
      waiting.push({ words, resolve });
      void ended.then(() => reject(new Error(`It ended without saying "${words}":\n${err}`)));
    });
  return { child, ended, says };
}

function tempDir(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'sixgates-programs-')));
  closing.push(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

describe('programs for Restate', () => {
  it('the example mends a program although every worker is killed while it asks', async () => {
    const { code, out, err } = await start('examples/restate/main.ts', []).ended;
    expect(err).toBe('');
    expect(out.match(/is killed/g)).toHaveLength(2);
    expect(out).toContain('src/basket.js is mended.');
    expect(code).toBe(0);
  }, 300_000);

  it('`sixgates serve` runs sessions that `sixgates run --restate` gives prompts to, again and again', async () => {
    const dir = tempDir();
    const restate = await startLocalRestate({ dir: join(dir, 'restate') });
    closing.push(() => restate.kill());
    const api = await scriptedServer({
      script: [[toolUse('Glob', { pattern: '*.none' })], [text('nothing here')], [text('still nothing')]],
    });
    closing.push(() => api.close());
    const place = [
      '--restate',
      restate.ingress,
      '--admin',
      restate.admin,
      '--port',
      String(await freePort()),
      '--cwd',
      dir,
      '--base-url',
      api.url,
    ];
    const serving = start('src/cli/main.ts', ['serve', ...place], { HOME: dir, SIXGATES_MODEL: 'claude-test' });
    await serving.says('registered with Restate');
    const first = await start('src/cli/main.ts', ['run', '--restate', restate.ingress, '--resume', 'cli-1', 'What is here?'], { HOME: dir })
      .ended;
    expect(first).toMatchObject({ code: 0, out: 'nothing here\n' });
    expect(first.err).toContain('cli-1');
    const second = await start('src/cli/main.ts', ['run', '--restate', restate.ingress, '--resume', 'cli-1', '--json', 'And now?'], {
      HOME: dir,
    }).ended;
    expect(second.code).toBe(0);
    expect(second.out).toContain('"still nothing"');
    expect(JSON.stringify(api.requests[2]?.body.messages)).toContain('What is here?');
    api.assertConsumed();
    serving.child.kill('SIGINT');
    expect((await serving.ended).code).toBe(0);
  }, 300_000);

  it('says how to go on where nothing answers', async () => {
    const { code, err } = await start('src/cli/main.ts', ['serve', '--restate', 'nowhere', '--port', '1']).ended;
    expect(err).toContain('an address looks like http://127.0.0.1:8080');
    expect(code).toBe(2);
  }, 300_000);
});
