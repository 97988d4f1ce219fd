import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/json.js';
import { ToolAbortedError } from '../../src/tool/errors.js';
import { FakeClock } from '../support/fakeClock.js';
import { connectionTo } from './connections.js';
import { ScriptedMcpServer, settle, textResult, toolInfo } from './support.js';

const never = () => new AbortController().signal;

describe('cancelling one call', () => {
  it('tells the server of that call alone, completes the other, drops the late answer and keeps the connection', async () => {
    const server = new ScriptedMcpServer([toolInfo('slow'), toolInfo('quick')], {
      'tools/call': ({ params }) => (params.name === 'slow' ? undefined : textResult('quick one')),
    });
    const { connection } = connectionTo(server);
    await connection.start();
    const cancel = new AbortController();
    const slow = connection.call('slow', {}, { signal: cancel.signal });
    const outcome = slow.then(
      () => 'answered',
      (error: unknown) => error,
    );
    await settle();
    const quick = connection.call('quick', {}, { signal: never() });
    cancel.abort('userInterrupt');
    expect(await outcome).toBeInstanceOf(ToolAbortedError);
    expect((await quick).content).toEqual([{ type: 'text', text: 'quick one' }]);

    const [slowRequest] = server.requests('tools/call');
    expect(server.notifications.filter(({ method }) => method === 'notifications/cancelled')).toEqual([
      { method: 'notifications/cancelled', params: { requestId: slowRequest?.id, reason: 'userInterrupt' } },
    ]);
    server.reply(slowRequest?.id ?? -1, textResult('too late'));
    await settle();
    expect(connection.state.status).toBe('connected');
    expect((await connection.call('quick', {}, { signal: never() })).content).toEqual([{ type: 'text', text: 'quick one' }]);
    expect(server.connections).toBe(1);
    await connection.close();
  });

  it('says nothing to the server when the signal fires after the answer', async () => {
    const server = new ScriptedMcpServer([toolInfo('quick')]).echo();
    const { connection } = connectionTo(server);
    await connection.start();
    const controller = new AbortController();
    await connection.call('quick', {}, { signal: controller.signal });
    controller.abort('userInterrupt');
    await settle();
    expect(server.notifications.filter(({ method }) => method === 'notifications/cancelled')).toEqual([]);
    await connection.close();
  });
});

describe('progress of a call', () => {
  it('reaches the caller while the call runs', async () => {
    const server = new ScriptedMcpServer([toolInfo('work')], {
      'tools/call': ({ params }, self) => {
        const meta = params._meta;
        const token = typeof meta === 'object' && meta !== null && 'progressToken' in meta ? meta.progressToken : null;
        self.notify('notifications/progress', { progressToken: token ?? null, progress: 1, total: 2, message: 'half' });
        return textResult('done');
      },
    });
    const { connection } = connectionTo(server);
    await connection.start();
    const seen: unknown[] = [];
    await connection.call('work', {}, { signal: never(), onProgress: (progress) => seen.push(progress) });
    expect(seen).toEqual([{ message: 'half', data: { progress: 1, total: 2 } }]);
    await connection.close();
  });
});

describe('a connection that is lost', () => {
  it('is made again after one second, two, four, and calls wait for it', async () => {
    const clock = new FakeClock();
    const server = new ScriptedMcpServer([toolInfo('echo')]).echo();
    const { connection } = connectionTo(server, { clock });
    await connection.start();
    server.drop();
    await settle();
    expect(connection.state).toMatchObject({ status: 'pending', attempt: 1 });
    expect(connection.tools).toHaveLength(1);
    const waiting = connection.call('echo', { a: 1 }, { signal: never() });
    const before = clock.now();
    clock.fireNext();
    expect(clock.now() - before).toBe(1_000);
    expect((await waiting).content).toEqual([{ type: 'text', text: 'echo {"a":1}' }]);
    expect(server.connections).toBe(2);
    await connection.close();
  });

  it('is given up after five attempts in a row, and can be started anew', async () => {
    const clock = new FakeClock();
    const server = new ScriptedMcpServer([toolInfo('echo')]).echo();
    const { connection } = connectionTo(server, { clock });
    await connection.start();
    const waits: number[] = [];
    const status = (): string => connection.state.status;
    server.drop();
    await settle();
    while (status() === 'pending') {
      const before = clock.now();
      clock.fireNext();
      waits.push(clock.now() - before);
      await settle();
      if (status() === 'connected') server.drop();
      await settle();
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
    expect(connection.state).toMatchObject({ status: 'failed', detail: expect.stringMatching(/5 attempts/) });
    expect(connection.tools).toEqual([]);
    await expect(connection.call('echo', {}, { signal: never() })).rejects.toThrow(/not connected.*Nothing was done/);
    await connection.start();
    expect(connection.state.status).toBe('connected');
    await connection.close();
  });

  it('ends a running call with the word that its outcome is not known, and does not repeat it', async () => {
    const server = new ScriptedMcpServer([toolInfo('pay')], { 'tools/call': () => undefined });
    const { connection } = connectionTo(server);
    await connection.start();
    const call = connection.call('pay', {}, { signal: never() });
    const failure = expect(call).rejects.toThrow(/not known; it was not repeated/);
    await settle();
    server.drop();
    await failure;
    expect(server.requests('tools/call')).toHaveLength(1);
    await connection.close();
  });
});

describe('an error that a server answers with', () => {
  const failing = async (code: number, message: string, data?: JsonValue) => {
    const server = new ScriptedMcpServer([toolInfo('pay')], {
      'tools/call': ({ id }, own) => {
        own.fail(id, code, message, data);
        return undefined;
      },
    });
    const { connection } = connectionTo(server);
    await connection.start();
    const failure = await connection.call('pay', {}, { signal: never() }).catch((error: unknown) => String(error));
    await connection.close();
    return failure;
  };

  it('keeps its words, also under the code that the SDK has for a closed connection', async () => {
    const failure = await failing(-32_000, 'Rate limit reached, wait 5 s');
    expect(failure).toContain('Rate limit reached, wait 5 s');
    expect(failure).not.toContain('closed');
  });

  it('is named by its code where it has no words, and brings its data', async () => {
    expect(await failing(-32_050, '')).toContain('error -32050');
    expect(await failing(-32_602, 'Invalid params', { field: 'amount', wants: 'a number' })).toContain(
      'Invalid params ({"field":"amount","wants":"a number"})',
    );
  });
});

describe('a list that changes', () => {
  it('is read once for many notices, and the last state wins', async () => {
    const clock = new FakeClock();
    const server = new ScriptedMcpServer([toolInfo('old')]);
    const { connection } = connectionTo(server, { clock });
    await connection.start();
    for (let index = 0; index < 20; index++) {
      server.tools = [toolInfo(`state_${index}`)];
      server.notify('notifications/tools/list_changed');
    }
    await settle();
    clock.fireNext();
    await settle();
    expect(server.requests('tools/list')).toHaveLength(2);
    expect(connection.tools.map(({ name }) => name)).toEqual(['state_19']);
    await connection.close();
  });

  it('is read again when it changes while it is read', async () => {
    const server = new ScriptedMcpServer([toolInfo('first')]).echo();
    const { connection } = connectionTo(server);
    await connection.start();
    let isRaced = false;
    server.on('tools/list', (_, self) => {
      const tools = self.tools;
      if (!isRaced) {
        isRaced = true;
        self.tools = [toolInfo('third')];
        self.notify('notifications/tools/list_changed');
      }
      return { tools };
    });
    server.tools = [toolInfo('second')];
    server.notify('notifications/tools/list_changed');
    await connection.call('first', {}, { signal: never() });
    expect(connection.tools.map(({ name }) => name)).toEqual(['third']);
    await connection.close();
  });

  it('does not keep a server busy that says "changed" at every listing', async () => {
    const clock = new FakeClock();
    const server = new ScriptedMcpServer([toolInfo('same')], {
      'tools/list': (_, self) => {
        self.notify('notifications/tools/list_changed');
        return { tools: self.tools };
      },
    });
    const { connection } = connectionTo(server, { clock });
    await connection.start();
    await settle();
    for (let index = 0; index < 12; index++) {
      clock.fireNext();
      await settle();
    }
    expect(clock.now()).toBeGreaterThan(60_000);
    await connection.close();
    expect(clock.pending).toBe(0);
  });
});
