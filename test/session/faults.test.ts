import { appendFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createSession } from '../../src/session/session.js';
import { apiError, rawToolUse, text, toolUse } from '../../src/testing/index.js';
import { buildTool } from '../../src/tool/index.js';
import { deferred, scene, tempDir, testTool } from '../support/sessions.js';

const allow = (...rules: string[]) => ({ permissions: { allow: rules } });

describe('every fault of a call ends in exactly one result, and the next request is accepted', () => {
  it('an unknown tool: an error that names close ones', async () => {
    const { session, server, results } = await scene([[toolUse('Ech', {})], [text('ok')]], {
      tools: [testTool({ name: 'Echo' })],
      ...allow('Echo'),
    });
    expect((await session.send('go').done).end).toBe('completed');
    expect(results().get('toolu_1_1')).toEqual({ text: 'No such tool available: Ech. Did you mean Echo?', isError: true });
    server.assertConsumed();
  });

  it('an input that fails the schema: an error that names the field, and no execution', async () => {
    let ran = 0;
    const tool = buildTool({
      name: 'Count',
      description: 'Counts',
      inputSchema: z.strictObject({ n: z.number() }),
      call: async () => ({ data: ++ran }),
    });
    const { session, server, results } = await scene([[toolUse('Count', { m: 1 })], [text('ok')]], { tools: [tool], ...allow('Count') });
    await session.send('go').done;
    expect(results().get('toolu_1_1')?.text).toContain('`n` is required');
    expect(ran).toBe(0);
    server.assertConsumed();
  });

  it('JSON that is cut off: an error that quotes the text, and no execution', async () => {
    const { session, server, results, statesOf } = await scene([[rawToolUse('Echo', '{"a": "b')], [text('ok')]], {
      tools: [testTool({ name: 'Echo' })],
      ...allow('Echo'),
    });
    await session.send('go').done;
    expect(results().get('toolu_1_1')?.text).toContain('{\\"a\\": \\"b');
    expect(results().get('toolu_1_1')?.isError).toBe(true);
    expect(statesOf('toolu_1_1')).not.toContain('executing.calling');
    server.assertConsumed();
  });

  it('an input that was mended so that it fits: the tool gets what was meant, and whoever watches is told', async () => {
    const given: unknown[] = [];
    const tool = buildTool({
      name: 'Plan',
      description: 'Plan',
      inputSchema: z.strictObject({ ids: z.array(z.string()), deep: z.boolean().optional(), limit: z.number().optional() }),
      call: async (input) => {
        given.push(input);
        return { data: 'planned' };
      },
    });
    const made = await scene([[toolUse('Plan', { ids: '["a","b"]', deep: 'true', limit: null, _meta: {} }, { id: 't1' })], [text('ok')]], {
      tools: [tool],
      permissions: { allow: ['Plan'] },
    });
    await made.session.send('go').done;
    expect(given).toEqual([{ ids: ['a', 'b'], deep: true }]);
    expect(made.of('notice').map(({ message }) => message)).toEqual([expect.stringMatching(/^The input of Plan \(t1\) was mended: /)]);
    for (const path of ['ids', 'deep', 'limit', '_meta']) expect(made.of('notice')[0]?.message).toContain(`${path} (`);
  });

  it('a tool that throws: its message, without a stack', async () => {
    const tool = testTool({
      name: 'Boom',
      call: async () => {
        throw new Error('the disk is full');
      },
    });
    const { session, server, results } = await scene([[toolUse('Boom', {})], [text('ok')]], { tools: [tool], ...allow('Boom') });
    await session.send('go').done;
    expect(results().get('toolu_1_1')).toEqual({ text: 'the disk is full', isError: true });
    server.assertConsumed();
  });

  it('a tool that hangs and ignores its signal: stopped at its time limit, settled without it after the grace', async () => {
    const tool = testTool({ name: 'Hang', timeoutMs: 20, call: () => new Promise(() => {}) });
    const { session, server, results } = await scene([[toolUse('Hang', {})], [text('ok')]], {
      tools: [tool],
      limits: { graceMs: 10 },
      ...allow('Hang'),
    });
    await session.send('go').done;
    expect(results().get('toolu_1_1')?.text).toContain('Hang timed out after 20 ms');
    server.assertConsumed();
  });

  it('what a hanging tool answers later is announced, and reaches no result', async () => {
    const late = deferred<{ data: string }>();
    const tool = testTool({ name: 'Slow', timeoutMs: 10, call: () => late.promise });
    const { session, results, of } = await scene([[toolUse('Slow', {})], [text('ok')]], {
      tools: [tool],
      limits: { graceMs: 5 },
      ...allow('Slow'),
    });
    await session.send('go').done;
    late.resolve({ data: 'too late' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(of('call.late')).toHaveLength(1);
    expect(results().get('toolu_1_1')?.text).not.toContain('too late');
  });

  it('a call that no rule allows, with nobody to ask: denied, and the reason says so', async () => {
    const { session, server, results } = await scene([[toolUse('Echo', {})], [text('ok')]], { tools: [testTool({ name: 'Echo' })] });
    await session.send('go').done;
    expect(results().get('toolu_1_1')?.text).toMatch(/Nobody can be asked/);
    server.assertConsumed();
  });

  it('a person who refuses with words: the words are the result, and the loop goes on', async () => {
    const { session, server, results } = await scene([[toolUse('Echo', {})], [text('ok')]], {
      tools: [testTool({ name: 'Echo' })],
      interactive: true,
      onUpdate: (update) => {
        if (update.type !== 'permission.requested') return;
        const { callId, inputDigest } = update.prompt;
        queueMicrotask(() => {
          session.answer(callId, inputDigest, {
            behavior: 'deny',
            message: 'Use the other one.',
            source: { type: 'person', surface: 'test' },
          });
        });
      },
    });
    expect((await session.send('go').done).end).toBe('completed');
    expect(results().get('toolu_1_1')).toEqual({ text: 'Use the other one.', isError: true });
    server.assertConsumed();
  });
});

describe('faults of the model', () => {
  it('a missing key is a message that says the way out', async () => {
    const session = createSession({ store: false, builtInTools: false, cwd: tempDir(), settings: { home: tempDir() }, env: {} });
    const ended = await session.send('go').done;
    expect(ended.end).toBe('modelError');
    expect(ended.reason).toContain('ANTHROPIC_API_KEY');
    await session.close();
  });

  it('an API that cannot be reached is a message that names the address', async () => {
    const session = createSession({
      store: false,
      builtInTools: false,
      cwd: tempDir(),
      settings: { home: tempDir() },
      model: { baseURL: 'http://127.0.0.1:9', apiKey: 'x', retry: { maxRetries: 0 } },
    });
    const ended = await session.send('go').done;
    expect(ended.end).toBe('modelError');
    expect(ended.reason).toContain('127.0.0.1:9');
    await session.close();
  });

  it('an overloaded API is asked again, and the retry is told', async () => {
    const { session, server, of } = await scene([[apiError(529, 'overloaded_error')], [text('ok')]], { model: { retry: { baseMs: 1 } } });
    expect((await session.send('go').done).text).toBe('ok');
    expect(of('model.retry')).toHaveLength(1);
    server.assertConsumed();
  });

  it('a query that failed leaves a history that goes on', async () => {
    const { session, server } = await scene([[apiError(400, 'invalid_request_error')], [text('now')]]);
    expect((await session.send('first').done).end).toBe('modelError');
    expect((await session.send('second').done).text).toBe('now');
    server.assertConsumed();
  });
});

describe('a session on disk', () => {
  it('goes on after a restart, and a broken line in its transcript is set aside and told', async () => {
    const cwd = tempDir();
    const store = tempDir();
    const echo = testTool({ name: 'Echo' });
    const first = await scene([[toolUse('Echo', { a: 1 })], [text('first answer')]], { cwd, store, tools: [echo], ...allow('Echo') });
    await first.session.send('one').done;
    await first.session.close();
    const path = first.session.transcriptPath ?? '';
    appendFileSync(path, '{"type":"user","uuid":"half');
    const second = await scene([[text('second answer')]], { cwd, store, tools: [echo], resume: first.session.id, ...allow('Echo') });
    expect((await second.session.send('two').done).text).toBe('second answer');
    expect(second.session.warnings.join('\n')).toContain('line');
    expect(JSON.stringify(second.session.messages)).toContain('first answer');
    second.server.assertConsumed();
  });

  it('refuses to resume from nowhere, and an id that would leave its directory', () => {
    const options = { cwd: tempDir(), store: false, settings: { home: tempDir() } } as const;
    expect(() => createSession({ ...options, resume: 'kept-elsewhere' })).toThrow(/kept-elsewhere.*nothing is kept/);
    for (const sessionId of ['../x', 'a/b', '']) expect(() => createSession({ ...options, sessionId })).toThrow('is no session id');
  });

  it('refuses to resume what is not there, and says where it looked', () => {
    expect(() => createSession({ cwd: tempDir(), store: tempDir(), resume: 'no-such-session', settings: { home: tempDir() } })).toThrow(
      /no-such-session/,
    );
  });
});
