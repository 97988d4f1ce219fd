import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { apiError, gate, text, toolUse } from '../../src/testing/index.js';
import type { ToolContext } from '../../src/tool/types.js';
import { deferred, scene, tempDir, testTool } from '../support/sessions.js';
import { processAlive } from '../support/system.js';

const person = { type: 'person', surface: 'test' } as const;
const echo = testTool({ name: 'Echo' });

/** A tool that runs until its signal fires. */
function hanging() {
  const started = deferred();
  const tool = testTool({
    name: 'Hang',
    call: (_: unknown, { signal }: ToolContext) => {
      started.resolve();
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true }));
    },
  });
  return { tool, started: started.promise };
}

describe('an interrupt', () => {
  it('of an idle session does nothing, also twice, and the next prompt is answered', async () => {
    const { session, server } = await scene([[text('ok')]]);
    await session.interrupt();
    await Promise.all([session.interrupt(), session.interrupt()]);
    expect((await session.send('go').done).text).toBe('ok');
    await session.interrupt();
    server.assertConsumed();
  });

  it('while the session starts takes back what waits; what is said after it is answered', async () => {
    const { session, server } = await scene([[text('ok')]]);
    const taken = session.send('go');
    await session.interrupt();
    expect(await taken.done).toMatchObject({ end: 'aborted', turns: 0 });
    expect((await session.send('on').done).text).toBe('ok');
    expect(session.messages).toHaveLength(2);
    server.assertConsumed();
  });

  it('that finds two waiting behind a start that hangs ends both, and the start goes on', async () => {
    const start = deferred();
    const { session, server } = await scene([[text('ok')]], {
      hooks: { SessionStart: [{ hooks: [() => start.promise.then(() => ({}))] }] },
    });
    const taken = [session.send('one'), session.send('two')];
    const interrupted = session.interrupt();
    expect((await Promise.all(taken.map(({ done }) => done))).map(({ end }) => end)).toEqual(['aborted', 'aborted']);
    const kept = session.send('three');
    start.resolve();
    await interrupted;
    expect((await kept.done).text).toBe('ok');
    expect(JSON.stringify(server.requests[0]?.body)).not.toMatch(/"(one|two)"/);
  });

  it('that comes twice is one', async () => {
    const { tool, started } = hanging();
    const { session, server, results, of } = await scene([[toolUse('Hang', {})], [text('ok')]], {
      tools: [tool],
      permissions: { allow: ['Hang'] },
    });
    const sending = session.send('go');
    await started;
    await Promise.all([session.interrupt(), session.interrupt()]);
    expect((await sending.done).end).toBe('aborted');
    expect(results().get('toolu_1_1')?.text).toContain('Cancelled by the user');
    expect(of('call.result')).toHaveLength(1);
    expect((await session.send('on').done).text).toBe('ok');
    server.assertConsumed();
  });

  it('ends the wait before another attempt, and no attempt follows', async () => {
    const { session, server, of } = await scene([[apiError(529, 'overloaded_error')], [text('ok')]], {
      model: { retry: { maxRetries: 3, baseMs: 60_000 } },
    });
    const sending = session.send('go');
    await expect.poll(() => of('model.retry').length).toBe(1);
    await session.interrupt();
    expect((await sending.done).end).toBe('aborted');
    expect((await session.send('again').done).text).toBe('ok');
    server.assertConsumed();
  });

  it('ends a question that canUseTool never answers', async () => {
    const asked = deferred();
    let signal: AbortSignal | undefined;
    const made = await scene([[toolUse('Echo', {})], [text('ok')]], {
      tools: [echo],
      canUseTool: (_name, _input, options) => {
        signal = options.signal;
        asked.resolve();
        return new Promise(() => {});
      },
    });
    const sending = made.session.send('go');
    await asked.promise;
    await made.session.interrupt();
    expect((await sending.done).end).toBe('aborted');
    expect(signal?.aborted).toBe(true);
    expect(made.results().size).toBe(1);
    expect((await made.session.send('on').done).text).toBe('ok');
    made.server.assertConsumed();
  });
});

describe('an answer of canUseTool that is none', () => {
  it.each<[string, () => unknown]>([
    ['a number', () => 5],
    ['nothing', () => undefined],
    [
      'a throw',
      () => {
        throw new Error('no idea');
      },
    ],
    ['a rejection without a reason', () => Promise.reject(undefined)],
  ])('%s: refuses the call, and the loop goes on', async (_, answer) => {
    const { session, server, results } = await scene([[toolUse('Echo', {})], [text('ok')]], {
      tools: [echo],
      canUseTool: async () => JSON.parse(JSON.stringify((await answer()) ?? 'nothing')),
    });
    expect((await session.send('go').done).text).toBe('ok');
    expect(results().get('toolu_1_1')?.isError).toBe(true);
    server.assertConsumed();
  });
});

describe('closing', () => {
  it('twice, or while it closes, is closing once', async () => {
    const { session, of } = await scene([[text('ok')]]);
    await session.send('go').done;
    await Promise.all([session.close(), session.close()]);
    await session.close();
    expect(of('session.ended')).toHaveLength(1);
  });

  it('while a question is open withdraws it and gives the call its result', async () => {
    const { session, of, results } = await scene([[toolUse('Echo', {})]], { tools: [echo], interactive: true });
    const sending = session.send('go');
    await expect.poll(() => session.openPermissions.length).toBe(1);
    const [prompt] = session.openPermissions;
    await session.close();
    expect((await sending.done).end).toBe('aborted');
    expect(of('permission.withdrawn')).toHaveLength(1);
    expect(results().get('toolu_1_1')?.text).toContain('the session was closed');
    expect(session.answer('toolu_1_1', prompt?.inputDigest ?? '', { behavior: 'allow', source: person })).toMatchObject({
      accepted: false,
    });
  });

  it('while an answer streams, or before the session has begun, tells whoever waits', async () => {
    const held = gate();
    const streaming = await scene([[text('half'), held, text('rest')]]);
    const sending = streaming.session.send('go');
    await held.reached;
    await streaming.session.close();
    expect((await sending.done).end).toBe('aborted');
    const young = await scene([[text('ok')]]);
    const early = young.session.send('go');
    await young.session.close();
    await expect(early.done).rejects.toThrow('closed before the prompt was answered');
  });

  it('while a hook still starts it leaves no process behind', async () => {
    const home = tempDir();
    const pidFile = join(home, 'pid');
    const hook = { type: 'command', command: `echo $$ > '${pidFile}'; exec sleep 600` };
    mkdirSync(join(home, '.claude'));
    writeFileSync(join(home, '.claude/settings.json'), JSON.stringify({ hooks: { SessionStart: [{ hooks: [hook] }] } }));
    const { session } = await scene([], { settings: { home } });
    const pid = () => Number(existsSync(pidFile) ? readFileSync(pidFile, 'utf8') : 0);
    await expect.poll(pid, { timeout: 60_000 }).toBeGreaterThan(0);
    await session.close();
    expect(processAlive(pid())).toBe(false);
  });

  it('is final: what comes afterwards is refused in words and harms nothing', async () => {
    const { session } = await scene([[text('ok')]]);
    await session.send('go').done;
    await session.close();
    await session.interrupt();
    expect(() => session.send('more')).toThrow('is closed');
    expect(() => session.notify('news')).toThrow('is closed');
    await expect(session.compact()).rejects.toThrow('is closed');
    await expect(session.restartServer('none')).rejects.toThrow('no MCP server');
    await expect(session.stopTask('none')).rejects.toThrow('no background task');
    expect(session.messages).toHaveLength(2);
    const late: string[] = [];
    session.updates$.subscribe(({ type }) => late.push(type));
    expect(late).toEqual(['session.started']);
  });
});

describe('time that runs backwards', () => {
  it('shortens nothing below zero and keeps progress coming', async () => {
    let now = 1e12;
    const tool = testTool({
      name: 'Work',
      call: async (_, _context, onProgress) => {
        for (let n = 0; n < 5; n++) onProgress({ message: `step ${n}` });
        return { data: 'done' };
      },
    });
    const { session, of } = await scene([[toolUse('Work', {})], [text('ok')]], {
      now: () => {
        now -= 1_000;
        return now;
      },
      tools: [tool],
      permissions: { allow: ['Work'] },
    });
    expect((await session.send('go').done).end).toBe('completed');
    expect(of('call.progress')).toHaveLength(5);
    expect(Math.min(...of('call.state').map(({ ms }) => ms))).toBe(0);
    expect(of('call.result')[0]?.outcome.durationMs).toBe(0);
  });
});
