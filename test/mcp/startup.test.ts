import { describe, expect, it } from 'vitest';
import { gate, text, toolUse } from '../../src/testing/index.js';
import { FakeClock } from '../support/fakeClock.js';
import { deferred, scene, testTool } from '../support/sessions.js';
import { ScriptedMcpServer, settle, toolInfo, toolNamesOf } from './support.js';

const node = (script: string) => ({ command: process.execPath, args: ['-e', script] });

describe('servers at the start of a session', () => {
  it('are waited for, so that the first request has their tools', async () => {
    const mcp = new ScriptedMcpServer([toolInfo('hello')]).echo();
    const answered = deferred<void>();
    const initialize = async () => {
      await answered.promise;
      return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'slow', version: '1' } };
    };
    mcp.on('initialize', initialize);
    const { session, server, of } = await scene([[text('hi')]], { mcpServers: { slow: mcp.config }, clock: new FakeClock() });
    const sending = session.send('go');
    await settle();
    expect(of('session.started')).toEqual([]);
    answered.resolve();
    await sending.done;
    expect(of('session.started')[0]?.servers).toEqual([{ name: 'slow', source: 'code', status: 'connected', tools: 1 }]);
    expect(toolNamesOf(server.requests[0]?.body ?? {})).toEqual(['mcp__slow__hello']);
  });

  it('are named as pending once the stated wait is over, and their tools join at the next request', async () => {
    const clock = new FakeClock();
    const mcp = new ScriptedMcpServer([toolInfo('hello')]).echo();
    const answered = deferred<void>();
    mcp.on('initialize', async () => {
      await answered.promise;
      return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'slow', version: '1' } };
    });
    const connected = deferred<void>();
    const { session, server, of, results } = await scene([[toolUse('Wait')], [toolUse('mcp__slow__hello', { a: 1 })], [text('done')]], {
      mcpServers: { slow: mcp.config },
      mcpStartupWaitMs: 3_000,
      clock,
      tools: [testTool({ name: 'Wait', call: async () => ({ data: await connected.promise.then(() => 'waited') }) })],
      permissions: { allow: ['Wait', 'mcp__slow'] },
      onUpdate: (update) => {
        if (update.type === 'call.state' && update.state === 'executing.calling' && update.tool === 'Wait') answered.resolve();
        if (update.type === 'server.status' && update.server.status === 'connected') connected.resolve();
      },
    });
    const sending = session.send('go');
    await settle();
    clock.fireNext();
    await sending.done;
    expect(of('session.started')[0]?.servers).toEqual([{ name: 'slow', source: 'code', status: 'pending', tools: 0 }]);
    expect(toolNamesOf(server.requests[0]?.body ?? {})).toEqual(['Wait']);
    expect(toolNamesOf(server.requests[1]?.body ?? {})).toEqual(['Wait', 'mcp__slow__hello']);
    expect(results().get('toolu_2_1')).toEqual({ text: 'hello {"a":1}', isError: false });
  });

  it('that cannot be started say where to mend it', async () => {
    const { session, of } = await scene([[text('hi')]], {
      mcpServers: { line: { command: 'npx -y some-server' }, lost: { command: process.execPath, cwd: '/no/such/directory' } },
    });
    await session.send('go').done;
    expect(of('session.started')[0]?.servers).toMatchObject([
      { name: 'line', status: 'failed', detail: expect.stringMatching(/belongs into `args`/) },
      { name: 'lost', status: 'failed', detail: expect.stringMatching(/working directory \/no\/such\/directory does not exist/) },
    ]);
  });

  it('fail with the end of their standard error, in the first update, without harm to others', async () => {
    const { session, server, of } = await scene([[text('hi')]], {
      mcpStartupWaitMs: 30_000,
      mcpServers: {
        dead: node('console.error("licence file not found"); process.exit(3)'),
        absent: { command: '/no/such/program' },
        fine: new ScriptedMcpServer([toolInfo('hello')]).config,
      },
    });
    await session.send('go').done;
    expect(of('session.started')[0]?.servers).toEqual([
      { name: 'absent', source: 'code', status: 'failed', detail: expect.stringMatching(/ENOENT/), tools: 0 },
      {
        name: 'dead',
        source: 'code',
        status: 'failed',
        detail: expect.stringMatching(/exited with code 3.*licence file not found/),
        tools: 0,
      },
      { name: 'fine', source: 'code', status: 'connected', tools: 1 },
    ]);
    expect(toolNamesOf(server.requests[0]?.body ?? {})).toEqual(['mcp__fine__hello']);
  }, 300_000);

  it('that never answer do not hold the session, and are told to have failed', async () => {
    const clock = new FakeClock();
    const failed = deferred<string>();
    const { session, of } = await scene([[text('hi')], [text('again')]], {
      mcpServers: { silent: new ScriptedMcpServer([], { initialize: () => undefined }).config },
      clock,
      onUpdate: (update) => {
        if (update.type === 'server.status' && update.server.status === 'failed') failed.resolve(update.server.detail ?? '');
      },
    });
    const first = session.send('go');
    await settle();
    clock.fireNext();
    await first.done;
    expect(of('session.started')[0]?.servers).toMatchObject([{ name: 'silent', status: 'pending' }]);
    while (clock.fireNext());
    expect(await failed.promise).toMatch(/did not answer within 30 s \(MCP_TIMEOUT\)/);
    await session.send('again').done;
  });

  it('can be left while they are still starting', async () => {
    const stop = gate();
    const { session, of } = await scene([[stop]], {
      mcpServers: {
        silent: new ScriptedMcpServer([], { initialize: () => undefined }).config,
        process: node('setInterval(() => {}, 1000)'),
      },
    });
    await session.close();
    expect(of('session.started')).toEqual([]);
  }, 300_000);
});
