import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChainDraft } from '../../src/messages/entries.js';
import { forkTranscript } from '../../src/messages/fork.js';
import type { JournalEntry } from '../../src/messages/journal.js';
import { loadTranscript, parseTranscript } from '../../src/messages/load.js';
import { normalizeMessagesForAPI } from '../../src/messages/normalize.js';
import { assertSendable, checkPairing } from '../../src/messages/pairing.js';
import { transcriptPath } from '../../src/messages/paths.js';
import { closingResult, resumeState } from '../../src/messages/resume.js';
import { readClaudeTranscript, serializeTranscript } from '../../src/messages/sessions.js';
import { openTranscript, type Transcript } from '../../src/messages/transcript.js';
import type { ContentBlockParam } from '../../src/messages/types.js';
import { result, text, use, user } from './arbitraries.js';

let dataDir: string;
let next = 0;
const open = (): Transcript => openTranscript({ dataDir, cwd: '/work', sessionId: 's', ids: () => `u${next++}`, now: () => next });
const prompt = (...content: ContentBlockParam[]): ChainDraft => ({ type: 'user', message: { role: 'user', content } });
const block = (id: string, content: ContentBlockParam): ChainDraft => ({
  type: 'assistant',
  message: { id, role: 'assistant', content: [content] },
});
/** The process writes this and dies; another reads it. */
function restart(...entries: (ChainDraft | JournalEntry)[]) {
  const transcript = open();
  for (const entry of entries)
    'message' in entry || 'attachment' in entry || entry.type === 'system'
      ? transcript.append(entry as ChainDraft)
      : transcript.append(entry as JournalEntry);
  transcript.close();
  return loadTranscript(transcriptPath(dataDir, '/work', 's'));
}
const started = (callId: string): JournalEntry => ({ type: 'call.started', callId });
const parked = (callId: string): JournalEntry => ({
  type: 'permission.parked',
  callId,
  tool: 'Read',
  input: { of: callId },
  inputDigest: `d-${callId}`,
});

beforeEach(() => {
  next = 0;
  dataDir = mkdtempSync(join(tmpdir(), 'sixgates-resume-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

describe('calls that were open when the process ended', () => {
  it('get "outcome unknown" where they had begun and "not run" where they had not, in call order, in one message', () => {
    const loaded = restart(
      prompt(text('hi')),
      block('m', use('a')),
      started('a'),
      block('m', use('b')),
      started('b'),
      prompt(result('b')),
      block('m', use('c')),
    );
    const state = resumeState(loaded);
    expect(state.openCalls).toEqual([
      { id: 'a', name: 'Read', input: {}, started: true },
      { id: 'c', name: 'Read', input: {}, started: false },
    ]);
    expect(state.messages).toHaveLength(3);
    expect(state.messages[2]?.content).toMatchObject([
      { tool_use_id: 'a', is_error: true, content: expect.stringMatching(/^Interrupted, outcome unknown/) },
      result('b'),
      { tool_use_id: 'c', is_error: true, content: expect.stringMatching(/^Not run/) },
    ]);
    assertSendable(state.messages);
    expect(resumeState(loaded)).toEqual(state);
  });

  it('are closed for good by appending the closing entries, with the same bytes as announced', () => {
    const state = resumeState(restart(prompt(text('hi')), block('m', use('a')), started('a'), block('m', use('b'))));
    const transcript = open();
    for (const draft of state.closing) transcript.append(draft);
    expect(JSON.stringify(normalizeMessagesForAPI(transcript.chain))).toBe(JSON.stringify(state.messages));
    transcript.close();
    expect(loadTranscript(transcriptPath(dataDir, '/work', 's')).openCalls).toEqual([]);
  });

  it('use the stored result where the call had finished and only its line was missing', () => {
    const outcome = { kind: 'succeeded', isError: false, summary: 'ok' } as const;
    const loaded = restart(
      prompt(text('hi')),
      block('m', use('f')),
      started('f'),
      { type: 'call.outcome', callId: 'f', outcome, result: { type: 'tool_result', tool_use_id: 'f', content: 'counted: 1' } },
      block('m', use('g')),
      parked('g'),
    );
    const state = resumeState(loaded);
    expect(state.closing).toEqual([prompt(result('f', 'counted: 1'))]);
    expect(state.messages[2]?.content).toMatchObject([
      { tool_use_id: 'f', content: 'counted: 1' },
      { tool_use_id: 'g', is_error: true },
    ]);
  });

  it('say what is known where the outcome was recorded without its result', () => {
    const outcome = { kind: 'succeeded', isError: false, summary: 'wrote /x' } as const;
    const loaded = restart(prompt(text('hi')), block('m', use('a')), started('a'), { type: 'call.outcome', callId: 'a', outcome });
    expect(resumeState(loaded).messages[2]?.content).toMatchObject([{ content: expect.stringContaining('wrote /x'), is_error: true }]);
  });

  it('count as possibly begun where another program wrote them, and keep that across a fork', () => {
    const path = join(dataDir, 'foreign.jsonl');
    const lines = [
      { ...prompt(text('hi')), uuid: '1', parentUuid: null },
      { ...block('m', use('a')), uuid: '2', parentUuid: '1' },
    ];
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const loaded = loadTranscript(path);
    expect(resumeState(loaded).messages[2]?.content).toMatchObject([
      { tool_use_id: 'a', content: expect.stringContaining('outcome is unknown') },
    ]);
    const fork = forkTranscript(loaded, { dataDir, cwd: '/work', sessionId: 'fork', ids: () => `u${next++}`, now: () => 0 });
    fork.append({ type: 'session.state', patch: { mode: 'plan' } });
    fork.close();
    expect(loadTranscript(transcriptPath(dataDir, '/work', 'fork')).openCalls).toMatchObject([{ id: 'a', started: true }]);
  });

  it('count as not run when the process ended before anything but the block was written', () => {
    expect(resumeState(restart(prompt(text('hi')), block('m', use('a')))).openCalls).toMatchObject([{ id: 'a', started: false }]);
  });
});

describe('approvals that were parked', () => {
  it('are offered again with exactly the input shown; loading runs and closes nothing', () => {
    const loaded = restart(prompt(text('hi')), block('m', use('f')), started('f'), prompt(result('f')), block('m', use('g')), parked('g'));
    const state = resumeState(loaded);
    expect(state.parkedApprovals).toEqual([{ callId: 'g', tool: 'Read', input: { of: 'g' }, inputDigest: 'd-g', question: undefined }]);
    expect(state.closing).toEqual([]);
    assertSendable(state.messages);
  });

  it('can be closed as not run, or answered in any order: one user message, results in call order', () => {
    const loaded = restart(prompt(text('hi')), block('m', use('g1')), parked('g1'), block('m', use('g2')), parked('g2'));
    const [first] = loaded.openCalls;
    expect(first && closingResult(loaded, first)).toMatchObject({
      tool_use_id: 'g1',
      is_error: true,
      content: expect.stringContaining('waited for permission'),
    });
    const transcript = open();
    transcript.append(prompt(result('g2')));
    transcript.append(prompt(result('g1')));
    expect(normalizeMessagesForAPI(transcript.chain).slice(2)).toEqual([user(result('g1'), result('g2'))]);
    transcript.close();
  });

  it('are no longer offered once answered, begun, or closed', () => {
    const calls = ['a', 'b', 'c'].flatMap((id) => [block('m', use(id)), parked(id)]);
    const loaded = restart(
      prompt(text('hi')),
      ...calls,
      { type: 'permission.resolved', callId: 'a', behavior: 'allow' },
      started('b'),
      prompt(result('c')),
    );
    expect(resumeState(loaded).parkedApprovals).toEqual([]);
    expect(loaded.openCalls).toMatchObject([
      { id: 'a', started: false },
      { id: 'b', started: true },
    ]);
  });
});

describe('what else survives a restart', () => {
  it('notifications and prompts that were enqueued and not delivered, each exactly once, whatever the order', () => {
    const events = fc.array(fc.record({ kind: fc.constantFrom('enqueue', 'deliver', 'queue', 'type'), id: fc.nat(5) }), { maxLength: 20 });
    fc.assert(
      fc.property(events, (list) => {
        rmSync(join(dataDir, 'projects'), { recursive: true, force: true });
        const enqueued = new Set<string>();
        const told = new Set<string>();
        const entries = list.flatMap(({ kind, id: n }): (ChainDraft | JournalEntry)[] => {
          const id = `n${n}`;
          const prompts = kind === 'queue' || kind === 'type';
          const key = `${prompts ? 'p' : 'n'}:${id}`;
          if (kind === 'enqueue' || kind === 'queue') {
            enqueued.add(key);
            return [
              prompts
                ? { type: 'prompt.queued', promptId: id, content: id }
                : { type: 'notification.enqueued', notificationId: id, text: id },
            ];
          }
          if (!enqueued.has(key)) return [];
          told.add(key);
          const attachment = prompts ? { type: 'queued_command', prompt: id, promptId: id } : { type: 'notification', id, text: id };
          return [{ type: 'attachment', attachment }];
        });
        const loaded = restart(prompt(text('hi')), ...entries);
        const state = resumeState(loaded);
        const waiting = [
          ...state.undeliveredNotifications.map(({ id }) => `n:${id}`),
          ...state.undeliveredPrompts.map(({ id }) => `p:${id}`),
        ];
        expect(waiting.toSorted()).toEqual([...enqueued].filter((key) => !told.has(key)).toSorted());
        const sent = JSON.stringify(state.messages);
        for (const key of told) if (key.startsWith('n')) expect(sent.split(`\\n${key.slice(2)}\\n`)).toHaveLength(2);
      }),
      { numRuns: 100 },
    );
  });

  it('the deferred tools that were loaded, with their schema digests, also across a compaction', () => {
    const transcript = open();
    transcript.append(prompt(text('hi')));
    transcript.append({ type: 'tools.loaded', tools: [{ name: 'X', schemaDigest: 'old' }, { name: 'Y' }] });
    transcript.appendCompaction({ summary: 'so far', trigger: 'auto' });
    transcript.append({ type: 'tools.loaded', tools: [{ name: 'X', schemaDigest: 'new' }] });
    transcript.close();
    const state = resumeState(loadTranscript(transcriptPath(dataDir, '/work', 's')));
    expect(state.loadedTools).toEqual([
      { name: 'X', schemaDigest: 'new' },
      { name: 'Y', schemaDigest: undefined },
    ]);
  });

  it('session state patches, later ones winning, and the directory the session was last in', () => {
    const transcript = open();
    transcript.append(prompt(text('hi')));
    transcript.append({ type: 'session.state', patch: { mode: 'default', model: 'a' } });
    transcript.append({ type: 'session.state', patch: { mode: 'plan' } });
    transcript.cwd = '/work/deeper';
    transcript.append(prompt(text('there')));
    transcript.close();
    const state = resumeState(loadTranscript(transcriptPath(dataDir, '/work', 's')));
    expect(state).toMatchObject({ state: { mode: 'plan', model: 'a' }, cwd: '/work/deeper', sessionId: 's' });
  });
});

describe('damaged transcripts', () => {
  const line = (value: object) => `${JSON.stringify(value)}\n`;
  const u = (uuid: string, parentUuid: string | null, ...content: ContentBlockParam[]) => line({ ...prompt(...content), uuid, parentUuid });
  const a = (uuid: string, parentUuid: string | null, id: string, content: ContentBlockParam) =>
    line({ ...block(id, content), uuid, parentUuid });
  it.each([
    ['a result without its call', u('1', null, result('gone')) + u('2', '1', text('hi'))],
    ['a call without result at the end', u('1', null, text('hi')) + a('2', '1', 'm', use('a'))],
    [
      'a call without result in the middle',
      u('1', null, text('hi')) +
        a('2', '1', 'm', use('a')) +
        u('3', '2', text('go on')) +
        a('4', '3', 'm2', text('ok')) +
        u('5', '4', text('and')),
    ],
    ['a call parked at a question', u('1', null, text('hi')) + a('2', '1', 'm', use('a')) + line({ ...parked('a') })],
    ['a last line cut in half', u('1', null, text('hi')) + a('2', '1', 'm', use('a')) + u('3', '2', result('a')).slice(0, 40)],
  ])('are resumed with a request the API takes: %s', (_name, content) => {
    const path = join(dataDir, 'damaged.jsonl');
    writeFileSync(path, content);
    const state = resumeState(loadTranscript(path));
    assertSendable(state.messages);
    expect(readFileSync(path, 'utf8')).toBe(content);
  });
});

const transcripts = join(import.meta.dirname, '../../../shared/data/transcripts');
describe.skipIf(!existsSync(transcripts))('real transcripts of Claude Code (skipped where the shared data is absent)', () => {
  it.each(['1af7fc5e', '5c0375b4', 'fe5e1c67'])('import whole, fork, and survive loading and saving: %s', (name) => {
    const path = join(transcripts, `${name}.jsonl`);
    const session = readClaudeTranscript(path);
    expect(session.loaded.problems).toEqual([]);
    expect(session.loaded.openCalls).toEqual([]);
    const histories = [session.resume.messages, ...session.sidechains.map(({ messages }) => messages)];
    const blocks = histories.flat().flatMap(({ content }) => (typeof content === 'string' ? [] : content));
    const results = new Set(blocks.flatMap((one) => (one.type === 'tool_result' ? [one.tool_use_id] : [])));
    const calls = blocks.flatMap((one) => (one.type === 'tool_use' ? [one.id] : []));
    expect(calls).toHaveLength(session.counts.calls);
    expect(results.size).toBe(session.counts.results);
    expect(calls.every((id) => results.has(id))).toBe(true);
    expect([...session.resume.notes, ...session.sidechains.flatMap(({ notes }) => notes)]).toEqual([]);
    for (const messages of histories) expect(checkPairing([...messages, user(text('go on'))])).toEqual([]);
    const saved = parseTranscript(Buffer.from(serializeTranscript(session.loaded.lines)));
    expect(saved.lines).toEqual(session.loaded.lines);
    const fork = forkTranscript(session.loaded, { dataDir, cwd: '/work', sessionId: 'fork', ids: () => `f${next++}`, now: () => 0 });
    expect(normalizeMessagesForAPI(fork.chain)).toEqual(session.resume.messages);
    fork.close();
  });
});
