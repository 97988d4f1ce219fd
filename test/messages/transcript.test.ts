import { spawnSync } from 'node:child_process';
import * as nodeFs from 'node:fs';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChainDraft } from '../../src/messages/entries.js';
import { type ForkOptions, forkTranscript } from '../../src/messages/fork.js';
import { describeTranscript, loadTranscript, parseTranscript } from '../../src/messages/load.js';
import { TranscriptLockedError } from '../../src/messages/lock.js';
import { normalizeMessagesForAPI, normalizeWithNotes } from '../../src/messages/normalize.js';
import { assertSendable, checkPairing } from '../../src/messages/pairing.js';
import { cwdSlug, transcriptPath } from '../../src/messages/paths.js';
import { placeAdvice } from '../../src/messages/placeAdvice.js';
import { resumeState } from '../../src/messages/resume.js';
import { listSessions, serializeTranscript } from '../../src/messages/sessions.js';
import type { TranscriptFs } from '../../src/messages/sink.js';
import { openTranscript, TranscriptWriteError } from '../../src/messages/transcript.js';
import type { ContentBlockParam } from '../../src/messages/types.js';
import { assistant, result, text, use, user } from './arbitraries.js';

let dataDir: string;
let next = 0;
const options = (more: Partial<ForkOptions> = {}): ForkOptions => ({
  dataDir,
  cwd: '/work/project',
  sessionId: 's1',
  ids: () => `u${next++}`,
  now: () => Date.UTC(2026, 0, 1),
  ...more,
});
const prompt = (...content: ContentBlockParam[]): ChainDraft => ({ type: 'user', message: { role: 'user', content } });
const block = (id: string, content: ContentBlockParam): ChainDraft => ({
  type: 'assistant',
  message: { id, role: 'assistant', content: [content] },
});
const file = (...lines: (object | string)[]) => {
  const path = join(dataDir, `${next++}.jsonl`);
  writeFileSync(path, lines.map((line) => (typeof line === 'string' ? line : `${JSON.stringify(line)}\n`)).join(''));
  return path;
};
const u = (uuid: string, parentUuid: string | null, ...content: ContentBlockParam[]) => ({
  ...prompt(...content),
  uuid,
  parentUuid,
  sessionId: 'src',
  cwd: '/x',
});
const a = (uuid: string, parentUuid: string | null, id: string, content: ContentBlockParam) => ({
  ...block(id, content),
  uuid,
  parentUuid,
  sessionId: 'src',
  cwd: '/x',
});

beforeEach(() => {
  next = 0;
  dataDir = mkdtempSync(join(tmpdir(), 'sixgates-transcript-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

describe('a transcript file', () => {
  it('lies under the project directory, one JSON object a line, chained, private to the user', () => {
    const transcript = openTranscript(options());
    transcript.append(prompt(text('hi')));
    transcript.append(block('m', use('a')));
    transcript.append({ type: 'call.started', callId: 'a' });
    transcript.append(prompt(result('a')));
    transcript.close();
    const path = join(dataDir, 'projects', '-work-project', 's1.jsonl');
    const lines: { [key: string]: unknown }[] = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ type, uuid, parentUuid }) => ({ type, uuid, parentUuid }))).toEqual([
      { type: 'user', uuid: 'u0', parentUuid: null },
      { type: 'assistant', uuid: 'u1', parentUuid: 'u0' },
      { type: 'call.started', uuid: undefined, parentUuid: undefined },
      { type: 'user', uuid: 'u2', parentUuid: 'u1' },
    ]);
    expect(lines[0]).toMatchObject({ sessionId: 's1', cwd: '/work/project', timestamp: '2026-01-01T00:00:00.000Z', isSidechain: false });
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  it('is continued where it ended when it is opened again', () => {
    const first = openTranscript(options());
    first.append(prompt(text('hi')));
    first.close();
    const second = openTranscript(options());
    second.append(block('m', text('hello')));
    second.append(prompt(text('more')));
    expect(normalizeMessagesForAPI(second.chain)).toEqual([user(text('hi')), assistant(text('hello')), user(text('more'))]);
    second.close();
    expect(loadTranscript(transcriptPath(dataDir, '/work/project', 's1')).chain).toEqual(second.chain);
  });

  it('keeps one record a line whatever a text holds', () => {
    const transcript = openTranscript(options());
    const odd = 'a\nb\r\u2028c\u2029d\u0000e\ud83d';
    transcript.append(prompt(text(odd)));
    transcript.close();
    const bytes = readFileSync(transcriptPath(dataDir, '/work/project', 's1'), 'utf8');
    expect(bytes.slice(0, -1)).not.toMatch(/[\n\r\u2028\u2029\0]/);
    expect(loadTranscript(transcriptPath(dataDir, '/work/project', 's1')).chain[0]).toMatchObject({
      message: { content: [{ text: odd }] },
    });
  });

  it('has each line at the operating system before append returns, and resolves flush', async () => {
    const transcript = openTranscript(options());
    transcript.append({ type: 'call.started', callId: 'a' });
    expect(readFileSync(transcriptPath(dataDir, '/work/project', 's1'), 'utf8')).toContain('"call.started"');
    await transcript.flush();
    transcript.close();
  });

  it('writes each line once and reads nothing back, however long it is', () => {
    const written: number[] = [];
    let reads = 0;
    const fs: TranscriptFs = {
      ...nodeFs,
      readFileSync: ((...args: Parameters<typeof nodeFs.readFileSync>) => {
        reads += 1;
        return nodeFs.readFileSync(...args);
      }) as typeof nodeFs.readFileSync,
      writeSync: ((fd: number, bytes: Buffer, offset: number, length: number) => {
        written.push(length);
        return nodeFs.writeSync(fd, bytes, offset, length);
      }) as typeof nodeFs.writeSync,
    };
    const transcript = openTranscript(
      options({ fs, ids: () => 'uuid'.padEnd(8, String(written.length % 10)) + String(written.length).padStart(6, '0') }),
    );
    for (let n = 0; n < 500; n++) transcript.append(prompt(text('same')));
    transcript.close();
    expect(reads).toBe(1);
    expect(written).toHaveLength(500);
    expect(written[499]).toBe(written[1]);
  });

  it('refuses to add what could not be written, and does not glue the next line to the torn one', () => {
    let fail = false;
    const fs: TranscriptFs = {
      ...nodeFs,
      writeSync: ((fd: number, bytes: Buffer, offset: number, length: number) => {
        if (!fail) return nodeFs.writeSync(fd, bytes, offset, length);
        if (offset === 0) return nodeFs.writeSync(fd, bytes, offset, Math.min(length, 20));
        throw new Error('ENOSPC: no space left on device');
      }) as typeof nodeFs.writeSync,
    };
    const transcript = openTranscript(options({ fs }));
    transcript.append(prompt(text('one')));
    fail = true;
    expect(() => transcript.append(prompt(text('two')))).toThrow(TranscriptWriteError);
    expect(() => transcript.append(prompt(text('two')))).toThrow(/s1\.jsonl: ENOSPC.*SIXGATES_DATA_DIR/s);
    expect(transcript.chain).toHaveLength(1);
    fail = false;
    transcript.append(prompt(text('three')));
    transcript.close();
    const loaded = loadTranscript(transcriptPath(dataDir, '/work/project', 's1'));
    expect(normalizeMessagesForAPI(loaded.chain)).toEqual([user(text('one'), text('three'))]);
    expect(loaded.problems.map((problem) => problem.code)).toEqual(['corrupt_json', 'corrupt_json']);
  });

  it('refuses a session id that would leave its directory', () => {
    expect(() => openTranscript(options({ sessionId: '../../x' }))).toThrow(/no session id/);
  });

  it('keeps a subagent beside its session, out of the list of sessions', () => {
    const agent = openTranscript(options({ agentId: 'a1' }));
    agent.append(prompt(text('sub')));
    agent.close();
    expect(agent.path).toBe(join(dataDir, 'projects', '-work-project', 's1', 'subagents', 'agent-a1.jsonl'));
    expect(agent.chain[0]).toMatchObject({ agentId: 'a1', sessionId: 's1' });
    expect(listSessions({ dataDir })).toEqual([]);
  });

  it('lists a session by its first prompt, also where that brought a long text along', () => {
    const transcript = openTranscript(options());
    transcript.append({ type: 'prompt.queued', promptId: 'p', content: 'x'.repeat(300_000) });
    transcript.append(prompt(text(`look at this: ${'x'.repeat(300_000)}`)));
    transcript.close();
    expect(listSessions({ dataDir })).toMatchObject([{ cwd: '/work/project', firstPrompt: expect.stringMatching(/^look at this: x+$/) }]);
  });

  it('names directories like Claude Code: alphanumerics kept, the rest dashes, long paths cut with a hash', () => {
    expect(cwdSlug('/home/me/my.project_1')).toBe('-home-me-my-project-1');
    const long = `/${'x'.repeat(250)}`;
    expect(cwdSlug(long)).toMatch(/^-x{199}-[0-9a-z]+$/);
    expect(cwdSlug(long)).not.toBe(cwdSlug(`${long}y`));
  });
});

describe('one writer at a time', () => {
  it('refuses a second writer, saying who writes and what to do, and lets it in when the first has closed', () => {
    const first = openTranscript(options());
    expect(() => openTranscript(options())).toThrow(TranscriptLockedError);
    expect(() => openTranscript(options())).toThrow(new RegExp(`process ${process.pid}.*fork`));
    first.close();
    openTranscript(options()).close();
    expect(existsSync(`${first.path}.lock`)).toBe(false);
  });

  it('opens read-only beside a writer when asked to', () => {
    const first = openTranscript(options());
    first.append(prompt(text('hi')));
    const reader = openTranscript(options({ whenLocked: 'readOnly' }));
    expect(reader.readOnly).toBe(true);
    expect(reader.chain).toHaveLength(1);
    expect(() => reader.append(prompt(text('no')))).toThrow(/read-only/);
    reader.close();
    first.append(prompt(text('still mine')));
    expect(() => openTranscript(options())).toThrow(TranscriptLockedError);
    first.close();
  });

  it.each([
    ['a process that is gone', () => JSON.stringify({ pid: spawnSync(process.execPath, ['-e', '']).pid, host: hostname() })],
    ['an earlier life of this pid', () => JSON.stringify({ pid: process.pid, host: hostname() })],
    ['half a lock file', () => '{"pid":'],
  ])('takes over the lock of %s', (_name, content) => {
    openTranscript(options()).close();
    writeFileSync(`${transcriptPath(dataDir, '/work/project', 's1')}.lock`, content());
    openTranscript(options()).close();
  });

  it.runIf(process.platform === 'linux')('takes over the lock of a process whose pid another program has by now', () => {
    const first = openTranscript(options());
    const lock = `${first.path}.lock`;
    const ours: { life: string } = JSON.parse(readFileSync(lock, 'utf8'));
    first.close();
    writeFileSync(lock, JSON.stringify({ ...ours, pid: process.ppid }));
    openTranscript(options()).close();
    writeFileSync(lock, JSON.stringify({ ...ours, life: `${ours.life}0` }));
    openTranscript(options()).close();
  });

  it.runIf(process.platform === 'linux')(
    'refuses a second writer also where another copy of this module, or another thread, is the first',
    async () => {
      vi.resetModules();
      const copy = await import('../../src/messages/transcript.js');
      const first = copy.openTranscript(options());
      expect(() => openTranscript(options())).toThrow(TranscriptLockedError);
      first.close();
      openTranscript(options()).close();
    },
  );

  it('leaves nothing but the transcript behind, and says of which one the lock cannot be taken', () => {
    const first = openTranscript(options());
    first.close();
    const path = first.path ?? '';
    expect(readdirSync(dirname(path))).toEqual([basename(path)]);
    mkdirSync(`${path}.lock`);
    expect(() => openTranscript(options())).toThrow(TranscriptWriteError);
    expect(() => openTranscript(options())).toThrow(`Cannot open the transcript ${path}`);
    expect(() => openTranscript(options())).toThrow('SIXGATES_DATA_DIR');
  });

  it('does not guess about a process of another host', () => {
    openTranscript(options()).close();
    writeFileSync(`${transcriptPath(dataDir, '/work/project', 's1')}.lock`, JSON.stringify({ pid: 1, host: `not-${hostname()}` }));
    expect(() => openTranscript(options())).toThrow(/delete .*\.lock/);
  });
});

describe('loading', () => {
  it('sets damaged lines aside, counts them with their numbers, and leaves the file as it is', () => {
    const path = file(
      `\uFEFF${JSON.stringify(u('1', null, text('hi')))}\n`,
      '{"type":"user","uuid"\n',
      { type: 'from-the-future', data: 1 },
      '[1,2]\n',
      { type: 'user', uuid: '3', message: { role: 'user', content: 7 } },
      '\n',
      { ...block('m', text('hello')), uuid: '2', parentUuid: '1' },
      { ...block('m', text('hello')), uuid: '2', parentUuid: '1' },
      '{"type":"user","mess',
    );
    const before = readFileSync(path);
    const loaded = loadTranscript(path);
    expect(loaded.problems.map(({ code, line }) => `${line} ${code}`)).toEqual([
      '1 bom',
      '2 corrupt_json',
      '4 malformed_entry',
      '5 malformed_entry',
      '8 duplicate_uuid',
      '9 half_line',
    ]);
    expect(loaded.problems[3]?.text).toMatch(/user entry: message\.content/);
    expect(normalizeMessagesForAPI(loaded.chain)).toEqual([user(text('hi')), assistant(text('hello'))]);
    expect(readFileSync(path)).toEqual(before);
  });

  it('never throws, whatever the bytes', () => {
    for (const bytes of [
      '',
      '\n\n',
      'null\n1\n"x"\n[]\n{}',
      '{"type":7}',
      '\0\0\0',
      '{"type":"user","uuid":"a","parentUuid":"a","message":{"role":"user","content":"x"}}',
    ]) {
      expect(() => parseTranscript(Buffer.from(bytes))).not.toThrow();
      expect(() => loadTranscript(file(bytes))).not.toThrow();
    }
    expect(() => loadTranscript(join(dataDir, 'nowhere.jsonl'))).toThrow(/Cannot read the transcript .*nowhere\.jsonl/);
  });

  it('does not run in circles when parents do', () => {
    const loaded = loadTranscript(file(u('1', '2', text('a')), u('2', '1', text('b'))));
    expect(loaded.chain.map((entry) => entry.uuid).toSorted()).toEqual(['1', '2']);
  });

  it('steps over an unfinished last line when the session goes on', () => {
    const first = openTranscript(options());
    first.append(prompt(text('hi')));
    first.close();
    const path = transcriptPath(dataDir, '/work/project', 's1');
    appendFileSync(path, '{"type":"assist');
    const second = openTranscript(options());
    second.append(prompt(text('more')));
    second.close();
    expect(readFileSync(path, 'utf8')).toContain('\n{"type":"assist\n{');
    expect(normalizeMessagesForAPI(loadTranscript(path).chain)).toEqual([user(text('hi'), text('more'))]);
  });

  it('goes on behind a line that was lost, and says so', () => {
    const loaded = loadTranscript(file(u('1', null, text('hi')), '{"torn\n', u('3', '2', text('still here'))));
    expect(loaded.chain.map((entry) => entry.uuid)).toEqual(['1', '3']);
    expect(loaded.problems.map((problem) => problem.code)).toEqual(['corrupt_json', 'missing_parent']);
  });

  it('keeps lines of other versions, so that loading, saving and loading again changes nothing', () => {
    const path = file(
      { type: 'summary', summary: 'x', leafUuid: '2' },
      { type: 'progress', uuid: 'p', parentUuid: null, data: { deep: [1] } },
      { ...u('1', 'p', text('hi')), gitBranch: 'main', version: '2.1' },
      { type: 'call.started', callId: 'a', extra: true },
    );
    const once = loadTranscript(path);
    const saved = serializeTranscript(once.lines);
    expect(saved).toBe(readFileSync(path, 'utf8'));
    expect(parseTranscript(Buffer.from(saved)).lines).toEqual(once.lines);
  });
});

/** Parallel calls as Claude Code writes them: each result hangs on its own call's line. */
const parallel = () => [
  u('u0', null, text('hi')),
  a('a1', 'u0', 'm1', use('A')),
  a('a2', 'a1', 'm1', use('B')),
  u('r1', 'a1', result('A')),
  u('r2', 'a2', result('B')),
  a('a3', 'r2', 'm2', text('both done')),
];
const parallelMessages = [user(text('hi')), assistant(use('A'), use('B')), user(result('A'), result('B')), assistant(text('both done'))];

describe('parallel results that hang on different parents', () => {
  it('come back on resume: the walk drops no result whose call it kept', () => {
    const loaded = loadTranscript(file(...parallel()));
    expect(normalizeMessagesForAPI(loaded.chain)).toEqual(parallelMessages);
    expect(loaded.openCalls).toEqual([]);
  });

  it('come back when the last line is one of the results, or one of the calls', () => {
    const swapped = parallel().slice(0, 5);
    expect(normalizeMessagesForAPI(loadTranscript(file(...swapped)).chain)).toEqual(parallelMessages.slice(0, 3));
    const early = [parallel()[0], parallel()[1], parallel()[3], parallel()[2]].flatMap((line) => line ?? []);
    expect(loadTranscript(file(...early)).openCalls.map((call) => call.id)).toEqual(['B']);
  });

  it('are both copied by a fork, under new uuids, with their origin', () => {
    const source = loadTranscript(
      file(...parallel(), { type: 'progress', uuid: 'p', parentUuid: 'a3' }, u('u9', 'p', text('next')), {
        ...u('side', null, text('sub')),
        isSidechain: true,
      }),
    );
    const fork = forkTranscript(source, options({ sessionId: 'forked' }));
    expect(normalizeMessagesForAPI(fork.chain)).toEqual([...parallelMessages, user(text('next'))]);
    fork.close();
    const loaded = loadTranscript(transcriptPath(dataDir, '/work/project', 'forked'));
    expect(loaded.sessionId).toBe('forked');
    expect(loaded.sidechains).toEqual([]);
    const uuids = new Set(source.lines.flatMap(({ entry }) => entry.uuid ?? []));
    expect(loaded.chain.every((entry) => !uuids.has(entry.uuid) && (entry.parentUuid === null || !uuids.has(entry.parentUuid ?? '')))).toBe(
      true,
    );
    expect(loaded.chain[0]).toMatchObject({ forkedFrom: { sessionId: 'src', messageUuid: 'u0' } });
    expect(loaded.chain.at(-1)?.parentUuid).toBe(loaded.chain.at(-2)?.uuid);
  });

  it('survive loading, saving and loading', () => {
    const once = loadTranscript(file(...parallel()));
    const twice = loadTranscript(file(serializeTranscript(once.lines)));
    expect(twice.chain).toEqual(once.chain);
    expect(twice.lines).toEqual(once.lines);
  });

  it('do not bring back a conversation that was rewound', () => {
    const rewound = loadTranscript(file(...parallel(), u('other', 'u0', text('instead')), a('b1', 'other', 'm9', text('ok'))));
    expect(normalizeMessagesForAPI(rewound.chain)).toEqual([user(text('hi'), text('instead')), assistant(text('ok'))]);
  });
});

describe('files as other programs write and break them', () => {
  /** Turns of parallel calls: each call's line follows the one before, each result hangs on its own call, the next answer on any result. */
  const foreign = fc
    .array(
      fc.record({ calls: fc.integer({ min: 1, max: 4 }), next: fc.nat(3), order: fc.array(fc.nat(100), { minLength: 4, maxLength: 4 }) }),
      { minLength: 1, maxLength: 5 },
    )
    .map((turns) => {
      const lines: object[] = [u('start', null, text('hi'))];
      let parent = 'start';
      turns.forEach(({ calls, next: leaf, order }, turn) => {
        const ids = Array.from({ length: calls }, (_, n) => `t${turn}_${n}`);
        ids.forEach((id, n) => {
          lines.push(a(`call-${id}`, n === 0 ? parent : `call-${ids[n - 1]}`, `m${turn}`, use(id)));
        });
        const ended = ids.toSorted((x, y) => (order[ids.indexOf(x)] ?? 0) - (order[ids.indexOf(y)] ?? 0));
        for (const id of ended) lines.push(u(`result-${id}`, `call-${id}`, result(id)));
        parent = `result-${ids[leaf % calls]}`;
      });
      return lines;
    });

  it('keep every pair of parallel calls, whichever result the conversation goes on from', () => {
    fc.assert(
      fc.property(foreign, (lines) => {
        const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
        const loaded = describeTranscript(parseTranscript(Buffer.from(text)), undefined);
        expect(loaded.openCalls).toEqual([]);
        const { messages, notes } = normalizeWithNotes(loaded.chain);
        expect(notes).toEqual([]);
        expect(JSON.stringify(messages).match(/"tool_result"/g)?.length).toBe(text.match(/"tool_result"/g)?.length);
        assertSendable(messages);
      }),
      { numRuns: 300 },
    );
  });

  it('load without throwing and resume with a sendable request, however lines are lost, cut, doubled, swapped or garbled', () => {
    const damage = fc.array(
      fc.record({ how: fc.constantFrom('lose', 'cut', 'double', 'swap', 'garble'), at: fc.nat(40), by: fc.nat(200) }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(foreign, damage, (lines, damages) => {
        const texts = lines.map((line) => JSON.stringify(line));
        for (const { how, at: where, by } of damages) {
          const at = where % texts.length;
          const line = texts[at] ?? '';
          if (how === 'lose' && texts.length > 1) texts.splice(at, 1);
          else if (how === 'cut') texts[at] = line.slice(0, by);
          else if (how === 'double') texts.splice(at, 0, line);
          else if (how === 'swap') texts.push(...texts.splice(at, 1));
          else if (how === 'garble') texts[at] = line.replace(/"(type|uuid|content|role|id)":/, `"\\ud83d${by}":`);
        }
        const loaded = describeTranscript(parseTranscript(Buffer.from(texts.join('\n'))), undefined);
        const state = resumeState(loaded);
        const closed = [...state.messages, user(text('go on'))];
        expect(checkPairing(state.messages.at(-1)?.role === 'user' ? state.messages : closed)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

describe('forking', () => {
  it('stops at the entry it is told, and refuses one that is not there', () => {
    const source = loadTranscript(file(...parallel()));
    const fork = forkTranscript(source, options({ sessionId: 'f1', upTo: 'r2' }));
    expect(normalizeMessagesForAPI(fork.chain)).toEqual(parallelMessages.slice(0, 3));
    fork.close();
    expect(() => forkTranscript(source, options({ sessionId: 'f2', upTo: 'nope' }))).toThrow(/no entry/);
    expect(() => forkTranscript(source, options({ sessionId: 'f1' }))).toThrow(/session id of its own/);
  });

  it('into a place that takes none says where else to keep sessions', () => {
    const source = loadTranscript(file(...parallel()));
    const blocked = join(dataDir, 'a-file');
    writeFileSync(blocked, '');
    const attempt = () => forkTranscript(source, options({ sessionId: 'f1', dataDir: blocked }));
    expect(attempt).toThrow(/Cannot create the fork .*f1\.jsonl: .*Keep sessions elsewhere \(SIXGATES_DATA_DIR\)/);
    expect(attempt).not.toThrow(/id of its own/);
  });

  it('advises to free a disk only where it is full', () => {
    const failed = (code: string) => Object.assign(new Error(code), { code });
    expect(placeAdvice(failed('ENOSPC'))).toContain('Free the disk');
    expect(placeAdvice(failed('EACCES'))).not.toContain('Free the disk');
  });
});

describe('compaction', () => {
  it('begins anew with the summary, keeps what it was told to keep, and survives loading and forking', () => {
    const transcript = openTranscript(options());
    transcript.append(prompt(text('old')));
    transcript.append(block('m1', text('old answer')));
    const kept = transcript.append(prompt(text('newer')));
    transcript.append(block('m2', use('A')));
    transcript.append(prompt(result('A')));
    transcript.appendCompaction({ summary: 'what happened', keepFromUuid: kept.uuid, trigger: 'auto', preTokens: 9 });
    transcript.append(block('m3', text('after')));
    const expected = [user(text('what happened'), text('newer')), assistant(use('A')), user(result('A')), assistant(text('after'))];
    expect(normalizeMessagesForAPI(transcript.chain)).toEqual(expected);
    transcript.close();
    const loaded = loadTranscript(transcriptPath(dataDir, '/work/project', 's1'));
    expect(normalizeMessagesForAPI(loaded.chain)).toEqual(expected);
    const fork = forkTranscript(loaded, options({ sessionId: 'f' }));
    expect(normalizeMessagesForAPI(fork.chain)).toEqual(expected);
    fork.appendCompaction({ summary: 'all of it', trigger: 'manual' });
    fork.append(prompt(text('go on')));
    expect(normalizeMessagesForAPI(fork.chain)).toEqual([user(text('all of it'), text('go on'))]);
    fork.close();
  });

  it('never leaves an older summary in the middle, even when told to keep from there', () => {
    const transcript = openTranscript(options());
    transcript.append(prompt(text('old')));
    transcript.appendCompaction({ summary: 'first summary', trigger: 'manual' });
    const older = transcript.chain.at(-1)?.uuid ?? '';
    transcript.append(block('m', text('answer')));
    transcript.append(prompt(text('more')));
    transcript.appendCompaction({ summary: 'second summary', keepFromUuid: older, trigger: 'manual' });
    expect(normalizeMessagesForAPI(transcript.chain)).toEqual([
      user(text('second summary')),
      assistant(text('answer')),
      user(text('more')),
    ]);
    transcript.close();
  });

  it('is not in force when the process ended between boundary and summary', () => {
    const loaded = loadTranscript(
      file(...parallel(), { type: 'system', subtype: 'compact_boundary', uuid: 'cb', parentUuid: null, logicalParentUuid: 'a3' }),
    );
    expect(normalizeMessagesForAPI(loaded.chain)).toEqual(parallelMessages);
  });
});

describe('listSessions', () => {
  it('lists the sessions of a directory, or all, newest first, with the first prompt', () => {
    for (const [sessionId, cwd] of [
      ['s1', '/work/project'],
      ['s2', '/work/project'],
      ['s3', '/other'],
    ] as const) {
      const transcript = openTranscript(options({ sessionId, cwd }));
      transcript.append({ ...prompt(text('not typed')), isMeta: true });
      transcript.append(prompt(text(`prompt of ${sessionId}`)));
      transcript.close();
      nodeFs.utimesSync(transcriptPath(dataDir, cwd, sessionId), 0, Number(sessionId.slice(1)));
    }
    expect(listSessions({ dataDir, cwd: '/work/project' }).map(({ sessionId, firstPrompt }) => [sessionId, firstPrompt])).toEqual([
      ['s2', 'prompt of s2'],
      ['s1', 'prompt of s1'],
    ]);
    expect(listSessions({ dataDir }).map(({ cwd }) => cwd)).toEqual(['/other', '/work/project', '/work/project']);
    expect(listSessions({ dataDir: join(dataDir, 'nowhere') })).toEqual([]);
  });
});
