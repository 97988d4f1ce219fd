import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { deliveredNotificationId } from '../../src/messages/attachments.js';
import type { ChainDraft } from '../../src/messages/entries.js';
import { createMemoryTranscript, type Transcript, TranscriptWriteError } from '../../src/messages/transcript.js';
import { createSession } from '../../src/session/session.js';
import { delay, scriptedModel, text, toolUse } from '../../src/testing/index.js';
import { deferred, scene, tempDir, testTool } from '../support/sessions.js';

/** Waits for what must come, however busy the machine is. */
const poll = <T>(look: () => T) => expect.poll(look, { timeout: 60_000 });

const home = tempDir();

interface Story {
  /** When each task ends, in milliseconds after it was started. */
  readonly tasks: readonly number[];
  /** When the person says something more. */
  readonly speaks: number;
  /** How long the model takes for each answer. */
  readonly answers: readonly number[];
  /** How long the call takes that runs beside the tasks. */
  readonly busy: number;
}

const story: fc.Arbitrary<Story> = fc.record({
  tasks: fc.array(fc.integer({ min: 1, max: 14 }), { minLength: 3, maxLength: 3 }),
  speaks: fc.integer({ min: 0, max: 16 }),
  answers: fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 4, maxLength: 4 }),
  busy: fc.integer({ min: 0, max: 12 }),
});

/** Lets everything that can happen now happen. */
const settle = async (): Promise<void> => {
  for (let n = 0; n < 3; n++) await new Promise<void>((resolve) => setImmediate(resolve));
};

async function tell({ tasks, speaks, answers, busy }: Story) {
  const clock = new SimulatedClock();
  const after = (ms: number) => new Promise<void>((resolve) => clock.setTimeout(() => resolve(), ms));
  const spawn = testTool({
    name: 'Spawn',
    isConcurrencySafe: () => false,
    call: async (_, { capabilities, callId }) => {
      const ids = tasks.map(
        (ms, n) =>
          capabilities.tasks?.adopt({
            kind: 'bash',
            title: `work ${n}`,
            callId,
            outputFile: `/tmp/out-${n}`,
            done: after(ms).then(() => ({ status: 'completed', exitCode: 0, summary: `after ${ms}` })),
            stop: () => {},
          }).id,
      );
      return { data: ids };
    },
  });
  const busyTool = testTool({ name: 'Busy', call: () => after(busy).then(() => ({ data: 'done' })) });
  const model = scriptedModel(
    (_, n) => {
      const wait = delay(answers[n % answers.length] ?? 0);
      if (n === 1) return [toolUse('Spawn')];
      return n === 2 ? [wait, toolUse('Busy')] : [wait, text(`answer ${n}`)];
    },
    { clock },
  );
  let id = 0;
  const transcript = createMemoryTranscript({ cwd: home, sessionId: 'story', now: () => 0, ids: () => `line-${++id}` });
  const session = createSession({
    model: { client: model, apiKey: 'test' },
    builtInTools: false,
    tools: [spawn, busyTool],
    permissions: { allow: ['Spawn', 'Busy'] },
    settings: { home, files: false },
    store: false,
    cwd: home,
    clock,
    now: () => clock.now(),
    transcript,
  });
  const ended: string[] = [];
  session.updates$.subscribe((update) => update.type === 'task.ended' && ended.push(update.task.id));
  session.send('start three tasks');
  let spoken = false;
  for (let ms = 0; ms < 80; ms++) {
    if (ms >= speaks && !spoken) {
      spoken = true;
      session.send('and something else');
    }
    await settle();
    clock.increment(1);
  }
  await settle();
  const isIdle = session.actor.getSnapshot().matches({ conversation: 'idle' });
  const history = JSON.stringify(session.messages);
  const lines = transcript.lines.map(({ entry }) => entry);
  const enqueued = lines.flatMap((line) => (line.type === 'notification.enqueued' ? [String(line.notificationId)] : []));
  const delivered = transcript.chain.flatMap((entry) => deliveredNotificationId(entry) ?? []);
  const said = history.split('and something else').length - 1;
  const counts = session.tasks.map((task) => history.split(`Background task ${task.id} `).length - 1);
  const statuses = session.tasks.map((task) => task.status);
  await session.close();
  return { isIdle, counts, statuses, ended, enqueued, delivered, said, refusals: model.refusals };
}

describe('tasks that end close together', () => {
  it('are each told exactly once, mid-turn or by waking the session, at 500 random timings', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(story, async (one) => {
        const { isIdle, counts, statuses, ended, enqueued, delivered, said, refusals } = await tell(one);
        expect(refusals).toEqual([]);
        expect(isIdle).toBe(true);
        expect(counts).toEqual([1, 1, 1]);
        expect(statuses).toEqual(['completed', 'completed', 'completed']);
        expect(new Set(ended).size).toBe(3);
        expect(said).toBe(1);
        // What was put in line is what was delivered, in that order, and nothing else.
        expect(delivered).toEqual(enqueued);
      }),
      { numRuns: 500, seed: 20_261_130 },
    );
  });
});

describe('a notification of the embedding program', () => {
  it('starts a query of its own when the session is idle', async () => {
    const { session, server, of } = await scene([[text('heard')]]);
    session.notify('The build is red.');
    await poll(() => of('query.ended').length).toBe(1);
    expect(JSON.stringify(server.requests[0]?.body.messages)).toContain('The build is red.');
    server.assertConsumed();
  });

  it('goes with the next request of a running query, behind the results', async () => {
    const inside = deferred();
    const go = deferred();
    const tool = testTool({
      name: 'Slow',
      call: async () => {
        inside.resolve();
        await go.promise;
        return { data: 'slow result' };
      },
    });
    const { session, server } = await scene([[toolUse('Slow')], [text('done')]], { tools: [tool], permissions: { allow: ['Slow'] } });
    const sending = session.send('go');
    await inside.promise;
    session.notify('The build is red.');
    go.resolve();
    await sending.done;
    const messages = server.requests[1]?.body.messages;
    const last = JSON.stringify(Array.isArray(messages) ? messages.at(-1) : undefined);
    expect(last).toMatch(/tool_result.*slow result.*The build is red/);
    server.assertConsumed();
  });

  it('is not lost with a prompt that a hook holds back', async () => {
    let blocks = true;
    const { session, server, of } = await scene([[text('ok')]], {
      hooks: {
        UserPromptSubmit: [{ hooks: [async () => (blocks ? { decision: 'block', reason: 'not now' } : {})] }],
      },
    });
    const sending = session.send('a prompt');
    session.notify('The build is red.');
    expect((await sending.done).end).toBe('promptBlocked');
    blocks = false;
    await poll(() => of('query.ended').length).toBe(2);
    const sent = JSON.stringify(server.requests[0]?.body.messages);
    expect(sent).toContain('The build is red.');
    expect(sent).not.toContain('a prompt');
    server.assertConsumed();
  });

  it('waits where the transcript takes nothing, without trying again and again, and is told once when it does', async () => {
    const cwd = tempDir();
    const plain = createMemoryTranscript({ cwd, sessionId: 'full', now: () => 0, ids: randomUUID });
    let isFull = true;
    const append = (entry: ChainDraft) => {
      if (isFull && entry.type === 'attachment') throw new TranscriptWriteError('Cannot write: no space left');
      return plain.append(entry);
    };
    const transcript: Transcript = Object.create(plain, { append: { value: append } });
    const { session, server, of } = await scene([[text('heard both')]], { cwd, transcript });
    session.notify('The build is red.');
    await poll(() => of('query.ended').length).toBe(1);
    expect(of('query.ended')[0]).toMatchObject({ end: 'runtimeError', reason: 'Cannot write: no space left' });
    expect(session.actor.getSnapshot().matches({ conversation: 'idle' })).toBe(true);
    isFull = false;
    session.notify('The build is green.');
    await poll(() => of('query.ended').length).toBe(2);
    const sent = JSON.stringify(server.requests[0]?.body.messages);
    for (const words of ['red', 'green']) expect(sent.split(`The build is ${words}`).length - 1).toBe(1);
    server.assertConsumed();
  });

  it('refuses to say nothing', async () => {
    const { session } = await scene([]);
    expect(() => session.notify('  ')).toThrow('needs a text');
  });
});

describe('waiting for something to happen', () => {
  it('ends early when a notification comes', async () => {
    const { session, server, of } = await scene([[toolUse('Sleep', { seconds: 600 })], [text('awake')]], {
      builtInTools: ['Sleep'],
      env: { ...process.env, ENABLE_TOOL_SEARCH: 'false' },
    });
    const sending = session.send('wait');
    await poll(() => of('call.state').some((update) => update.state === 'executing.calling')).toBe(true);
    session.notify('The build is green.');
    expect((await sending.done).text).toBe('awake');
    expect(JSON.stringify(server.requests[1]?.body.messages)).toMatch(/Woken after .*The build is green/);
  });
});
