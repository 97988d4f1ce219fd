// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the variables of configuration files
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { text, toolUse } from '../../src/testing/index.js';
import { FakeClock } from '../support/fakeClock.js';
import { deferred, scene, tempDir } from '../support/sessions.js';
import { type Request, ScriptedMcpServer, settle, textResult, toolInfo } from './support.js';

const progressToken = ({ params }: Request): number => {
  const meta = params._meta;
  return typeof meta === 'object' && meta !== null && 'progressToken' in meta ? Number(meta.progressToken) : -1;
};

describe('MCP servers in a session', () => {
  it('are named first; what there is to notice about them comes behind', async () => {
    const mcp = new ScriptedMcpServer([toolInfo('a'), { name: 'bad' }]);
    const { session, updates } = await scene([[text('hi')]], { mcpServers: { s: mcp.config } });
    await session.send('go').done;
    expect(updates[0]?.type).toBe('session.started');
    expect(updates.some((update) => update.type === 'notice' && update.message.includes('bad'))).toBe(true);
    expect(session.servers).toEqual([{ name: 's', source: 'code', status: 'connected', tools: 1 }]);
  });

  it('can be started anew when they have failed, and their tools join', async () => {
    const mcp = new ScriptedMcpServer([toolInfo('a')]).echo();
    let isBroken = true;
    const config = { type: 'transport', connect: () => (isBroken ? Promise.reject(new Error('no power')) : mcp.config.connect()) } as const;
    const { session, of, results } = await scene([[text('hi')], [toolUse('mcp__s__a')], [text('done')]], {
      mcpServers: { s: config },
      permissions: { allow: ['mcp__s'] },
    });
    await session.send('go').done;
    expect(of('session.started')[0]?.servers).toMatchObject([{ status: 'failed', detail: 'no power' }]);
    isBroken = false;
    expect(await session.restartServer('s')).toMatchObject({ status: 'connected', tools: 1 });
    await session.send('again').done;
    expect(results().get('toolu_2_1')).toEqual({ text: 'a {}', isError: false });
    await expect(session.restartServer('t')).rejects.toThrow(/no MCP server t .* There are: s/);
  });

  it('are waited for while there are signs of progress, and no longer', async () => {
    const clock = new FakeClock();
    const called = deferred<Request>();
    const mcp = new ScriptedMcpServer([toolInfo('slow')], {
      'tools/call': (request) => {
        called.resolve(request);
        return undefined;
      },
    });
    const { session, results } = await scene([[toolUse('mcp__s__slow')], [text('done')]], {
      mcpServers: { s: mcp.config },
      permissions: { allow: ['mcp__s'] },
      env: { CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT: '1000' },
      clock,
      now: clock.now,
    });
    const sending = session.send('go');
    const request = await called.promise;
    for (let round = 1; round <= 3; round++) {
      clock.setTimeout(() => mcp.notify('notifications/progress', { progressToken: progressToken(request), progress: round }), 900);
      clock.fireNext();
      await settle();
    }
    expect(clock.now()).toBe(2_700);
    clock.fireNext();
    await sending.done;
    expect(clock.now()).toBe(3_700);
    expect(results().get('toolu_1_1')).toEqual({ text: expect.stringMatching(/timed out after 1000 ms/), isError: true });
    expect(mcp.notifications.filter(({ method }) => method === 'notifications/cancelled')).toMatchObject([
      { params: { requestId: request.id } },
    ]);
    expect(session.servers[0]?.status).toBe('connected');
  });

  it('lose one call to an interrupt, not the connection', async () => {
    const called = deferred();
    const mcp = new ScriptedMcpServer([toolInfo('slow'), toolInfo('quick')], {
      'tools/call': ({ params }) => {
        if (params.name === 'quick') return textResult('quick ran');
        called.resolve();
        return undefined;
      },
    });
    const { session, results } = await scene([[toolUse('mcp__s__slow')], [toolUse('mcp__s__quick')], [text('done')]], {
      mcpServers: { s: mcp.config },
      permissions: { allow: ['mcp__s'] },
    });
    session.send('go');
    await called.promise;
    await session.interrupt();
    await session.send('go on').done;
    expect(results().get('toolu_1_1')?.isError).toBe(true);
    expect(results().get('toolu_2_1')).toEqual({ text: 'quick ran', isError: false });
    expect(mcp.connections).toBe(1);
  });

  it('persist results over 50,000 characters', async () => {
    const mcp = new ScriptedMcpServer([toolInfo('big'), toolInfo('fits')], {
      'tools/call': ({ params }) => textResult('x'.repeat(params.name === 'big' ? 50_001 : 50_000)),
    });
    const { session, results } = await scene([[toolUse('mcp__s__big'), toolUse('mcp__s__fits')], [text('done')]], {
      mcpServers: { s: mcp.config },
      permissions: { allow: ['mcp__s'] },
    });
    await session.send('go').done;
    expect(results().get('toolu_1_1')?.text).toMatch(/<persisted-output>/);
    expect(results().get('toolu_1_2')?.text).toHaveLength(50_000);
  });

  it('can demand a person, whom no allow rule stands in for', async () => {
    const mcp = new ScriptedMcpServer([toolInfo('sign', { _meta: { 'anthropic/requiresUserInteraction': true } })]).echo();
    const { session, results } = await scene([[toolUse('mcp__s__sign')], [text('done')]], {
      mcpServers: { s: mcp.config },
      permissions: { allow: ['mcp__s__sign'], mode: 'bypassPermissions' },
    });
    await session.send('go').done;
    expect(results().get('toolu_1_1')?.isError).toBe(true);
    expect(mcp.requests('tools/call')).toEqual([]);
  });

  it('can be asked by hooks', async () => {
    const cwd = tempDir();
    const hook: JsonObject = { type: 'mcp_tool', server: 's', tool: 'guard', input: { what: '${tool_name}' } };
    mkdirSync(join(cwd, '.claude'));
    writeFileSync(
      join(cwd, '.claude', 'settings.json'),
      JSON.stringify({ hooks: { PreToolUse: [{ matcher: 'mcp__s__a', hooks: [hook] }] } }),
    );
    const verdict = {
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'guarded' },
    };
    const mcp = new ScriptedMcpServer([toolInfo('a'), toolInfo('guard')], { 'tools/call': () => textResult(JSON.stringify(verdict)) });
    const { session, results } = await scene([[toolUse('mcp__s__a')], [text('done')]], {
      cwd,
      mcpServers: { s: mcp.config },
      permissions: { allow: ['mcp__s'] },
    });
    await session.send('go').done;
    expect(results().get('toolu_1_1')).toEqual({ text: expect.stringContaining('guarded'), isError: true });
    expect(mcp.requests('tools/call').map(({ params }) => params)).toMatchObject([{ name: 'guard', arguments: { what: 'mcp__s__a' } }]);
  });

  it('serve a session’s subagents over the connection there is', async () => {
    const mcp = new ScriptedMcpServer([toolInfo('a')]).echo();
    const { session, results } = await scene(
      ({ body }) => {
        const said = JSON.stringify(body.messages);
        if (said.includes('Use the tool a.'))
          return said.includes('tool_result') ? [text(`It said: ${said.includes('a {}') ? 'a {}' : '?'}`)] : [toolUse('mcp__s__a')];
        return said.includes('tool_result')
          ? [text('done')]
          : [toolUse('Agent', { description: 'use a', prompt: 'Use the tool a.' }, { id: 'agent' })];
      },
      { mcpServers: { s: mcp.config }, builtInTools: ['Agent'], permissions: { allow: ['mcp__s', 'Agent'] } },
    );
    await session.send('Let an agent do it.').done;
    expect(results().get('agent')?.text).toContain('It said: a {}');
    expect(mcp.connections).toBe(1);
  });

  it('guard the session’s subagents as they guard the session, where a hook asks them', async () => {
    const cwd = tempDir();
    const hook: JsonObject = { type: 'mcp_tool', server: 'guard', tool: 'judge' };
    mkdirSync(join(cwd, '.claude'));
    writeFileSync(join(cwd, '.claude', 'settings.json'), JSON.stringify({ hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [hook] }] } }));
    const verdict = {
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'guarded' },
    };
    const mcp = new ScriptedMcpServer([toolInfo('judge')], { 'tools/call': () => textResult(JSON.stringify(verdict)) });
    const made = await scene(
      ({ body }) => {
        const said = JSON.stringify(body.messages);
        if (said.includes('tool_result')) return [text('done')];
        return said.includes('Do it below.')
          ? [toolUse('Bash', { command: 'echo slipped' }, { id: 'below' })]
          : [toolUse('Agent', { description: 'try it', prompt: 'Do it below.' }, { id: 'agent' })];
      },
      { cwd, mcpServers: { guard: mcp.config }, builtInTools: ['Agent', 'Bash'], permissions: { mode: 'bypassPermissions' } },
    );
    await made.session.send('Let an agent try it.').done;
    const below = made.of('agent.update').flatMap(({ update }) => (update.type === 'call.result' ? [update.result] : []));
    expect(below).toMatchObject([{ tool_use_id: 'below', content: expect.stringContaining('guarded'), is_error: true }]);
  });
});
