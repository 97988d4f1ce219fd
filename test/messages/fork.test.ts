import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ForkOptions, forkTranscript } from '../../src/messages/fork.js';
import { describeTranscript, parseTranscript } from '../../src/messages/load.js';
import { normalizeMessagesForAPI } from '../../src/messages/normalize.js';
import { resumeState } from '../../src/messages/resume.js';
import { createMemoryTranscript } from '../../src/messages/transcript.js';
import type { ContentBlockParam } from '../../src/messages/types.js';
import { assistant, result, text, use, user } from './arbitraries.js';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'sixgates-fork-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

let made = 0;
const ids = () => `id${made++}`;
const options = (upTo: string): ForkOptions => ({ dataDir, cwd: '/x', sessionId: `f${made++}`, ids, now: () => 0, upTo });

describe('forking in the middle of a turn', () => {
  const u = (uuid: string, parentUuid: string | null, ...content: ContentBlockParam[]) => ({
    ...{ type: 'user', uuid, parentUuid },
    message: { role: 'user', content },
  });
  const a = (uuid: string, parentUuid: string, id: string, ...content: ContentBlockParam[]) => ({
    ...{ type: 'assistant', uuid, parentUuid },
    message: { id, role: 'assistant', content },
  });
  const lines = [
    u('u0', null, text('hi')),
    a('a1', 'u0', 'm1', use('A')),
    a('a2', 'a1', 'm1', use('B')),
    u('r1', 'a1', result('A')),
    u('r2', 'a2', result('B'), text('typed later')),
    a('a3', 'r2', 'm2', text('done')),
  ];
  const source = describeTranscript(parseTranscript(Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))), undefined);

  it.each<[string, readonly string[]]>([
    ['a1', ['A']],
    ['a2', ['A', 'B']],
    ['r1', ['A', 'B']],
  ])('at %s: what became of its calls comes along, and nothing else that came later', (upTo, calls) => {
    const fork = forkTranscript(source, options(upTo));
    const [first, ...more] = calls.map((id) => use(id));
    expect(normalizeMessagesForAPI(fork.chain)).toEqual([
      user(text('hi')),
      assistant(...(first ? [first, ...more] : [])),
      user(...calls.map((id) => result(id))),
    ]);
    fork.close();
  });

  it('does not say of a call that began later that nothing was done', () => {
    const transcript = createMemoryTranscript({ cwd: '/x', sessionId: 's', ids, now: () => 0 });
    transcript.append({ type: 'user', message: { role: 'user', content: 'hi' } });
    const call = transcript.append({ type: 'assistant', message: { id: 'm', role: 'assistant', content: [use('A')] } });
    transcript.append({ type: 'call.started', callId: 'A' });
    const fork = forkTranscript({ lines: transcript.lines, sessionId: 's' }, options(call.uuid));
    const { openCalls } = resumeState({ lines: fork.lines, chain: fork.chain, sessionId: 's', cwd: '/x' });
    expect(openCalls).toMatchObject([{ id: 'A', started: true }]);
    fork.close();
  });
});
