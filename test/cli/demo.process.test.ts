import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { UP_TO_END } from '../support/callStates.js';
import { tempDir } from '../support/sessions.js';
import { Cli } from './support/runCli.js';

const basket = 'src/basket.js';
const original = fileURLToPath(new URL(`../../examples/demo-project/${basket}`, import.meta.url));
describe('sixgates demo', { timeout: 300_000 }, () => {
  it('works offline: every call passes its gates in order, the project is mended, and the recording opens', async () => {
    const dir = tempDir();
    const recording = join(dir, 'demo.flow.jsonl.gz');
    const cli = new Cli(['demo', '--json', '--dir', dir, '--record', recording]);
    const { code, stderr } = await cli.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: `Recording:   ${recording}\n` });

    const states = new Map<unknown, unknown[]>();
    for (const update of cli.lines()) {
      if (update.type === 'call.state') states.set(update.callId, [...(states.get(update.callId) ?? []), update.state]);
    }
    expect(states.size).toBe(8);
    for (const passed of states.values()) {
      const executing = passed.slice(0, -2);
      expect(executing).toEqual(UP_TO_END.slice(0, executing.length));
      expect(passed.at(-2)).toMatch(/^completed\./);
      expect(passed.at(-1)).toBe('yielded');
    }
    const ends = [...states.values()].map((passed) => passed.at(-2));
    expect(ends.filter((end) => end === 'completed.denied')).toHaveLength(1);
    expect(readFileSync(join(dir, 'corner-shop', basket), 'utf8')).not.toBe(readFileSync(original, 'utf8'));
    expect(existsSync(join(dir, 'corner-shop', 'README.md'))).toBe(true);

    const test = join(dir, 'query.test.mjs');
    expect((await new Cli(['inspect', recording, '--output', test]).ended).stderr).toContain(`Written:     ${test}`);
    expect(readFileSync(test, 'utf8')).toMatch(/from 'node:test';[\s\S]*queryMachine as machine/);
    const callTest = join(dir, 'call.test.mjs');
    expect((await new Cli(['inspect', recording, '--output', callTest, '--actor', 'toolu_1_2', '--runner', 'vitest']).ended).code).toBe(0);
    expect(readFileSync(callTest, 'utf8')).toMatch(/from 'vitest';[\s\S]*toolCallMachine as machine/);
    const unknown = await new Cli(['inspect', recording, '--output', join(dir, 'no.test.mjs'), '--actor', 'nobody']).ended;
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no machine nobody in it') });

    const inspect = new Cli(['inspect', recording, '--no-open']);
    await inspect.shows('stdout', '\n');
    const [, url = ''] = /Inspector: {3}(\S+)/.exec(inspect.stdout) ?? [];
    expect((await fetch(url)).status).toBe(200);
    inspect.signal('SIGINT');
    expect((await inspect.ended).code).toBe(0);
  });

  it('does not begin where it could not end: exit 2, a message, no stack', async () => {
    const file = join(tempDir(), 'file');
    writeFileSync(file, '');
    const refused = async (...args: string[]) => {
      const { code, stderr } = await new Cli(['demo', ...args]).ended;
      expect(code).toBe(2);
      expect(stderr).not.toMatch(/^ +at /m);
      return stderr;
    };
    expect(await refused('--break', 'Bash')).toContain('it needs --inspect');
    expect(await refused('--dir', file)).toContain('a part of its path is a file, not a directory');
    expect(await refused('--record', join(file, 'x.flow.jsonl.gz'))).toContain('cannot be written: a part of its path is a file');
  });
});
