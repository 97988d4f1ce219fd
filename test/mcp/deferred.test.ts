import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import type { SessionOptions } from '../../src/session/options.js';
import { text, toolUse } from '../../src/testing/index.js';
import { scene, tempDir } from '../support/sessions.js';
import { ScriptedMcpServer, textResult, toolInfo, toolNamesOf } from './support.js';

const schema = (field: string): JsonObject => ({
  type: 'object',
  properties: { [field]: { type: 'string', description: `the ${field}` } },
  required: [field],
});
const weather = (field = 'city') =>
  new ScriptedMcpServer([
    toolInfo('forecast', { description: 'Predicts rain and sun', inputSchema: schema(field) }),
    toolInfo('history', { description: 'Past temperatures', inputSchema: schema('year') }),
    toolInfo('ping', { _meta: { 'anthropic/alwaysLoad': true } }),
  ]).echo();
const deferring = (mcp: ScriptedMcpServer, more: SessionOptions = {}): SessionOptions => ({
  mcpServers: { w: mcp.config },
  builtInTools: ['ToolSearch'],
  env: { ENABLE_TOOL_SEARCH: 'true' },
  permissions: { allow: ['mcp__w'] },
  ...more,
});
const select = (...names: string[]) => toolUse('ToolSearch', { query: `select:${names.join(',')}` });
const lastText = (body: JsonObject): string => JSON.stringify(Array.isArray(body.messages) ? body.messages.at(-1) : '');

describe('deferred tools', () => {
  it('are announced by name in the conversation, loaded by search, and then sent in full behind the others', async () => {
    const { session, server, results } = await scene(
      [[select('mcp__w__forecast')], [toolUse('mcp__w__forecast', { city: 'Rome' })], [text('done')], [text('again')]],
      deferring(weather()),
    );
    await session.send('go').done;
    await session.send('once more').done;
    const [first, second, third, fourth] = server.requests.map(({ body }) => body);
    expect(toolNamesOf(first ?? {})).toEqual(['ToolSearch', 'mcp__w__ping']);
    expect(lastText(first ?? {})).toMatch(/deferred.*mcp__w__forecast\\nmcp__w__history\\n/);
    expect(toolNamesOf(second ?? {})).toEqual(['ToolSearch', 'mcp__w__ping', 'mcp__w__forecast']);
    expect(third?.tools).toEqual(second?.tools);
    expect(fourth?.tools).toEqual(second?.tools);
    // Announced once: what was sent before stays as it was, byte for byte.
    expect(JSON.stringify(fourth?.messages).split('mcp__w__history').length - 1).toBe(1);
    for (const [before, after] of [
      [first, second],
      [second, third],
      [third, fourth],
    ] as const) {
      const prefix = JSON.stringify(before?.messages).slice(0, -2);
      expect(JSON.stringify(after?.messages).startsWith(prefix.slice(0, prefix.lastIndexOf(']')))).toBe(true);
    }
    expect(results().get('toolu_2_1')).toEqual({ text: 'forecast {"city":"Rome"}', isError: false });
  });

  it('answer a call before loading with their schema and the way to load them, and are not run', async () => {
    const mcp = weather();
    const { session, results } = await scene([[toolUse('mcp__w__forecast', { town: 'Rome' })], [text('done')]], deferring(mcp));
    await session.send('go').done;
    const { text: message, isError } = results().get('toolu_1_1') ?? { text: '', isError: false };
    expect(isError).toBe(true);
    expect(message).toContain('select:mcp__w__forecast');
    expect(message).toContain('"city"');
    expect(mcp.requests('tools/call')).toEqual([]);
  });

  it('stay loaded across a resume', async () => {
    const cwd = tempDir();
    const store = join(cwd, 'sessions');
    const first = await scene([[select('mcp__w__forecast')], [text('loaded')]], { ...deferring(weather()), cwd, store });
    await first.session.send('go').done;
    await first.session.close();
    const second = await scene([[toolUse('mcp__w__forecast', { city: 'Oslo' })], [text('done')]], {
      ...deferring(weather()),
      cwd,
      store,
      resume: first.session.id,
    });
    await second.session.send('and now').done;
    const body = second.server.requests[0]?.body ?? {};
    expect(toolNamesOf(body)).toEqual(['ToolSearch', 'mcp__w__ping', 'mcp__w__forecast']);
    expect(JSON.stringify(body.messages).split('mcp__w__history').length - 1).toBe(1);
    // The id of the first session's call came again: in the history the new one has an id of its own.
    expect([...second.results().values()].at(-1)).toEqual({ text: 'forecast {"city":"Oslo"}', isError: false });
  });

  it('are offered with their schema as it is now when it has changed since', async () => {
    const cwd = tempDir();
    const store = join(cwd, 'sessions');
    const first = await scene([[select('mcp__w__forecast')], [text('loaded')]], { ...deferring(weather('city')), cwd, store });
    await first.session.send('go').done;
    await first.session.close();
    const second = await scene([[toolUse('mcp__w__forecast', { place: 'Oslo' })], [text('done')]], {
      ...deferring(weather('place')),
      cwd,
      store,
      resume: first.session.id,
    });
    await second.session.send('and now').done;
    expect(JSON.stringify(second.server.requests[0]?.body.tools)).toContain('"place"');
    expect(second.results().get('toolu_1_1')?.isError).toBe(false);
  });

  it('that change between loading and call are offered anew before they run', async () => {
    const mcp = weather('city');
    mcp.on('tools/call', ({ params }, server) => {
      if (params.name === 'ping') {
        server.tools = [toolInfo('forecast', { inputSchema: schema('place') }), ...server.tools.slice(1)];
        server.notify('notifications/tools/list_changed');
      }
      return textResult(`${String(params.name)} ran`);
    });
    const { session, results } = await scene(
      [
        [select('mcp__w__forecast')],
        [toolUse('mcp__w__ping'), toolUse('mcp__w__forecast', { city: 'Rome' })],
        [toolUse('mcp__w__forecast', { place: 'Rome' })],
        [text('done')],
      ],
      deferring(mcp),
    );
    await session.send('go').done;
    expect(results().get('toolu_2_2')).toEqual({ text: expect.stringMatching(/have changed.*"place"/), isError: true });
    expect(results().get('toolu_3_1')).toEqual({ text: 'forecast ran', isError: false });
  });

  it('survive a compaction: loaded ones stay loaded, the names of the others are told again', async () => {
    const { session, server, results } = await scene((request) => {
      const isSummary = JSON.stringify(request.body.messages).includes('Write a summary');
      if (isSummary) return [text('They talked about weather.')];
      const round = results().size;
      if (round === 0) return [select('mcp__w__forecast')];
      return JSON.stringify(request.body.messages).includes('after compaction') && !results().has('call_after')
        ? [toolUse('mcp__w__forecast', { city: 'Bern' }, { id: 'call_after' })]
        : [text('fine')];
    }, deferring(weather()));
    await session.send('go').done;
    await session.send('something else').done;
    await session.compact();
    await session.send('after compaction').done;
    const body = server.requests.at(-1)?.body ?? {};
    expect(JSON.stringify(body.messages)).toContain('They talked about weather.');
    expect(toolNamesOf(body)).toContain('mcp__w__forecast');
    expect(JSON.stringify(body.messages)).toContain('mcp__w__history');
    expect(results().get('call_after')).toEqual({ text: 'forecast {"city":"Bern"}', isError: false });
  });

  it('are sent in full when the search is denied or absent', async () => {
    const denied = await scene([[text('hi')]], deferring(weather(), { permissions: { deny: ['ToolSearch'] } }));
    await denied.session.send('go').done;
    const all = ['mcp__w__forecast', 'mcp__w__history', 'mcp__w__ping'];
    expect(toolNamesOf(denied.server.requests[0]?.body ?? {})).toEqual(all);
    const absent = await scene([[text('hi')]], deferring(weather(), { builtInTools: false }));
    await absent.session.send('go').done;
    expect(toolNamesOf(absent.server.requests[0]?.body ?? {})).toEqual(all);
  });

  it('can be neither loaded nor called, nor are they named, under a deny rule', async () => {
    const { session, server, results } = await scene(
      [
        [select('mcp__w__forecast')],
        [toolUse('ToolSearch', { query: 'rain sun' })],
        [toolUse('mcp__w__forecast', { city: 'Rome' })],
        [text('done')],
      ],
      deferring(weather(), { permissions: { allow: ['mcp__w'], deny: ['mcp__w__forecast'] } }),
    );
    await session.send('go').done;
    expect(lastText(server.requests[0]?.body ?? {})).not.toContain('forecast');
    expect(results().get('toolu_1_1')?.text).toContain('no tool named mcp__w__forecast');
    expect(results().get('toolu_2_1')?.text).toContain('No deferred tool matches');
    expect(results().get('toolu_3_1')?.text).toContain('No such tool');
  });

  it('are not deferred while all of them fit, unless asked for', async () => {
    const few = await scene([[text('hi')]], deferring(weather(), { env: {} }));
    await few.session.send('go').done;
    expect(toolNamesOf(few.server.requests[0]?.body ?? {})).toContain('mcp__w__forecast');
    const many = new ScriptedMcpServer(Array.from({ length: 60 }, (_, n) => toolInfo(`tool_${n}`, { description: 'x'.repeat(2_000) })));
    const large = await scene([[text('hi')]], deferring(many, { env: {} }));
    await large.session.send('go').done;
    expect(toolNamesOf(large.server.requests[0]?.body ?? {})).toEqual(['ToolSearch']);
    const off = await scene([[text('hi')]], deferring(many, { env: { ENABLE_TOOL_SEARCH: 'false' } }));
    await off.session.send('go').done;
    expect(toolNamesOf(off.server.requests[0]?.body ?? {})).toHaveLength(60);
  });

  it('are referenced instead of sent anew where the API expands references, so that the tools never change', async () => {
    const { session, server, results } = await scene(
      [[select('mcp__w__forecast')], [toolUse('mcp__w__forecast', { city: 'Rome' })], [text('done')]],
      deferring(weather(), { model: { apiToolSearch: true } }),
    );
    await session.send('go').done;
    const [first, second, third] = server.requests.map(({ body }) => body);
    expect(first?.tools).toMatchObject([
      { name: 'ToolSearch' },
      { name: 'mcp__w__forecast', defer_loading: true },
      { name: 'mcp__w__history', defer_loading: true },
      { name: 'mcp__w__ping' },
    ]);
    expect(second?.tools).toEqual(first?.tools);
    expect(third?.tools).toEqual(first?.tools);
    expect(lastText(second ?? {})).toContain('{"type":"tool_reference","tool_name":"mcp__w__forecast"}');
    expect(results().get('toolu_2_1')?.isError).toBe(false);
  });
});
