import { describe, expect, it } from 'vitest';
import { text, toolUse } from '../../src/testing/index.js';
import { scene } from '../support/sessions.js';
import { ScriptedMcpServer, textResult, toolInfo, toolNamesOf } from './support.js';

/** `enable` takes `old` away and brings `extra`, and says so before it answers. The capability was never declared. */
function switching(notices = 20): ScriptedMcpServer {
  return new ScriptedMcpServer([toolInfo('enable'), toolInfo('old')], {
    'tools/call': ({ params }, server) => {
      if (params.name !== 'enable') return textResult(`${String(params.name)} ran`);
      server.tools = [toolInfo('enable'), toolInfo('extra')];
      for (let index = 0; index < notices; index++) server.notify('notifications/tools/list_changed');
      return textResult('enabled');
    },
  });
}

describe('a list of tools that changes in the middle of a query', () => {
  it('is new in the next request: the removed tool is told to be removed, the new one works', async () => {
    const mcp = switching();
    const { session, server, results } = await scene(
      [[toolUse('mcp__s__old'), toolUse('mcp__s__enable')], [toolUse('mcp__s__old'), toolUse('mcp__s__extra')], [text('done')]],
      { mcpServers: { s: mcp.config }, permissions: { allow: ['mcp__s'] } },
    );
    await session.send('go').done;
    const requests = server.requests.map(({ body }) => toolNamesOf(body));
    expect(requests[0]).toEqual(['mcp__s__enable', 'mcp__s__old']);
    expect(requests[1]).toEqual(['mcp__s__enable', 'mcp__s__extra']);
    expect(mcp.requests('tools/list')).toHaveLength(2);
    expect(results().get('toolu_1_1')).toEqual({ text: 'old ran', isError: false });
    expect(results().get('toolu_2_1')).toEqual({ text: expect.stringContaining('tool removed'), isError: true });
    expect(results().get('toolu_2_2')).toEqual({ text: 'extra ran', isError: false });
  });

  it('puts new tools under the rules there are', async () => {
    const { session, server, results } = await scene([[toolUse('mcp__s__enable')], [toolUse('mcp__s__extra')], [text('done')]], {
      mcpServers: { s: switching().config },
      permissions: { allow: ['mcp__s'], deny: ['mcp__s__extra'] },
    });
    await session.send('go').done;
    expect(toolNamesOf(server.requests[1]?.body ?? {})).toEqual(['mcp__s__enable']);
    expect(results().get('toolu_2_1')).toEqual({ text: expect.stringContaining('No such tool'), isError: true });
  });

  it('refuses a call made for a schema that is no longer the tool’s, with the new one, and sends the new one next', async () => {
    const mcp = new ScriptedMcpServer(
      [toolInfo('go'), toolInfo('pay', { inputSchema: { type: 'object', properties: { eur: { type: 'number' } } } })],
      {
        'tools/call': ({ params }, server) => {
          if (params.name === 'go') {
            const changed = { type: 'object', properties: { cents: { type: 'integer' } }, required: ['cents'] };
            server.tools = [toolInfo('go'), toolInfo('pay', { inputSchema: changed })];
            server.notify('notifications/tools/list_changed');
          }
          return textResult(`${String(params.name)} ran`);
        },
      },
    );
    const { session, server, results } = await scene(
      [[toolUse('mcp__s__go'), toolUse('mcp__s__pay', { eur: 5 })], [toolUse('mcp__s__pay', { cents: 500 })], [text('done')]],
      { mcpServers: { s: mcp.config }, permissions: { allow: ['mcp__s'] } },
    );
    await session.send('go').done;
    expect(results().get('toolu_1_2')).toEqual({ text: expect.stringMatching(/parameters .* have changed.*"cents"/), isError: true });
    expect(JSON.stringify(server.requests[1]?.body.tools)).toContain('cents');
    expect(results().get('toolu_2_1')).toEqual({ text: 'pay ran', isError: false });
    expect(mcp.requests('tools/call').map(({ params }) => params.name)).toEqual(['go', 'pay']);
  });
});

describe('names of servers and tools', () => {
  it('reach the API in its form, whatever they were, and rules speak of the full name', async () => {
    const uuid = 'a3c1e2d4-0000-4000-8000-123456789abc';
    const long = ['slack_search_public_and_private', 'slack_search_public_and_private_v2'];
    const twin = () => new ScriptedMcpServer([toolInfo('run/it'), toolInfo('läuft')]).config;
    const { session, server } = await scene((request) => (request.n === 1 ? [text('hello')] : []), {
      mcpServers: {
        [uuid]: new ScriptedMcpServer(long.map((name) => toolInfo(name))).echo().config,
        'a.b': twin(),
        a_b: twin(),
      },
      permissions: { deny: [`mcp__${uuid}__slack_search_public_and_private_v2`] },
    });
    await session.send('go').done;
    const names = toolNamesOf(server.requests[0]?.body ?? {});
    expect(names).toHaveLength(5);
    expect(new Set(names).size).toBe(5);
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(server.refusals).toEqual([]);
  });

  it('are seen by hooks in full', async () => {
    const server = 'a3c1e2d4-0000-4000-8000-123456789abc';
    const tool = 'slack_search_public_and_private_v2';
    const seen: unknown[] = [];
    const remember = async (input: unknown) => {
      seen.push(input);
      return {};
    };
    const { session, results } = await scene(
      (request) => (request.n === 1 ? [toolUse(toolNamesOf(request.body)[0] ?? '', { q: 1 })] : [text('done')]),
      {
        mcpServers: { [server]: new ScriptedMcpServer([toolInfo(tool)]).echo().config },
        permissions: { allow: [`mcp__${server}__${tool}`] },
        hooks: { PreToolUse: [{ matcher: `mcp__${server}__.*`, hooks: [remember] }] },
      },
    );
    await session.send('go').done;
    expect(results().get('toolu_1_1')).toEqual({ text: `${tool} {"q":1}`, isError: false });
    expect(seen).toEqual([expect.objectContaining({ tool_name: `mcp__${server}__${tool}` })]);
  });
});

describe('a broken tool among good ones', () => {
  it('is left out with a notice that names it; unions at the root are sent as one object and checked as they were', async () => {
    const union = {
      oneOf: [
        { type: 'object', properties: { op: { const: 'a' }, x: { type: 'string' } }, required: ['op', 'x'] },
        { type: 'object', properties: { op: { const: 'b' }, y: { type: 'number' } }, required: ['op', 'y'] },
      ],
    };
    const mcp = new ScriptedMcpServer([
      toolInfo('union', { inputSchema: union }),
      toolInfo('broken', { inputSchema: { type: 'string' } }),
      toolInfo('fine'),
    ]).echo();
    const { session, server, of, results } = await scene(
      [[toolUse('mcp__s__union', { op: 'b', x: 'no' }), toolUse('mcp__s__union', { op: 'b', y: 2 })], [text('done')]],
      {
        mcpServers: { s: mcp.config },
        permissions: { allow: ['mcp__s'] },
      },
    );
    await session.send('go').done;
    expect(toolNamesOf(server.requests[0]?.body ?? {})).toEqual(['mcp__s__fine', 'mcp__s__union']);
    expect(
      of('notice')
        .map(({ message }) => message)
        .join('\n'),
    ).toMatch(/mcp__s__broken is left out/);
    expect(results().get('toolu_1_1')?.isError).toBe(true);
    expect(results().get('toolu_1_2')).toEqual({ text: 'union {"op":"b","y":2}', isError: false });
  });
});
