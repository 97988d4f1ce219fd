import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { text, toolUse } from '../../src/testing/index.js';
import { deferred, type Scene, scene, testTool } from '../support/sessions.js';

/** Waits for what must come, however busy the machine is. */
const poll = <T>(look: () => T) => expect.poll(look, { timeout: 60_000 });

const bash = { builtInTools: ['Bash', 'TaskStop', 'Agent'], permissions: { allow: ['Bash', 'Agent'] } };

/** Command lines of living processes that hold this word, as the kernel knows them. */
function living(word: string): readonly string[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
      } catch {
        // It ended while we looked.
        return [];
      }
    })
    .filter((line) => line.includes(word) && !line.includes('vitest'));
}
/** A duration for sleep that no other process of this machine has. */
const someSeconds = (): string => `3${Math.floor(Math.random() * 1e6)}.${process.pid}`;

const lastText = ({ server }: Scene, n: number): string => {
  const messages = server.requests[n]?.body.messages;
  return JSON.stringify(Array.isArray(messages) ? messages.at(-1) : undefined);
};

describe('a command in the background', () => {
  it('answers at once; its end wakes the session with status, exit code and output file', async () => {
    const story = await scene(
      [[toolUse('Bash', { command: 'sleep 0.2; echo DONE; exit 3', run_in_background: true })], [text('started')], [text('seen')]],
      bash,
    );
    const { session, of, server } = story;
    expect((await session.send('go').done).text).toBe('started');
    const [task] = session.tasks;
    expect(task?.status).toBe('running');
    await poll(() => of('query.ended').length).toBe(2);
    const [ended] = of('task.ended');
    expect(ended?.task).toMatchObject({ id: task?.id, status: 'failed', exitCode: 3 });
    expect(session.tasks).toEqual([ended?.task]);
    expect(readFileSync(ended?.task.outputFile ?? '', 'utf8')).toBe('DONE\n');
    expect(lastText(story, 2)).toMatch(new RegExp(`${task?.id}.*Status: failed.*Exit code: 3.*Output file: `));
    server.assertConsumed();
  });

  it('is not completed while a child of it lives, though the command itself has ended', async () => {
    const seconds = '1.2';
    const command = `(sleep ${seconds}; echo child) & echo DONE`;
    const { session, of } = await scene([[toolUse('Bash', { command, run_in_background: true })], [text('started')], [text('seen')]], bash);
    const began = performance.now();
    await session.send('go').done;
    const statuses = new Set<string>();
    while (of('task.ended').length === 0) {
      statuses.add(session.tasks[0]?.status ?? 'none');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(performance.now() - began).toBeGreaterThan(1_000);
    expect([...statuses]).toEqual(['running']);
    const task = session.tasks[0];
    expect(task?.status).toBe('completed');
    expect(readFileSync(task?.outputFile ?? '', 'utf8')).toBe('DONE\nchild\n');
    await poll(() => of('query.ended').length).toBe(2);
  });

  it('is stopped with everything it started, and says killed when that is true', async () => {
    const seconds = someSeconds();
    const { session, of } = await scene(
      [[toolUse('Bash', { command: `sleep ${seconds} | cat`, run_in_background: true })], [text('started')], [text('seen')]],
      bash,
    );
    await session.send('go').done;
    expect(living(seconds).length).toBeGreaterThan(0);
    const stopped = await session.stopTask(session.tasks[0]?.id ?? '');
    expect(stopped.status).toBe('killed');
    expect(living(seconds)).toEqual([]);
    await poll(() => of('query.ended').length).toBe(2);
    expect(of('task.ended')).toHaveLength(1);
  });

  it('ends with its session', async () => {
    const seconds = someSeconds();
    const { session, of } = await scene(
      [[toolUse('Bash', { command: `sleep ${seconds}`, run_in_background: true })], [text('started')]],
      bash,
    );
    await session.send('go').done;
    await session.close();
    expect(living(seconds)).toEqual([]);
    expect(of('task.ended').map(({ task }) => task.status)).toEqual(['killed']);
    expect(of('session.ended')).toHaveLength(1);
  });
});

describe('an agent in the background', () => {
  it('is not over while a command that it started lives, and says what was stopped with it', async () => {
    const seconds = someSeconds();
    const { session, of } = await scene(({ body }, n) => {
      const history = JSON.stringify(body.messages);
      if (n === 1) return [toolUse('Agent', { description: 'work', prompt: 'start and leave', run_in_background: true })];
      if (history.includes('run_in_background')) return [text(history.includes('toolu_inner') ? 'left' : 'started')];
      return [toolUse('Bash', { command: `sleep ${seconds}`, run_in_background: true }, { id: 'toolu_inner' })];
    }, bash);
    const sending = session.send('go');
    const alive: number[] = [];
    session.updates$.subscribe((update) => update.type === 'task.ended' && alive.push(living(seconds).length));
    await sending.done;
    await poll(() => of('task.ended').length).toBe(1);
    expect(alive).toEqual([0]);
    const [task] = session.tasks;
    expect(task).toMatchObject({ kind: 'agent', status: 'completed' });
    expect(task?.summary).toMatch(new RegExp(`left.*Stopped with the agent: task_\\w+ sleep ${seconds}`, 's'));
  });
});

describe('a status', () => {
  it('never changes once it is terminal, whatever a task says later', async () => {
    const end = deferred<{ status: 'completed' | 'failed'; summary: string }>();
    const tool = testTool({
      name: 'Spawn',
      call: async (_, { capabilities, callId }) => {
        const handle = capabilities.tasks?.adopt({
          kind: 'bash',
          title: 'work',
          callId,
          outputFile: '/tmp/none',
          done: end.promise,
          stop: () => end.resolve({ status: 'completed', summary: 'ended by itself' }),
        });
        return { data: handle?.id };
      },
    });
    const { session, of } = await scene([[toolUse('Spawn')], [text('started')], [text('seen')]], {
      tools: [tool],
      permissions: { allow: ['Spawn'] },
    });
    await session.send('go').done;
    const id = session.tasks[0]?.id ?? '';
    const [first, second] = await Promise.all([session.stopTask(id), session.stopTask(id)]);
    end.resolve({ status: 'failed', summary: 'too late' });
    expect(first).toEqual(second);
    expect(await session.stopTask(id)).toMatchObject({ status: 'completed', summary: 'ended by itself' });
    await poll(() => of('query.ended').length).toBe(2);
    expect(of('task.ended')).toHaveLength(1);
    await expect(session.stopTask('task_none')).rejects.toThrow('no background task task_none');
  });
});

describe('an interrupt in the middle of a batch', () => {
  it('keeps what is done, says what was cut and what never began, and leaves nothing alive, within a second', async () => {
    const seconds = someSeconds();
    const echo = testTool({ name: 'Echo', call: async () => ({ data: 'the real result' }) });
    const safeSleep = testTool({
      name: 'Unsafe',
      isConcurrencySafe: () => false,
      call: async () => ({ data: 'must not run' }),
    });
    const { session, server, of, results } = await scene(
      (request) => {
        const body = JSON.stringify(request.body.messages);
        if (body.includes('something new')) return [text('going on')];
        if (body.includes('sleep in an agent')) return [toolUse('Bash', { command: `sleep ${seconds}` }, { id: 'toolu_inner' })];
        return [
          toolUse('Echo', {}, { id: 't1' }),
          toolUse('Agent', { description: 'sleep', prompt: 'sleep in an agent' }, { id: 't4' }),
          toolUse('Agent', { description: 'sleep', prompt: 'sleep in an agent' }, { id: 't2' }),
          toolUse('Unsafe', {}, { id: 't3' }),
        ];
      },
      { ...bash, tools: [echo, safeSleep], permissions: { allow: ['Bash', 'Agent', 'Echo', 'Unsafe'] } },
    );
    const sending = session.send('go');
    await poll(() => living(`sleep ${seconds}`).length).toBeGreaterThanOrEqual(2);
    const began = performance.now();
    const idle = session.interrupt();
    const next = session.send('something new');
    await idle;
    expect((await sending.done).end).toBe('aborted');
    // A bound for a busy machine; on an idle one it is well under a second.
    expect(performance.now() - began).toBeLessThan(60_000);
    expect((await next.done).text).toBe('going on');
    expect(living(`sleep ${seconds}`)).toEqual([]);
    const seen = results();
    expect(seen.get('t1')).toEqual({ text: 'the real result', isError: false });
    for (const id of ['t2', 't4']) expect(seen.get(id)?.text).toMatch(/cancelled by the user while it was running; side effects may/i);
    expect(seen.get('t3')?.text).toMatch(/Not executed: cancelled by the user before it started/);
    expect(of('call.late')).toEqual([]);
    expect(server.refusals).toEqual([]);
    const after = server.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(server.requests.length).toBe(after);
  });
});
