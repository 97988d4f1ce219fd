import { describe, expect, it } from 'vitest';
import type { PermissionPrompt } from '../../src/session/questions.js';
import { gate, text, toolUse } from '../../src/testing/index.js';
import { ToolAbortedError } from '../../src/tool/index.js';
import { deferred, type Scene, scene, testTool } from '../support/sessions.js';

const allow = (...rules: string[]) => ({ permissions: { allow: rules } });

/** A tool that runs until it is told to stop, and then says what it had so far. */
const endless = (name = 'Endless', safe = false, onStart = () => {}) =>
  testTool({
    name,
    isConcurrencySafe: () => safe,
    call: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        onStart();
        signal.addEventListener('abort', () => reject(new ToolAbortedError('stopped', 'line 1\nline 2')), { once: true });
      }),
  });

/** Resolves when a call is in a state. */
const reaches = (made: () => Scene, callId: string, state: string): Promise<void> =>
  new Promise((resolve) => {
    const subscription = made().session.updates$.subscribe((update) => {
      if (update.type !== 'call.state' || update.callId !== callId || update.state !== state) return;
      subscription.unsubscribe();
      // The tool itself is called a moment after its gate was entered.
      setImmediate(resolve);
    });
  });

describe('an interrupt in the middle of a batch', () => {
  it('keeps what was done, says what was cut and what never started, and sends no further request until the person speaks', async () => {
    const made = await scene([[toolUse('Quick', {}), toolUse('Endless', {}), toolUse('Quick', {})], [text('go on')]], {
      tools: [testTool({ name: 'Quick' }), endless()],
      ...allow('Quick', 'Endless'),
    });
    const { session, server, results } = made;
    const running = reaches(() => made, 'toolu_1_2', 'executing.calling');
    const sending = session.send('go');
    await running;
    await session.interrupt();
    expect((await sending.done).end).toBe('aborted');
    expect(results().get('toolu_1_1')?.text).toContain('Quick');
    expect(results().get('toolu_1_2')?.text).toMatch(/cancelled by the user while it was running[\s\S]*line 1\nline 2/i);
    expect(results().get('toolu_1_3')?.text).toMatch(/Not executed: cancelled by the user before it started/);
    expect(server.requests).toHaveLength(1);
    expect((await session.send('and now?').done).text).toBe('go on');
    server.assertConsumed();
  });

  it('ends the stream and keeps the blocks that were complete', async () => {
    const tail = gate();
    const made = await scene([[text('thinking about it'), toolUse('Endless', {}), tail, text('never read')], [text('ok')]], {
      tools: [endless()],
      ...allow('Endless'),
    });
    const running = reaches(() => made, 'toolu_1_2', 'executing.calling');
    const sending = made.session.send('go');
    await running;
    await made.session.interrupt();
    await sending.done;
    expect(await made.server.answered(1)).toBe('clientClosed');
    tail.open();
    expect(JSON.stringify(made.session.messages)).not.toContain('never read');
    expect((await made.session.send('again').done).text).toBe('ok');
  });

  it('does not call a tool any more when the abort comes first', async () => {
    let called = 0;
    const made = await scene([[toolUse('Counted', {})], [text('ok')]], {
      tools: [testTool({ name: 'Counted', call: async () => ({ data: ++called }) })],
      ...allow('Counted'),
      onUpdate: (update) => {
        if (update.type === 'call.state' && update.state === 'executing.calling')
          made.session.actor.send({ type: 'abort', reason: 'userInterrupt' });
      },
    });
    expect((await made.session.send('go').done).end).toBe('aborted');
    expect(called).toBe(0);
    expect(made.results().get('toolu_1_1')?.text).toMatch(/before it started; nothing was run/);
  });

  it('settles a tool that ignores its signal after the grace, and says that it was left behind', async () => {
    const made = await scene([[toolUse('Deaf', {})], [text('ok')]], {
      tools: [testTool({ name: 'Deaf', call: () => new Promise(() => {}) })],
      limits: { graceMs: 10 },
      ...allow('Deaf'),
    });
    const running = reaches(() => made, 'toolu_1_1', 'executing.calling');
    const sending = made.session.send('go');
    await running;
    await made.session.interrupt();
    await sending.done;
    expect(made.results().get('toolu_1_1')?.text).toContain('left behind');
  });

  it('keeps the result of a call that finished although it was told to stop, and says so', async () => {
    const finish = deferred();
    const made = await scene([[toolUse('Stubborn', {})], [text('ok')]], {
      tools: [
        testTool({
          name: 'Stubborn',
          call: async () => {
            await finish.promise;
            return { data: 'written' };
          },
        }),
      ],
      ...allow('Stubborn'),
    });
    const running = reaches(() => made, 'toolu_1_1', 'executing.calling');
    const sending = made.session.send('go');
    await running;
    const idle = made.session.interrupt();
    finish.resolve();
    await idle;
    await sending.done;
    const result = made.results().get('toolu_1_1');
    expect(result?.text).toMatch(/^written[\s\S]*cancelled by the user but it had already finished; its side effects happened/i);
    expect(result?.isError).toBe(false);
  });
});

describe('the five ways in which a call does not simply succeed read differently', () => {
  it('cancelled, timed out, refused by a rule, rejected by a person, stopped for a sibling', async () => {
    const running = deferred();
    const made = await scene(
      [
        [toolUse('Late', {}), toolUse('Forbidden', { a: 'x' }), toolUse('Unwanted', {})],
        [toolUse('Breaks', {}), toolUse('Endless', {})],
        [text('ok')],
      ],
      {
        tools: [
          testTool({ name: 'Late', timeoutMs: 15, call: () => new Promise(() => {}) }),
          testTool({ name: 'Forbidden' }),
          testTool({ name: 'Unwanted' }),
          testTool({
            name: 'Breaks',
            onError: 'cancelSiblings',
            call: () => running.promise.then(() => Promise.reject(new Error('broken'))),
          }),
          endless('Endless', true, () => running.resolve()),
        ],
        limits: { graceMs: 5 },
        permissions: { allow: ['Late', 'Breaks', 'Endless'], deny: ['Forbidden(a:*)'] },
        canUseTool: async () => ({ behavior: 'deny', message: 'I do not want that' }),
      },
    );
    expect((await made.session.send('go').done).end).toBe('completed');
    const texts = [...made.results()].map(([, { text: words }]) => words);
    expect(texts[0]).toMatch(/timed out after 15 ms/);
    expect(texts[2]).toBe('I do not want that');
    expect(texts[4]).toMatch(/stopped because a sibling call failed while it was running/i);
    expect(new Set(texts).size).toBe(texts.length);
    made.server.assertConsumed();
  });
});

describe('a call whose failure stops its siblings', () => {
  it('also keeps those unrun that the stream brings only afterwards', async () => {
    const rest = gate();
    const ran: string[] = [];
    const made = await scene([[toolUse('Breaks', {}), rest, toolUse('Later', {})], [text('ok')]], {
      tools: [
        testTool({ name: 'Breaks', onError: 'cancelSiblings', call: () => Promise.reject(new Error('broken')) }),
        testTool({
          name: 'Later',
          call: async () => {
            ran.push('Later');
            return { data: 'done' };
          },
        }),
      ],
      ...allow('Breaks', 'Later'),
    });
    const failed = reaches(() => made, 'toolu_1_1', 'completed.failed');
    const sending = made.session.send('go');
    await failed;
    rest.open();
    expect((await sending.done).end).toBe('completed');
    expect(made.results().get('toolu_1_2')?.text).toMatch(/Not executed: stopped because a sibling call failed before it started/);
    expect(ran).toEqual([]);
    made.server.assertConsumed();
  });
});

describe('a person who rejects a call and stops', () => {
  it('ends the query after every call has its result', async () => {
    const made = await scene([[toolUse('Unwanted', {}), toolUse('Quick', {})], [text('after')]], {
      tools: [testTool({ name: 'Unwanted', isConcurrencySafe: () => false }), testTool({ name: 'Quick' })],
      ...allow('Quick'),
      canUseTool: async () => ({ behavior: 'deny', message: 'no, stop', interrupt: true }),
      limits: { eager: 'never' },
    });
    const ended = await made.session.send('go').done;
    expect(ended).toMatchObject({ end: 'aborted', reason: 'permissionRejected' });
    expect(made.results().get('toolu_1_1')).toEqual({ text: 'no, stop', isError: true });
    expect(made.results().get('toolu_1_2')?.text).toMatch(/user rejected another call/);
    expect(made.server.requests).toHaveLength(1);
    expect((await made.session.send('next').done).text).toBe('after');
    made.server.assertConsumed();
  });
});

describe('a new message of the person', () => {
  it('cuts a running tool that allows it, and goes behind the results', async () => {
    const made = await scene([[toolUse('Patient', {})], [text('ok')]], {
      tools: [
        testTool({
          name: 'Patient',
          interruptBehavior: 'cancel',
          call: (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut')))),
        }),
      ],
      ...allow('Patient'),
    });
    const running = reaches(() => made, 'toolu_1_1', 'executing.calling');
    const first = made.session.send('wait for something');
    await running;
    const second = made.session.send('never mind, say ok');
    expect((await first.done).end).toBe('completed');
    expect((await second.done).text).toBe('ok');
    expect(made.results().get('toolu_1_1')?.text).toMatch(/user sent a new message/);
    made.server.assertConsumed();
  });

  it('waits for a tool whose side effects must not be cut mid-way', async () => {
    const finish = deferred();
    const made = await scene([[toolUse('Writer', {})], [text('ok')]], {
      tools: [
        testTool({
          name: 'Writer',
          call: async () => {
            await finish.promise;
            return { data: 'whole' };
          },
        }),
      ],
      ...allow('Writer'),
    });
    const running = reaches(() => made, 'toolu_1_1', 'executing.calling');
    const sending = made.session.send('write');
    await running;
    const second = made.session.send('hurry');
    finish.resolve();
    await sending.done;
    await second.done;
    expect(made.results().get('toolu_1_1')).toEqual({ text: 'whole', isError: false });
    made.server.assertConsumed();
  });
});

describe('answers to questions', () => {
  const ask = async (script: Parameters<typeof scene>[0]) => {
    const prompts: PermissionPrompt[] = [];
    const made = await scene(script, {
      tools: [testTool({ name: 'Gated' })],
      interactive: true,
      onUpdate: (update) => {
        if (update.type === 'permission.requested') prompts.push(update.prompt);
      },
    });
    return { made, prompts };
  };
  const yes = { behavior: 'allow', source: { type: 'person', surface: 'test' } } as const;
  const opened = (made: Scene, n: number) =>
    new Promise<void>((resolve) => {
      const check = () => made.of('permission.requested').length >= n && resolve();
      made.session.updates$.subscribe(check);
      check();
    });

  it('reach their own call, in whatever order they come', async () => {
    const { made, prompts } = await ask([[toolUse('Gated', { n: 1 }), toolUse('Gated', { n: 2 })], [text('ok')]]);
    const sending = made.session.send('go');
    await opened(made, 2);
    const [one, two] = prompts;
    if (!one || !two) throw new Error('two questions were expected');
    expect(made.session.answer(two.callId, two.inputDigest, { ...yes, behavior: 'deny', message: 'not two' })).toEqual({ accepted: true });
    expect(made.session.answer(one.callId, one.inputDigest, yes)).toEqual({ accepted: true });
    await sending.done;
    expect(made.results().get(one.callId)?.text).toContain('"n":1');
    expect(made.results().get(two.callId)?.text).toBe('not two');
  });

  it('are refused when stale, doubled, foreign, or given to another input', async () => {
    const { made, prompts } = await ask([[toolUse('Gated', { n: 1 })], [toolUse('Gated', { n: 2 })], [text('ok')]]);
    const sending = made.session.send('go');
    await opened(made, 1);
    const first = prompts[0];
    if (!first) throw new Error('a question was expected');
    expect(made.session.answer(first.callId, 'another-digest', yes)).toMatchObject({ accepted: false, reason: 'otherInput' });
    expect(made.session.answer('toolu_9_9', first.inputDigest, yes)).toMatchObject({ accepted: false, reason: 'notOpen' });
    made.session.answer(first.callId, first.inputDigest, { ...yes, behavior: 'deny', message: 'no' });
    expect(made.session.answer(first.callId, first.inputDigest, yes)).toMatchObject({ accepted: false, reason: 'alreadyAnswered' });
    await opened(made, 2);
    // The old button does not answer the new call.
    expect(made.session.answer(first.callId, first.inputDigest, yes).accepted).toBe(false);
    expect(made.session.openPermissions).toHaveLength(1);
    const second = prompts[1];
    if (!second) throw new Error('a second question was expected');
    made.session.answer(second.callId, second.inputDigest, yes);
    await sending.done;
    expect(made.results().get(first.callId)?.text).toBe('no');
    expect(made.results().get(second.callId)?.text).toContain('"n":2');
  });

  it('are withdrawn when the call is aborted', async () => {
    const { made, prompts } = await ask([[toolUse('Gated', {})]]);
    const sending = made.session.send('go');
    await opened(made, 1);
    await made.session.interrupt();
    await sending.done;
    expect(made.of('permission.withdrawn')).toHaveLength(1);
    expect(made.session.answer(prompts[0]?.callId ?? '', prompts[0]?.inputDigest ?? '', yes).accepted).toBe(false);
  });

  it('that change the input are checked again: a deny rule holds against a person’s rewrite', async () => {
    const made = await scene([[toolUse('Gated', { to: 'here' })], [text('ok')]], {
      tools: [testTool({ name: 'Gated' })],
      permissions: { deny: ['Gated(to:secret)'] },
      canUseTool: async () => ({ behavior: 'allow', updatedInput: { to: 'secret' } }),
    });
    await made.session.send('go').done;
    expect(made.statesOf('toolu_1_1')).not.toContain('executing.calling');
    expect(made.results().get('toolu_1_1')?.text).toContain('Gated(to:secret)');
  });

  it('that change the input run exactly that input, without a second question', async () => {
    let questions = 0;
    const made = await scene([[toolUse('Gated', { to: 'here' })], [text('ok')]], {
      tools: [testTool({ name: 'Gated' })],
      canUseTool: async () => {
        questions++;
        return { behavior: 'allow', updatedInput: { to: 'there' } };
      },
    });
    await made.session.send('go').done;
    expect(made.results().get('toolu_1_1')?.text).toContain('"to":"there"');
    expect(questions).toBe(1);
  });
});
