import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { CliError } from '../../src/cli/failure.js';
import { PromptHistory } from '../../src/cli/history.js';
import { parseRunOptions, sessionOpener } from '../../src/cli/runOptions.js';
import { sessionFlags } from '../../src/cli/sessionOptions.js';
import { inspectPortOf } from '../../src/cli/watching.js';
import type { Session } from '../../src/session/session.js';
import { tempDir } from '../support/sessions.js';

const opened: Session[] = [];
afterEach(async () => {
  for (const session of opened.splice(0)) await session.close();
});

const noGate = () => undefined;
function opener(options: Record<string, unknown>) {
  return sessionOpener(parseRunOptions(options), false, noGate);
}
function open(options: Record<string, unknown>): Session {
  const session = opener(options).open();
  opened.push(session);
  return session;
}
const place = () => {
  const base = tempDir();
  const cwd = join(base, 'project');
  mkdirSync(cwd);
  return { cwd, dataDir: join(base, 'data') };
};

describe('what a command line asks for', () => {
  it('becomes options of a session, with nothing in them that was not asked for', () => {
    expect(sessionFlags({})).toEqual({ model: {}, settings: { trusted: false } });
    const given = {
      model: 'm',
      maxTokens: 10,
      baseUrl: 'http://localhost:1',
      system: 's',
      mode: 'plan',
      trust: true,
      opaque: 'claude-code',
    } as const;
    expect(sessionFlags(given)).toEqual({
      model: { id: 'm', maxTokens: 10, baseURL: 'http://localhost:1', system: 's' },
      permissions: { mode: 'plan' },
      opaque: 'claude-code',
      settings: { trusted: true },
    });
  });

  it('is refused with a message where it cannot work', () => {
    const { cwd, dataDir } = place();
    const file = join(cwd, 'settings.json');
    const refused: readonly (readonly [Record<string, unknown>, RegExp])[] = [
      [{ cwd: join(cwd, 'gone') }, /cannot be used.*no such file/],
      [{ cwd, dataDir, settings: join(cwd, 'none.json') }, /none\.json.*cannot be read/],
      [{ cwd, dataDir, settings: file }, /settings\.json:1/],
      [{ cwd, dataDir, resume: 'unknown' }, /There is no session unknown of .* `sixgates sessions` lists/],
      [{ cwd, dataDir, fork: 'unknown' }, /There is no session unknown/],
      [{ cwd, dataDir, continue: true }, /There is no session of .* to continue/],
      [{ cwd, dataDir, baseUrl: 'localhost' }, /--base-url localhost/],
    ];
    writeFileSync(file, '{ "permissions": { "deny": ["Bash(rm *)" } }');
    writeFileSync(join(cwd, 'plain'), '');
    for (const [options, message] of refused) {
      const attempt = () => open(options);
      expect(attempt).toThrow(CliError);
      expect(attempt).toThrow(message);
    }
    expect(() => open({ cwd: join(cwd, 'plain') })).toThrow('is a file');
  });

  it('goes on with the newest session, with one by the beginning of its id, or with a copy', async () => {
    const { cwd, dataDir } = place();
    const first = open({ cwd, dataDir });
    await first.close();
    const said = { type: 'user', uuid: 'u1', sessionId: first.id, cwd, message: { role: 'user', content: 'hello' } };
    writeFileSync(first.transcriptPath ?? '', `${JSON.stringify(said)}\n`);
    // Somebody looked in and said nothing: there is nothing in it to go on with.
    await open({ cwd, dataDir }).close();
    const begun = first.id.slice(0, 8);
    const again = open({ cwd, dataDir, resume: begun });
    expect(again.id).toBe(first.id);
    await again.close();
    const newest = open({ cwd, dataDir, continue: true });
    expect(newest.id).toBe(first.id);
    const copy = open({ cwd, dataDir, fork: begun });
    expect(copy.id).not.toBe(first.id);
  });

  it('is told who writes a session that is open elsewhere, and the way round', () => {
    const { cwd, dataDir } = place();
    const first = open({ cwd, dataDir });
    const attempt = () => open({ cwd, dataDir, resume: first.id });
    expect(attempt).toThrow(CliError);
    expect(attempt).toThrow(/is being written by process \d+.*--fork/);
  });

  it('keeps a session open under another model', async () => {
    const { cwd, dataDir } = place();
    const line = opener({ cwd, dataDir });
    const first = line.open();
    await first.close();
    const second = line.open({ resume: first.id, model: 'another-model' });
    opened.push(second);
    expect([second.id, second.model]).toEqual([first.id, 'another-model']);
  });

  it('does not take the prompt for a port', () => {
    expect(inspectPortOf('8123')).toBe(8123);
    for (const text of ['fix it', '99999', '-1', '']) expect(() => inspectPortOf(text)).toThrow(/^A port is .* Put the prompt before/);
  });
});

describe('the history of prompts', () => {
  it('comes back in the next session, without repeats and over a broken line', () => {
    const file = join(tempDir(), 'deep', 'history.jsonl');
    const history = new PromptHistory(file);
    for (const line of ['one', 'two\nlines', 'two\nlines', '  ', 'three']) history.add(line);
    writeFileSync(file, `${readFileSync(file, 'utf8')}"half`);
    expect(new PromptHistory(file).lines).toEqual(['one', 'two\nlines', 'three']);
  });

  it('is bounded, in memory and on disk', () => {
    const file = join(tempDir(), 'history.jsonl');
    writeFileSync(file, Array.from({ length: 3000 }, (_, n) => `"line ${n}"\n`).join(''));
    expect(new PromptHistory(file).lines).toHaveLength(1000);
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(1000);
  });

  it('costs nothing else when it cannot be written', () => {
    const blocked = join(tempDir(), 'file');
    writeFileSync(blocked, '');
    const history = new PromptHistory(join(blocked, 'history.jsonl'));
    history.add('one');
    expect(history.lines).toEqual(['one']);
    expect(existsSync(join(blocked, 'history.jsonl'))).toBe(false);
  });
});
