import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { attachInspector, inspectFlow } from '../../src/inspect/index.js';
import { settledPoint } from '../../src/inspect/restart.js';
import { loadTranscript } from '../../src/messages/load.js';
import { forkSession } from '../../src/session/session.js';
import { text, toolUse } from '../../src/testing/index.js';
import { scene, tempDir, testTool } from '../support/sessions.js';
import { openPage } from './support/page.js';

const echo = (n: number) => toolUse('Echo', { n });

async function told() {
  const store = tempDir();
  let runs = 0;
  const tools = [testTool({ name: 'Echo', call: async ({ n }) => ({ data: `echo ${String(n)} ${++runs}` }) })];
  const options = { store, tools, permissions: { allow: ['Echo'] } };
  const made = await scene(
    [[echo(1), echo(2)], [echo(3)], [text('first done')], [echo(4)], [text('second done')], [text('in the copy')]],
    options,
  );
  const path = made.session.transcriptPath;
  if (path === null) throw new Error('the session is not stored');
  return { ...made, options, path, runs: () => runs };
}

describe('the point of a conversation to go on from', () => {
  it('is behind the last answer that had ended with all its results by then', async () => {
    const { session, path } = await told();
    const flow = inspectFlow(session, { redaction: { env: {}, salt: 'fixed' } });
    await session.send('one').done;
    await session.send('two').done;
    flow.detach();
    const events = flow.log.events(0);
    const { chain } = loadTranscript(path);
    /** What the copy would end with. */
    const endAt = (seq: number): string | undefined => {
      const upTo = settledPoint(path, events, seq);
      const at = chain.findIndex(({ uuid }) => uuid === upTo);
      const entry = chain[at];
      if (!entry) return undefined;
      return JSON.stringify(entry);
    };
    const seqOf = (toolUseId: string): number => events.find((event) => event.type === 'result' && event.toolUseId === toolUseId)?.seq ?? 0;
    const answers = events.flatMap((event) =>
      event.type === 'event' && event.event === 'stream.ended' && !event.actor.endsWith('/executor') ? [event.seq] : [],
    );
    expect(answers).toHaveLength(5);
    const [, , third = 0, , fifth = 0] = answers;

    expect(endAt(1)).toBeUndefined();
    expect(endAt(Math.min(seqOf('toolu_1_1'), seqOf('toolu_1_2')))).toBeUndefined();
    expect(endAt(Math.max(seqOf('toolu_1_1'), seqOf('toolu_1_2')))).toMatch(/echo [12] [12]/);
    expect(endAt(seqOf('toolu_2_1') - 1)).toMatch(/echo [12] [12]/);
    expect(endAt(seqOf('toolu_2_1'))).toContain('echo 3');
    expect(endAt(third - 1)).toContain('echo 3');
    expect(endAt(third)).toContain('first done');
    // The second prompt alone is nothing to go on from.
    expect(endAt(seqOf('toolu_4_1') - 1)).toContain('first done');
    expect(endAt(fifth)).toContain('second done');
    expect(endAt(flow.log.lastSeq)).toContain('second done');
  });

  it('is the whole conversation for what was said before the inspector came', async () => {
    const { session, path } = await told();
    await session.send('one').done;
    const flow = inspectFlow(session, { redaction: { env: {}, salt: 'fixed' } });
    const { lastSeq } = flow.log;
    await session.send('two').done;
    flow.detach();
    const upTo = settledPoint(path, flow.log.events(0), lastSeq);
    const entry = loadTranscript(path).chain.find(({ uuid }) => uuid === upTo);
    expect(JSON.stringify(entry)).toContain('first done');
  });
});

describe('going on from a step', () => {
  it('is a copy with the conversation up to there: nothing is run again, the session stays as it is', async () => {
    const { session, server, options, cwd, path, runs } = await told();
    const attached = await attachInspector(session, {
      redaction: { env: {}, salt: 'fixed' },
      restart: (point) =>
        forkSession({
          ...point,
          ...options,
          cwd,
          builtInTools: false,
          settings: { home: cwd },
          model: { baseURL: server.url, apiKey: 'test' },
        }),
    });
    try {
      await session.send('one').done;
      await session.send('two').done;
      const before = { text: readFileSync(path, 'utf8'), runs: runs(), requests: server.requests.length };
      const { rpc, socket } = await openPage(attached.server);
      const hello = await rpc.$call('hello', { client: 'test' });
      expect(hello).toMatchObject({ ok: true, value: { canRestart: true } });
      const first = attached.system.log.events(0).find((event) => event.type === 'result' && event.toolUseId === 'toolu_2_1');
      expect(await rpc.$call('restart', { seq: 1, words: 'go on' })).toMatchObject({
        ok: false,
        error: { code: 'unsupported', message: expect.stringContaining('no answer was settled') },
      });
      const made = await rpc.$call('restart', { seq: first?.seq ?? 0, words: 'go on, but left' });
      expect(made).toMatchObject({ ok: true, value: { url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#token=/) } });
      await expect.poll(() => server.requests.length).toBe(before.requests + 1);
      const asked = JSON.stringify(server.requests.at(-1)?.body.messages);
      for (const known of ['echo 1', 'echo 2', 'echo 3', 'go on, but left']) expect(asked).toContain(known);
      for (const unknown of ['first done', 'two', 'echo 4']) expect(asked).not.toContain(unknown);
      expect(runs()).toBe(before.runs);
      expect(readFileSync(path, 'utf8')).toBe(before.text);
      socket.close();
    } finally {
      await attached.close();
    }
  });
});
