import { randomUUID } from 'node:crypto';
import * as nodeFs from 'node:fs';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkPairing } from '../../src/messages/pairing.js';
import { openTranscript, type Transcript } from '../../src/messages/transcript.js';
import { createSession } from '../../src/session/session.js';
import { text, toolUse } from '../../src/testing/index.js';
import { scene, tempDir, testTool } from '../support/sessions.js';

/** A transcript on a disk that can be filled: half a line goes in, as it does in life, and the rest is refused. */
function fillableTranscript(cwd: string, sessionId: string) {
  const disk = { full: (_line: string) => false };
  const dataDir = tempDir();
  const fs = {
    ...nodeFs,
    writeSync: (fd: number, bytes: NodeJS.ArrayBufferView | string, offset?: unknown, length?: unknown): number => {
      if (typeof bytes === 'string' || typeof offset !== 'number' || typeof length !== 'number')
        throw new TypeError('lines are written as bytes');
      if (!disk.full(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')))
        return nodeFs.writeSync(fd, bytes, offset, length);
      if (length > 8) nodeFs.writeSync(fd, bytes, offset, 8);
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    },
  };
  const open = (): Transcript => openTranscript({ dataDir, cwd, sessionId, ids: randomUUID, now: Date.now, fs });
  return { disk, open, dataDir };
}

const lines: readonly [string, string][] = [
  ['the first block of an answer', '"type":"assistant"'],
  ['a block with a call', '"tool_use"'],
  ['the start of a call', '"call.started"'],
  ['the outcome of a call', '"call.outcome"'],
  ['the result of a call', '"tool_result"'],
  ['a question to a person', '"permission.parked"'],
  ['the answer of a person', '"permission.resolved"'],
  ['everything', ''],
];

describe('a disk that is full', () => {
  it.each(lines)(
    'at %s: the query ends in words or goes on, no call is without a result, and the conversation survives',
    async (_, part) => {
      const cwd = tempDir();
      const sessionId = randomUUID();
      const { disk, open, dataDir } = fillableTranscript(cwd, sessionId);
      let ran = 0;
      const tool = testTool({
        name: 'Count',
        call: async () => {
          ran++;
          return { data: 'counted' };
        },
      });
      const options = { cwd, sessionId, tools: [tool], permissions: { ask: ['Count'] }, interactive: true };
      const made = await scene(
        ({ body }) =>
          JSON.stringify(body.messages).includes('tool_result') || !JSON.stringify(body.messages).includes('count twice')
            ? [text('words')]
            : [text('so'), toolUse('Count', {}), toolUse('Count', { n: 2 })],
        {
          ...options,
          transcript: open(),
          onUpdate: (update) => {
            if (update.type !== 'permission.requested') return;
            const { callId, inputDigest } = update.prompt;
            const yes = { behavior: 'allow', source: { type: 'person', surface: 'test' } } as const;
            queueMicrotask(() => made.session.answer(callId, inputDigest, yes));
          },
        },
      );
      expect((await made.session.send('before').done).end).toBe('completed');
      disk.full = (line) => part === '' || line.includes(part);
      let ended: { readonly end: string; readonly reason: string };
      try {
        ended = await made.session.send('count twice').done;
      } catch (error) {
        ended = { end: 'refused', reason: String(error) };
      }
      if (ended.end !== 'completed') expect(ended.reason).toMatch(/ENOSPC.*Free the disk/);
      const told = made.of('notice').some(({ message }) => message.includes('ENOSPC'));
      const inResults = JSON.stringify([...made.results().values()]).includes('ENOSPC');
      expect(told || inResults || ended.end !== 'completed', 'it is never passed over in silence').toBe(true);
      expect(checkPairing(made.session.messages).filter(({ code }) => code !== 'trailing_assistant')).toEqual([]);
      const runs = part === '"call.started"' || part === '"tool_use"' || part === '"type":"assistant"' || part === '' ? 0 : 2;
      expect(ran, 'what is not on the transcript is not run, the rest once').toBe(runs);

      disk.full = () => false;
      expect(await made.session.send('after').done).toMatchObject({ end: 'completed' });
      await made.session.close();
      const resumed = await scene(() => [text('resumed')], { ...options, transcript: open() });
      expect((await resumed.session.send('once more').done).text).toBe('resumed');
      expect(resumed.server.refusals).toEqual([]);
      expect(made.server.refusals).toEqual([]);
      rmSync(dataDir, { recursive: true });
    },
  );
});

describe('a place that cannot be used', () => {
  const base = { builtInTools: false as const, settings: { home: tempDir() }, model: { apiKey: 'x' } };

  it('a store that is a file is refused at once, with its path', () => {
    const store = join(tempDir(), 'store');
    writeFileSync(store, '');
    expect(() => createSession({ ...base, cwd: tempDir(), store })).toThrow(store);
  });

  it('a session whose directory is gone is resumed, and its tools say what is wrong', async () => {
    const cwd = join(tempDir(), 'project');
    mkdirSync(cwd);
    const store = tempDir();
    const options = { cwd, store, builtInTools: ['Bash'], permissions: { allow: ['Bash'] }, settings: { home: tempDir() } };
    const first = await scene([[text('hello')]], options);
    await first.session.send('hi').done;
    await first.session.close();
    rmSync(cwd, { recursive: true });
    const second = await scene([[toolUse('Bash', { command: 'echo hi' })], [text('I see')]], { ...options, resume: first.session.id });
    expect(await second.session.send('and now').done).toMatchObject({ end: 'completed', text: 'I see' });
    expect(second.results().get('toolu_1_1')).toMatchObject({ isError: true, text: expect.stringContaining(cwd) });
    second.server.assertConsumed();
  });
});
