import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { text, toolUse } from '../../src/testing/index.js';
import { scene, tempDir } from '../support/sessions.js';
import { toolNamesOf } from './support.js';

/** Servers that the MCP project publishes; nobody here wrote them. */
function published(name: string, ...args: string[]) {
  const manifest = createRequire(import.meta.url).resolve(`@modelcontextprotocol/${name}/package.json`);
  return { command: process.execPath, args: [join(dirname(manifest), 'dist', 'index.js'), ...args] };
}
const PATIENT = { mcpStartupWaitMs: 30_000 };

describe('servers that others wrote, through the model loop', () => {
  it('filesystem: reads and writes where it may, asks for nothing else, and a deny rule keeps a tool away', async () => {
    const root = join(tempDir(), 'files');
    mkdirSync(root);
    writeFileSync(join(root, 'note.txt'), 'a note');
    const { session, results, server, of } = await scene(
      [
        [toolUse('mcp__files__read_text_file', { path: join(root, 'note.txt') }), toolUse('mcp__files__list_directory', { path: root })],
        [
          toolUse('mcp__files__write_file', { path: join(root, 'new.txt'), content: 'written' }),
          toolUse('mcp__files__move_file', { source: join(root, 'note.txt'), destination: join(root, 'gone.txt') }),
          toolUse('mcp__files__read_text_file', { path: '/etc/hostname' }),
          toolUse('mcp__files__create_directory', { path: join(root, 'sub') }),
        ],
        [text('done')],
      ],
      {
        ...PATIENT,
        mcpServers: { files: published('server-filesystem', root) },
        permissions: {
          allow: ['mcp__files__read_*', 'mcp__files__list_directory', 'mcp__files__write_file'],
          deny: ['mcp__files__move_file'],
        },
      },
    );
    await session.send('go').done;
    expect(results().get('toolu_1_1')).toMatchObject({ text: expect.stringContaining('a note'), isError: false });
    expect(results().get('toolu_1_2')).toMatchObject({ text: expect.stringContaining('note.txt'), isError: false });
    expect(readFileSync(join(root, 'new.txt'), 'utf8')).toBe('written');
    expect(results().get('toolu_2_2')).toMatchObject({ text: expect.stringContaining('No such tool'), isError: true });
    expect(results().get('toolu_2_3')).toMatchObject({ text: expect.stringMatching(/denied|outside/i), isError: true });
    // No rule speaks of it and nobody is there to ask.
    expect(results().get('toolu_2_4')?.isError).toBe(true);
    expect(existsSync(join(root, 'sub'))).toBe(false);
    expect(existsSync(join(root, 'gone.txt'))).toBe(false);
    expect(toolNamesOf(server.requests[0]?.body ?? {})).not.toContain('mcp__files__move_file');
    expect(of('session.started')[0]?.servers).toMatchObject([{ name: 'files', status: 'connected' }]);
  }, 300_000);

  it('memory: keeps what it is told from call to call', async () => {
    const file = join(tempDir(), 'memory.json');
    const entities = [{ name: 'Sixgates', entityType: 'runtime', observations: ['has six gates'] }];
    const { session, results } = await scene(
      [[toolUse('mcp__memory__create_entities', { entities })], [toolUse('mcp__memory__read_graph')], [text('done')]],
      {
        ...PATIENT,
        mcpServers: { memory: { ...published('server-memory'), env: { MEMORY_FILE_PATH: file } } },
        permissions: { allow: ['mcp__memory'] },
      },
    );
    await session.send('go').done;
    expect(results().get('toolu_2_1')).toMatchObject({ text: expect.stringContaining('has six gates'), isError: false });
    expect(readFileSync(file, 'utf8')).toContain('Sixgates');
  }, 300_000);

  it('everything: progress, images, structured output, errors, resources and unions go through', async () => {
    const { session, results, of, server } = await scene(
      (request) => {
        if (request.n === 1) {
          return [
            toolUse('mcp__all__echo', { message: 'hi' }),
            toolUse('mcp__all__get-sum', { a: 2, b: 3 }),
            toolUse('mcp__all__get-tiny-image', {}),
            toolUse('mcp__all__get-structured-content', { location: 'New York' }),
            toolUse('mcp__all__trigger-long-running-operation', { duration: 1, steps: 4 }),
            toolUse('mcp__all__get-sum', { a: 'two' }),
            toolUse('ToolSearch', { query: 'select:ListMcpResourcesTool,ReadMcpResourceTool' }),
          ];
        }
        if (request.n === 2) return [toolUse('ListMcpResourcesTool', { server: 'all' })];
        if (request.n > 3) return [text('done')];
        const listed = results().get('toolu_2_1')?.text ?? '';
        const uri = /"uri": "([^"]+)"/.exec(listed)?.[1] ?? '';
        return [toolUse('ReadMcpResourceTool', { server: 'all', uri })];
      },
      {
        ...PATIENT,
        builtInTools: ['ToolSearch'],
        mcpServers: { all: published('server-everything', 'stdio') },
        permissions: { allow: ['mcp__all'] },
      },
    );
    await session.send('go').done;
    const result = (id: string) => results().get(id);
    expect(result('toolu_1_1')).toEqual({ text: 'Echo: hi', isError: false });
    expect(result('toolu_1_2')?.text).toContain('5');
    const images = JSON.stringify(server.requests[1]?.body.messages);
    expect(images).toContain('"media_type":"image/png"');
    expect(JSON.parse(result('toolu_1_4')?.text ?? '')).toMatchObject({ temperature: expect.any(Number) });
    expect(result('toolu_1_5')?.isError).toBe(false);
    expect(of('call.progress').filter(({ callId }) => callId === 'toolu_1_5').length).toBeGreaterThan(0);
    expect(result('toolu_1_6')?.isError).toBe(true);
    expect(result('toolu_2_1')?.isError).toBe(false);
    expect(result('toolu_3_1')).toMatchObject({ isError: false, text: expect.stringMatching(/^\[resource /) });
    expect(server.refusals).toEqual([]);
  }, 300_000);
});
