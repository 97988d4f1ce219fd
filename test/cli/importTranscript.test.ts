import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { importCommand } from '../../src/cli/importTranscript.js';
import { sessionsCommand } from '../../src/cli/sessions.js';
import { text } from '../../src/testing/index.js';
import { scene, tempDir } from '../support/sessions.js';

const shared = fileURLToPath(new URL('../../../shared/data/transcripts', import.meta.url));
const transcripts = existsSync(shared) ? readdirSync(shared).filter((name) => name.endsWith('.jsonl')) : [];
const report = z.object({
  sessionId: z.string(),
  messages: z.number(),
  calls: z.number(),
  results: z.number(),
  openCalls: z.array(z.string()),
  notes: z.array(z.string()),
  problems: z.array(z.string()),
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** What a command writes to standard output. */
async function output(run: () => Promise<unknown>): Promise<string> {
  const written: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => written.push(String(chunk)) > 0);
  try {
    await run();
  } finally {
    vi.restoreAllMocks();
  }
  return written.join('');
}
const place = () => {
  const base = tempDir();
  const cwd = mkdtempSync(join(base, 'project-'));
  return { cwd, dataDir: join(base, 'data'), args: ['--cwd', cwd, '--data-dir', join(base, 'data')] };
};
const importFile = async (file: string, args: readonly string[]) =>
  report.parse(JSON.parse(await output(() => importCommand().parseAsync([file, '--json', ...args], { from: 'user' }))));

/** Calls and results by their ids, counted in the text of a file. */
function countedIn(file: string): { readonly calls: number; readonly results: number } {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const ids = (key: string) => {
    const found = lines.flatMap((line) => [...line.matchAll(new RegExp(`"${key}":"(toolu_[^"]+)"`, 'g'))].map(([, id]) => id));
    return new Set(found).size;
  };
  return { calls: ids('id'), results: ids('tool_use_id') };
}

/** A transcript as Claude Code writes it: a call with its result, and one that was left open. */
function small(dir: string): string {
  const entry = (uuid: string, parentUuid: string | null, role: 'user' | 'assistant', content: unknown) =>
    JSON.stringify({
      uuid,
      parentUuid,
      type: role,
      isSidechain: false,
      sessionId: 's',
      cwd: dir,
      timestamp: '2026-01-01T00:00:00Z',
      message: { role, content },
    });
  const file = join(dir, 'small.jsonl');
  const lines = [
    entry('a', null, 'user', 'look around'),
    entry('b', 'a', 'assistant', [{ type: 'tool_use', id: 't1', name: 'Read', input: { file_path: '/x' } }]),
    entry('c', 'b', 'user', [{ type: 'tool_result', tool_use_id: 't1', content: 'x' }]),
    '{ this line is broken',
    entry('d', 'c', 'assistant', [{ type: 'tool_use', id: 't2', name: 'Bash', input: { command: 'ls' } }]),
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

describe('sixgates import', () => {
  it('says what came along, what was left open and what could not be read; the session is listed', async () => {
    const { cwd, args } = place();
    const imported = await importFile(small(cwd), args);
    expect(imported).toMatchObject({ messages: 5, calls: 2, results: 1, openCalls: ['Bash (t2)'] });
    expect(imported.problems).toEqual([expect.stringContaining('line 4')]);
    const listed = await output(() => sessionsCommand().parseAsync(['--json', ...args], { from: 'user' }));
    expect(JSON.parse(listed)).toMatchObject({ sessionId: imported.sessionId, firstPrompt: 'look around' });
    const shown = await output(() => sessionsCommand().parseAsync(args, { from: 'user' }));
    expect(shown).toMatch(new RegExp(`^ {2}${imported.sessionId} +now +look around\\n$`));
  });

  it('refuses what is no conversation, and names the file', async () => {
    const { cwd, args } = place();
    const file = join(cwd, 'notes.jsonl');
    writeFileSync(file, 'no json\n');
    await expect(importCommand().parseAsync([file, ...args], { from: 'user' })).rejects.toThrow(`${file} cannot be imported`);
    await expect(importCommand().parseAsync([cwd, ...args], { from: 'user' })).rejects.toThrow('it is a directory');
  });

  if (transcripts.length === 0) console.warn(`No transcripts in ${shared}: the import of real ones is not tested here.`);
  it.skipIf(transcripts.length === 0).each(transcripts)('takes over the real transcript %s, and the session goes on', async (name) => {
    const { cwd, dataDir, args } = place();
    const imported = await importFile(join(shared, name), args);
    const { calls, results } = countedIn(join(shared, name));
    expect(imported).toMatchObject({ calls, results });
    const { session, server } = await scene([[text('Going on.')]], { cwd, store: dataDir, resume: imported.sessionId, builtInTools: true });
    const ended = await session.send('go on').done;
    expect(ended).toMatchObject({ reason: 'the model asked for no tool', end: 'completed', text: 'Going on.' });
    // The server takes no request in which a call and its result are not paired.
    expect({ taken: server.requests.length, refused: server.refusals }).toEqual({ taken: 1, refused: [] });
  });
});
