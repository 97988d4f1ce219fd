import { spawn } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSession, forkSession } from '../../src/session/session.js';
import { listSessions, readSession } from '../../src/session/stored.js';
import { text, toolUse } from '../../src/testing/index.js';
import { deferred, type Scene, scene, tempDir, testTool } from '../support/sessions.js';

/** Waits for what must come, however busy the machine is. */
const poll = <T>(look: () => T) => expect.poll(look, { timeout: 60_000 });

const PERSON = { type: 'person', surface: 'test' } as const;

/** What would be on the disk had the process died now: a copy of the store, without its locks. */
function crashCopy(store: string): string {
  const copy = tempDir();
  cpSync(store, copy, { recursive: true, filter: (path) => !basename(path).includes('.lock') });
  return copy;
}

interface World {
  readonly cwd: string;
  readonly store: string;
  readonly log: string;
}
const world = (): World => {
  const cwd = tempDir();
  return { cwd, store: tempDir(), log: join(cwd, 'log') };
};
const lines = ({ log }: World): readonly string[] => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);

/** A tool that leaves a line in a file: its side effect. */
const writes = ({ log }: World, name: string, more: Partial<Parameters<typeof testTool>[0]> = {}) =>
  testTool({
    name,
    call: async (input) => {
      appendFileSync(log, `${name} ${JSON.stringify(input)}\n`);
      return { data: `${name} has run` };
    },
    ...more,
  });

const lastMessage = ({ server }: Pick<Scene, 'server'>, n: number) => {
  const messages = server.requests[n]?.body.messages;
  return Array.isArray(messages) ? messages.at(-1) : undefined;
};
const idOf = (session: Scene['session']): string => session.id;

describe('a session that died while a call waited for approval', () => {
  /** F has run, G (and H) wait; then the process is gone. */
  async function crashed(gated: readonly string[]): Promise<{ readonly place: World; readonly id: string }> {
    const place = world();
    const tools = [writes(place, 'F'), ...gated.map((name) => writes(place, name, { isReadOnly: () => false }))];
    const { session } = await scene([[toolUse('F', { n: 0 }), ...gated.map((name, n) => toolUse(name, { n: n + 1 }))]], {
      cwd: place.cwd,
      store: place.store,
      tools,
      permissions: { allow: ['F'] },
      interactive: true,
    });
    const sending = session.send('go');
    sending.done.catch(() => {});
    await poll(() => session.openPermissions.length).toBe(gated.length);
    await poll(() => lines(place).length).toBe(1);
    return { place: { ...place, store: crashCopy(place.store) }, id: idOf(session) };
  }

  const resume = (place: World, id: string, gated: readonly string[], more = {}) =>
    scene([[text('done')]], {
      cwd: place.cwd,
      store: place.store,
      resume: id,
      tools: [writes(place, 'F'), ...gated.map((name) => writes(place, name, { isReadOnly: () => false }))],
      permissions: { allow: ['F'] },
      interactive: true,
      ...more,
    });

  it('asks again; approved, the call runs once, its sibling not again, and one message carries both results in order', async () => {
    const { place, id } = await crashed(['G']);
    const again = await resume(place, id, ['G']);
    await poll(() => again.session.openPermissions.length).toBe(1);
    expect(lines(place)).toEqual(['F {"n":0}']);
    const [prompt] = again.session.openPermissions;
    again.session.answer(prompt?.callId ?? '', prompt?.inputDigest ?? '', { behavior: 'allow', source: PERSON });
    await poll(() => again.of('query.ended').length).toBe(1);
    expect(lines(place)).toEqual(['F {"n":0}', 'G {"n":1}']);
    expect(lastMessage(again, 0)).toMatchObject({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1_1', content: 'F has run' },
        { type: 'tool_result', tool_use_id: 'toolu_1_2', content: 'G has run' },
      ],
    });
    again.server.assertConsumed();
  });

  it.each([
    ['a rule allows it', { permissions: { allow: ['F', 'G'] } }],
    ['the mode allows everything', { permissions: { mode: 'bypassPermissions' as const } }],
    [
      'a hook allows it',
      {
        hooks: {
          PreToolUse: [
            {
              hooks: [async () => ({ hookSpecificOutput: { hookEventName: 'PreToolUse' as const, permissionDecision: 'allow' as const } })],
            },
          ],
        },
      },
    ],
  ])('asks again although %s by now: nothing runs because a session was opened', async (_, more) => {
    const { place, id } = await crashed(['G']);
    const again = await resume(place, id, ['G'], more);
    await poll(() => again.session.openPermissions.length).toBe(1);
    expect(lines(place)).toEqual(['F {"n":0}']);
    const [prompt] = again.session.openPermissions;
    again.session.answer(prompt?.callId ?? '', prompt?.inputDigest ?? '', { behavior: 'allow', source: PERSON });
    await poll(() => again.of('query.ended').length).toBe(1);
    expect(lines(place)).toEqual(['F {"n":0}', 'G {"n":1}']);
    again.server.assertConsumed();
  });

  it.each([
    ['a deny rule', { permissions: { allow: ['F'], deny: ['G(n:1)'] } }],
    ['a mode that never asks', { permissions: { allow: ['F', 'G'], mode: 'dontAsk' as const } }],
  ])('is denied by %s of today, without a question', async (_, more) => {
    const { place, id } = await crashed(['G']);
    const again = await resume(place, id, ['G'], more);
    await poll(() => again.of('query.ended').length).toBe(1);
    expect(lines(place)).toEqual(['F {"n":0}']);
    expect(again.results().get('toolu_1_2')).toMatchObject({ isError: true });
    again.server.assertConsumed();
  });

  it('gives a refused call its error result, and does not run it', async () => {
    const { place, id } = await crashed(['G']);
    const again = await resume(place, id, ['G']);
    await poll(() => again.session.openPermissions.length).toBe(1);
    const [prompt] = again.session.openPermissions;
    again.session.answer(prompt?.callId ?? '', prompt?.inputDigest ?? '', { behavior: 'deny', message: 'not that', source: PERSON });
    await poll(() => again.of('query.ended').length).toBe(1);
    expect(lines(place)).toEqual(['F {"n":0}']);
    expect(again.results().get('toolu_1_1')).toEqual({ text: 'F has run', isError: false });
    expect(again.results().get('toolu_1_2')).toMatchObject({ isError: true, text: expect.stringContaining('not that') });
    again.server.assertConsumed();
  });

  it('takes approvals of two calls in reverse order', async () => {
    const { place, id } = await crashed(['G', 'H']);
    const again = await resume(place, id, ['G', 'H']);
    await poll(() => again.session.openPermissions.length).toBe(2);
    for (const prompt of [...again.session.openPermissions].reverse()) {
      expect(again.session.answer(prompt.callId, prompt.inputDigest, { behavior: 'allow', source: PERSON }).accepted).toBe(true);
    }
    await poll(() => again.of('query.ended').length).toBe(1);
    expect([...lines(place)].sort()).toEqual(['F {"n":0}', 'G {"n":1}', 'H {"n":2}']);
    const content = JSON.stringify(lastMessage(again, 0));
    expect(content).toMatch(/F has run.*G has run.*H has run/);
    again.server.assertConsumed();
  });

  it('runs nothing when there is no one to ask: every open call is closed in words', async () => {
    const { place, id } = await crashed(['G']);
    const again = await resume(place, id, ['G'], { interactive: false });
    expect((await again.session.send('and now?').done).text).toBe('done');
    expect(lines(place)).toEqual(['F {"n":0}']);
    expect(again.results().get('toolu_1_2')?.text).toMatch(/Not run: the process ended while this call waited for permission/);
    again.server.assertConsumed();
  });

  it('keeps what the person types meanwhile behind the results', async () => {
    const { place, id } = await crashed(['G']);
    const again = await resume(place, id, ['G']);
    const sending = again.session.send('never mind the rest');
    await poll(() => again.session.openPermissions.length).toBe(1);
    const [prompt] = again.session.openPermissions;
    again.session.answer(prompt?.callId ?? '', prompt?.inputDigest ?? '', { behavior: 'allow', source: PERSON });
    await sending.done;
    expect(JSON.stringify(lastMessage(again, 0))).toMatch(/F has run.*G has run.*never mind the rest/);
    again.server.assertConsumed();
  });

  it('survives dying a second time while it asks', async () => {
    const { place, id } = await crashed(['G']);
    const again = await resume(place, id, ['G']);
    await poll(() => again.session.openPermissions.length).toBe(1);
    const third = { ...place, store: crashCopy(place.store) };
    const last = await resume(third, id, ['G']);
    await poll(() => last.session.openPermissions.length).toBe(1);
    const [prompt] = last.session.openPermissions;
    last.session.answer(prompt?.callId ?? '', prompt?.inputDigest ?? '', { behavior: 'allow', source: PERSON });
    await poll(() => last.of('query.ended').length).toBe(1);
    expect(lines(place)).toEqual(['F {"n":0}', 'G {"n":1}']);
    last.server.assertConsumed();
  });
});

describe('a session that died while a tool ran', () => {
  it('does not run it again: its result says that the outcome is unknown', async () => {
    const place = world();
    const hang = deferred();
    const slow = (name: string) =>
      writes(place, name, {
        call: async () => {
          appendFileSync(place.log, 'x\n');
          await hang.promise;
          return { data: 'ended' };
        },
      });
    const first = await scene([[toolUse('Slow')]], {
      cwd: place.cwd,
      store: place.store,
      tools: [slow('Slow')],
      permissions: { allow: ['Slow'] },
    });
    first.session.send('go').done.catch(() => {});
    await poll(() => lines(place).length).toBe(1);
    const store = crashCopy(place.store);
    const again = await scene([[text('I see')]], {
      cwd: place.cwd,
      store,
      resume: first.session.id,
      tools: [slow('Slow')],
      permissions: { allow: ['Slow'] },
      interactive: true,
    });
    expect((await again.session.send('go on').done).text).toBe('I see');
    expect(lines(place)).toEqual(['x']);
    expect(again.results().get('toolu_1_1')).toMatchObject({ isError: true, text: expect.stringContaining('outcome unknown') });
    hang.resolve();
    again.server.assertConsumed();
  });

  it('runs a call again beside an open question only if its tool says that this is harmless', async () => {
    const place = world();
    const hang = deferred();
    const slow = (name: string, idempotent: boolean) =>
      writes(place, name, {
        idempotent,
        call: async () => {
          appendFileSync(place.log, `${name}\n`);
          if (lines(place).length <= 2) await hang.promise;
          return { data: `${name} ended` };
        },
      });
    const tools = [slow('Once', false), slow('Often', true), writes(place, 'Gate', { isReadOnly: () => false })];
    const options = { cwd: place.cwd, tools, permissions: { allow: ['Once', 'Often'] }, interactive: true };
    const first = await scene([[toolUse('Once'), toolUse('Often'), toolUse('Gate')]], { ...options, store: place.store });
    first.session.send('go').done.catch(() => {});
    await poll(() => first.session.openPermissions.length).toBe(1);
    await poll(() => lines(place).length).toBe(2);
    const again = await scene([[text('done')]], { ...options, store: crashCopy(place.store), resume: first.session.id });
    await poll(() => again.session.openPermissions.length).toBe(1);
    const [prompt] = again.session.openPermissions;
    again.session.answer(prompt?.callId ?? '', prompt?.inputDigest ?? '', { behavior: 'allow', source: PERSON });
    await poll(() => again.of('query.ended').length).toBe(1);
    expect(lines(place).filter((line) => line === 'Once')).toHaveLength(1);
    expect(lines(place).filter((line) => line === 'Often')).toHaveLength(2);
    expect(again.results().get('toolu_1_1')?.text).toContain('outcome unknown');
    expect(again.results().get('toolu_1_2')?.text).toBe('Often ended');
    hang.resolve();
    again.server.assertConsumed();
  });

  it('reports a background task as lost, once', async () => {
    const place = world();
    const bash = { builtInTools: ['Bash'], permissions: { allow: ['Bash'] } };
    const first = await scene([[toolUse('Bash', { command: 'sleep 30', run_in_background: true })], [text('started')]], {
      cwd: place.cwd,
      store: place.store,
      ...bash,
    });
    await first.session.send('go').done;
    const [task] = first.session.tasks;
    const store = crashCopy(place.store);
    await first.session.close();
    const again = await scene([[text('lost')]], { cwd: place.cwd, store, resume: first.session.id, ...bash });
    await poll(() => again.of('query.ended').length).toBe(1);
    expect(JSON.stringify(lastMessage(again, 0))).toContain(`${task?.id} (sleep 30) is lost`);
    const third = await scene([[text('nothing new')]], {
      cwd: place.cwd,
      store: crashCopy(store),
      resume: first.session.id,
      ...bash,
    });
    await third.session.send('hello').done;
    expect(JSON.stringify(third.server.requests[0]?.body.messages).split('is lost').length - 1).toBe(1);
    expect(third.server.requests).toHaveLength(1);
  });
});

describe('a resumed session', () => {
  it('delivers the prompts and notifications that were still waiting, in one query', async () => {
    const place = world();
    const hang = deferred();
    const tool = testTool({ name: 'Slow', call: async () => hang.promise.then(() => ({ data: 'x' })) });
    const options = { cwd: place.cwd, tools: [tool], permissions: { allow: ['Slow'] } };
    const first = await scene([[toolUse('Slow')]], { ...options, store: place.store });
    first.session.send('go').done.catch(() => {});
    await poll(() => first.of('call.state').some(({ state }) => state === 'executing.calling')).toBe(true);
    first.session.notify('The build is red.');
    first.session.send('also look at b').done.catch(() => {});
    const again = await scene([[text('ok')]], { ...options, store: crashCopy(place.store), resume: first.session.id });
    await poll(() => again.of('query.ended').length).toBe(1);
    const sent = JSON.stringify(again.server.requests[0]?.body.messages);
    for (const words of ['The build is red.', 'also look at b']) expect(sent.split(words).length - 1).toBe(1);
    hang.resolve();
    again.server.assertConsumed();
  });

  it('is in its mode again, but not in one that is entered by hand each time', async () => {
    for (const [mode, expected] of [
      ['acceptEdits', 'acceptEdits'],
      ['plan', 'default'],
      ['bypassPermissions', 'default'],
    ] as const) {
      const place = world();
      const first = await scene([[text('hi')]], { cwd: place.cwd, store: place.store });
      first.session.setMode(mode);
      await first.session.send('hello').done;
      await first.session.close();
      const again = await scene([], { cwd: place.cwd, store: place.store, resume: first.session.id });
      expect(again.session.mode).toBe(expected);
    }
  });

  it('has one writer: a second one is refused in words, and may read or fork', async () => {
    const place = world();
    const { session, server } = await scene([[text('hi')], [text('in the fork')]], { cwd: place.cwd, store: place.store });
    await session.send('remember the word plum').done;
    const where = { cwd: place.cwd, store: place.store };
    const holder = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)']);
    const lock = `${session.transcriptPath}.lock`;
    const owner = JSON.parse(readFileSync(lock, 'utf8'));
    await session.close();
    appendFileSync(lock, JSON.stringify({ ...owner, pid: holder.pid, life: undefined }));
    try {
      expect(() => createSession({ ...where, resume: session.id, model: { apiKey: 'test' } })).toThrow(
        /is being written by process .*open this one read-only, or fork it/,
      );
      expect(JSON.stringify(readSession(session.id, where).messages)).toContain('plum');
      expect(listSessions(where).map(({ sessionId }) => sessionId)).toContain(session.id);
      const before = readFileSync(session.transcriptPath ?? '', 'utf8');
      const fork = forkSession({
        from: session.id,
        ...where,
        builtInTools: false,
        settings: { home: place.cwd },
        model: { baseURL: server.url, apiKey: 'test' },
      });
      expect((await fork.send('which word?').done).text).toBe('in the fork');
      await fork.close();
      expect(JSON.stringify(server.requests[1]?.body.messages)).toContain('plum');
      expect(readFileSync(session.transcriptPath ?? '', 'utf8')).toBe(before);
      expect(fork.id).not.toBe(session.id);
      expect(readdirSync(dirname(session.transcriptPath ?? ''))).toContain(`${fork.id}.jsonl`);
    } finally {
      holder.kill();
      rmSync(lock, { force: true });
    }
  });

  it('says clearly when there is nothing to resume', () => {
    const place = world();
    expect(() => createSession({ cwd: place.cwd, store: place.store, resume: 'nowhere', model: { apiKey: 'test' } })).toThrow(
      /There is no session nowhere/,
    );
    expect(listSessions({ cwd: place.cwd, store: place.store })).toEqual([]);
  });
});
