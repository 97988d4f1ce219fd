import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { apiError, text, toolUse } from '../../src/testing/script/steps.js';
import { deferred, testTool } from '../support/sessions.js';
import { DurableStage } from './support/scene.js';

const stage = new DurableStage();
beforeAll(() => stage.start());
afterEach(() => {
  stage.inactivityMs = 60_000;
  return stage.clear();
});
afterAll(() => stage.close());

let sessions = 0;
const fresh = () => stage.connect(`s-${++sessions}`);
const byPerson = { type: 'person', surface: 'test' } as const;
const yes = { behavior: 'allow', source: byPerson } as const;

describe('a session on Restate', () => {
  it('answers a prompt with the updates of a session in memory, numbered without gaps', async () => {
    const api = await stage.serve([[toolUse('Echo', { a: 1 }), toolUse('Echo', { a: 2 })], [text('done')]], {
      tools: [testTool({ name: 'Echo' })],
      permissions: { allow: ['Echo'] },
    });
    const { session, updates, numbers, of } = bound(fresh());
    const ended = await session.send('go').done;
    expect(ended).toMatchObject({ end: 'completed', text: 'done', turns: 2 });
    expect(of('call.result').map(({ outcome }) => outcome.kind)).toEqual(['succeeded', 'succeeded']);
    expect(updates[0]?.type).toBe('session.started');
    expect(updates.at(-1)?.type).toBe('query.ended');
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
    api.assertConsumed();
  });

  it('goes on with the next prompt where the last one ended, with history, usage and rules', async () => {
    let started = 0;
    const api = await stage.serve([[toolUse('Ask', {})], [text('one')], [toolUse('Ask', {})], [text('two')]], {
      tools: [testTool({ name: 'Ask', isReadOnly: () => false })],
      hooks: {
        SessionStart: [
          {
            hooks: [
              async () => {
                started++;
                return {};
              },
            ],
          },
        ],
      },
    });
    const { session, heard, of } = bound(fresh());
    const first = session.send('first').done;
    const { prompt } = await heard('permission.requested');
    session.answer(prompt.callId, prompt.inputDigest, {
      ...yes,
      updatedPermissions: [{ type: 'addRules', behavior: 'allow', rules: [{ toolName: 'Ask' }], destination: 'session' }],
    });
    expect((await first).text).toBe('one');
    const second = await session.send('second').done;
    expect(second.text).toBe('two');
    expect(second.queryId).not.toBe(of('query.ended')[0]?.queryId);
    expect(second.usage.requests).toBe(4);
    expect(of('permission.requested')).toHaveLength(1);
    expect(of('session.started')).toHaveLength(1);
    expect(started).toBe(1);
    const last = JSON.stringify(api.requests[3]?.body.messages);
    for (const words of ['first', 'one', 'second']) expect(last).toContain(words);
    api.assertConsumed();
  });

  it('keeps a question open while worker and server are gone, and runs the call once it is answered', async () => {
    stage.inactivityMs = 300;
    let runs = 0;
    const tool = testTool({ name: 'Deploy', isReadOnly: () => false, call: async () => ({ data: `run ${++runs}` }) });
    const api = await stage.serve([[toolUse('Deploy', {})], [text('deployed')]], { tools: [tool] });
    const { session, heard, of } = bound(fresh());
    const done = session.send('go').done;
    const { prompt } = await heard('permission.requested');
    await stage.loseWorker();
    await stage.restartServer();
    await stage.startWorker();
    expect(session.answer(prompt.callId, 'another digest', yes)).toMatchObject({ accepted: false, reason: 'otherInput' });
    expect(session.answer(prompt.callId, prompt.inputDigest, yes)).toEqual({ accepted: true });
    expect((await done).text).toBe('deployed');
    expect(runs).toBe(1);
    expect(of('permission.requested')).toHaveLength(1);
    expect(of('call.decision')[0]?.decision).toMatchObject({ behavior: 'allow', winner: { source: byPerson } });
    api.assertConsumed();
  });

  it('does not run a call again that was running when its worker died, and says that its outcome is unknown', async () => {
    const running = deferred();
    const runs: string[] = [];
    const tools = ['Once', 'Again'].map((name) =>
      testTool({
        name,
        idempotent: name === 'Again',
        call: async (_, { signal }) => {
          runs.push(name);
          if (runs.filter((one) => one === name).length > 1) return { data: 'second time' };
          if (runs.length === 2) running.resolve();
          return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut off'))));
        },
      }),
    );
    const api = await stage.serve([[toolUse('Once', {}), toolUse('Again', {})], [text('done')]], {
      tools,
      permissions: { allow: ['Once', 'Again'] },
    });
    const { session, of } = bound(fresh());
    const done = session.send('go').done;
    await running.promise;
    await stage.loseWorker();
    await stage.startWorker();
    await done;
    expect(runs.sort()).toEqual(['Again', 'Again', 'Once']);
    const results = Object.fromEntries(of('call.result').map(({ tool, result }) => [tool, result]));
    expect(results.Once).toMatchObject({ is_error: true, content: expect.stringMatching(/^Interrupted, outcome unknown/) });
    expect(results.Again).toMatchObject({ content: 'second time' });
    api.assertConsumed();
  });

  it('says of a tool whose output cannot be written down that it ran, and does not run it again', async () => {
    let runs = 0;
    const outputs: readonly (readonly [string, () => unknown])[] = [
      ['Number', () => ({ n: 1n })],
      ['Broken', () => ({ toJSON: () => expect.fail('no JSON') })],
      ['Large', () => 'x'.repeat(26 * 1024 * 1024)],
      ['Nothing', () => () => 'a function'],
    ];
    const call = (output: () => unknown) => async () => {
      runs++;
      return { data: output() };
    };
    const tools = outputs.map(([name, output]) => testTool({ name, idempotent: true, call: call(output) }));
    const uses = outputs.map(([name]) => toolUse(name, {}));
    const api = await stage.serve([uses, [text('done')]], { tools, permissions: { allow: outputs.map(([name]) => name) } });
    const { session, of } = bound(fresh());
    expect((await session.send('go').done).text).toBe('done');
    expect(runs).toBe(outputs.length);
    const results = Object.fromEntries(of('call.result').map(({ tool, result }) => [tool, result]));
    for (const name of ['Number', 'Broken', 'Large'])
      expect(results[name]).toMatchObject({
        is_error: true,
        content: expect.stringMatching(/ ran, but its output could not be written down/),
      });
    expect(results.Nothing?.is_error).toBeUndefined();
    api.assertConsumed();
  });

  it('lets a tool run longer than an invocation may be silent', async () => {
    stage.inactivityMs = 100;
    let runs = 0;
    const tool = testTool({
      name: 'Slow',
      call: async () => {
        runs++;
        await new Promise((resolve) => setTimeout(resolve, 1_200));
        return { data: 'slowly done' };
      },
    });
    await stage.serve([[toolUse('Slow', {})], [text('done')]], { tools: [tool], permissions: { allow: ['Slow'] } });
    const { session, of } = bound(fresh());
    expect((await session.send('go').done).text).toBe('done');
    expect(runs).toBe(1);
    expect(of('call.result')[0]?.result.content).toBe('slowly done');
  });

  it('never repeats what had ended before its worker died', async () => {
    const waiting = deferred();
    const runs: string[] = [];
    const tool = testTool({
      name: 'Step',
      isConcurrencySafe: () => false,
      idempotent: true,
      call: async ({ n }, { signal }) => {
        runs.push(String(n));
        if (n !== 2 || runs.filter((one) => one === '2').length > 1) return { data: `step ${n}` };
        waiting.resolve();
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut off'))));
      },
    });
    const api = await stage.serve([[toolUse('Step', { n: 1 })], [toolUse('Step', { n: 2 }), toolUse('Step', { n: 3 })], [text('done')]], {
      tools: [tool],
      permissions: { allow: ['Step'] },
    });
    const { session } = bound(fresh());
    const done = session.send('go').done;
    await waiting.promise;
    await stage.loseWorker();
    await stage.startWorker();
    expect((await done).end).toBe('completed');
    expect(runs).toEqual(['1', '2', '2', '3']);
    expect(api.requests).toHaveLength(3);
    api.assertConsumed();
  });

  it('is interrupted by a message; every call gets its result, and the session goes on', async () => {
    const running = deferred();
    const tool = testTool({
      name: 'Long',
      call: (_, { signal }) => {
        running.resolve();
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
      },
    });
    await stage.serve([[toolUse('Long', {}), toolUse('Long', {})], [text('again')]], { tools: [tool], permissions: { allow: ['Long'] } });
    const { session, of } = bound(fresh());
    const done = session.send('go').done;
    await running.promise;
    await session.interrupt();
    expect(await done).toMatchObject({ end: 'aborted', reason: 'userInterrupt' });
    expect(of('call.result').map(({ outcome }) => [outcome.kind, outcome.reason])).toEqual([
      ['cancelled', 'userInterrupt'],
      ['cancelled', 'userInterrupt'],
    ]);
    expect((await session.send('more').done).text).toBe('again');
  });

  it('hears a notification once: beside the results of a running query, else by a query of its own', async () => {
    const running = deferred();
    const told = deferred();
    const tool = testTool({
      name: 'Wait',
      call: async () => {
        running.resolve();
        await told.promise;
        return { data: 'waited' };
      },
    });
    const api = await stage.serve([[toolUse('Wait', {})], [text('one')], [text('two')]], {
      tools: [tool],
      permissions: { allow: ['Wait'] },
    });
    const { session, heard, taken } = bound(fresh());
    const done = session.send('go').done;
    await running.promise;
    await taken(session.notify('the build is red'));
    told.resolve();
    await done;
    session.notify('the build is green');
    await heard('query.ended', 2);
    const bodies = api.requests.map(({ body }) => JSON.stringify(body.messages));
    expect(bodies[1]?.split('the build is red')).toHaveLength(2);
    expect(bodies[2]?.split('the build is red')).toHaveLength(2);
    expect(bodies[2]?.split('the build is green')).toHaveLength(2);
    api.assertConsumed();
  });

  it('waits for a background task of any worker, and tells its end once', async () => {
    const ended = deferred<{ status: 'completed'; summary: string }>();
    const tool = testTool({
      name: 'Build',
      call: async (_, { capabilities, callId }) => {
        const handle = capabilities.tasks?.adopt({
          kind: 'bash',
          title: 'make',
          callId,
          outputFile: '/dev/null',
          done: ended.promise,
          stop: () => {},
        });
        return { data: `started ${handle?.id}` };
      },
    });
    const api = await stage.serve([[toolUse('Build', {})], [text('it runs')], [text('it is built')]], {
      tools: [tool],
      permissions: { allow: ['Build'] },
    });
    const { session, heard, of } = bound(fresh());
    void session.send('go').done.catch(() => {});
    expect((await heard('query.ended')).text).toBe('it runs');
    ended.resolve({ status: 'completed', summary: 'all of it' });
    expect((await heard('query.ended', 2)).text).toBe('it is built');
    expect(of('task.ended')).toMatchObject([{ task: { status: 'completed', summary: 'all of it' } }]);
    expect(of('call.result')[0]?.result.content).toBe(`started ${of('task.started')[0]?.task.id}`);
    expect(JSON.stringify(api.requests[2]?.body.messages).split('has ended')).toHaveLength(2);
    api.assertConsumed();
  });

  it('asks the person a tool’s questions, and runs subagents step by step as sessions of their own', async () => {
    const question = {
      question: 'Which?',
      header: 'Pick',
      multiSelect: false,
      options: ['a', 'b'].map((label) => ({ label, description: label })),
    };
    const api = await stage.serve(
      ({ body }) => {
        const told = JSON.stringify(body.messages);
        const isAgent = !told.includes('start here');
        if (isAgent) return told.includes('tool_result') ? [text('I saw it')] : [toolUse('Echo', { in: 'agent' })];
        if (told.includes('I saw it')) return [text('done')];
        if (told.includes('Which?')) return [toolUse('Agent', { description: 'look', prompt: 'look around' })];
        return [toolUse('AskUserQuestion', { questions: [question] })];
      },
      {
        builtInTools: ['AskUserQuestion', 'Agent'],
        tools: [testTool({ name: 'Echo' })],
        permissions: { allow: ['Echo', 'Agent', 'AskUserQuestion'] },
      },
    );
    const { session, heard, of } = bound(fresh());
    const done = session.send('start here').done;
    const asked = await Promise.race([heard('permission.requested'), heard('question.asked')]);
    if (asked.type === 'permission.requested') session.answer(asked.prompt.callId, asked.prompt.inputDigest, yes);
    const { prompt } = await heard('question.asked');
    await stage.loseWorker();
    await stage.startWorker();
    expect(session.answerQuestion(prompt.callId, { 'Which?': 'b' })).toEqual({ accepted: true });
    expect((await done).text).toBe('done');
    expect(of('agent.update').flatMap(({ update }) => (update.type === 'call.result' ? [update.tool] : []))).toEqual(['Echo']);
    expect(api.refusals).toEqual([]);
  });

  it('lets a reader go on from the number it has heard', async () => {
    await stage.serve([[toolUse('Echo', {})], [text('done')], [text('more')]], {
      tools: [testTool({ name: 'Echo' })],
      permissions: { allow: ['Echo'] },
    });
    const writer = fresh();
    await writer.session.send('go').done;
    const half = Math.floor(writer.numbers.length / 2);
    const late = stage.connect(writer.session.id, half + 1);
    await writer.session.send('again').done;
    await late.heard('query.ended', 2);
    expect(late.numbers).toEqual(writer.numbers.slice(half));
    expect(late.updates).toEqual(writer.updates.slice(-late.updates.length));
  });

  it('is closed by a message; a prompt that comes later is refused, and says so', async () => {
    await stage.serve([[text('hello')]], {});
    const { session, of } = bound(fresh());
    await session.send('go').done;
    await session.close();
    expect(of('session.ended')).toHaveLength(1);
    const again = stage.connect(session.id);
    await expect(again.session.send('more').done).rejects.toThrow(/did not answer the prompt: it is closed/);
    expect(again.of('notice').map(({ message }) => message)).toContain(`Session ${session.id} is closed.`);
  });

  it('asks the model again when it is overloaded, after a pause that outlives the worker', async () => {
    await stage.serve([[apiError(529, 'overloaded_error')], [text('here')]], {});
    const { session, of, heard } = bound(fresh());
    const done = session.send('go').done;
    await heard('model.retry');
    await stage.loseWorker();
    await stage.startWorker();
    await heard('query.ended');
    expect((await done).text).toBe('here');
    expect(of('model.retry')).toHaveLength(1);
  });
});

/** Methods as functions. */
function bound(watched: ReturnType<typeof fresh>) {
  return {
    session: watched.session,
    updates: watched.updates,
    numbers: watched.numbers,
    of: watched.of.bind(watched),
    heard: watched.heard.bind(watched),
    taken: watched.taken.bind(watched),
  };
}
