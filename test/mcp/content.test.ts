import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { callAnswerSchema } from '../../src/mcp/answers.js';
import { mapMcpOutput, toOutput } from '../../src/mcp/content.js';
import { mcpLimits } from '../../src/mcp/limits.js';
import type { McpToolInfo } from '../../src/mcp/listing.js';
import { mcpTool } from '../../src/mcp/tool.js';
import { tempDir } from '../support/sessions.js';
import { contextIn } from '../tools/context.js';
import { connectionTo } from './connections.js';
import { ScriptedMcpServer, toolInfo } from './support.js';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const mapped = async (answer: JsonObject) => {
  const dir = tempDir();
  const output = await toOutput({ content: [], ...answer }, { dir, prefix: 'call' });
  return { dir, result: mapMcpOutput(output) };
};

describe('what an MCP tool returned', () => {
  it('keeps text and images as they are', async () => {
    const { result } = await mapped({
      content: [
        { type: 'text', text: 'a' },
        { type: 'image', data: PNG, mimeType: 'image/png' },
      ],
    });
    expect(result.content).toEqual([
      { type: 'text', text: 'a' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
    ]);
  });

  it.each<[string, JsonObject]>([
    ['jpg for jpeg', { data: Buffer.from([0xff, 0xd8, 0xff, 0xc0]).toString('base64'), mimeType: 'image/jpg' }],
    ['upper case and parameters', { data: PNG, mimeType: 'IMAGE/PNG; name=x' }],
    ['no type at all', { data: PNG }],
    ['a type that says nothing', { data: PNG, mimeType: 'application/octet-stream' }],
  ])('shows an image whatever its server calls it: %s', async (_, image) => {
    const { result } = await mapped({ content: [{ type: 'image', ...image }] });
    const jpeg = image.mimeType === 'image/jpg';
    expect(result.content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: jpeg ? 'image/jpeg' : 'image/png', data: image.data } },
    ]);
  });

  it.each<[unknown, unknown]>([
    [null, []],
    [undefined, []],
    ['words', [{ type: 'text', text: 'words' }]],
    [{ type: 'text', text: 'one block' }, [{ type: 'text', text: 'one block' }]],
  ])('is read where the list of blocks is left out: %j', (content, blocks) => {
    expect(callAnswerSchema.parse(content === undefined ? {} : { content }).content).toEqual(blocks);
  });

  it('keeps what stands where a text belongs', async () => {
    const { result } = await mapped({
      content: [
        { type: 'text', text: 5 },
        { type: 'text', text: { a: 1 } },
      ],
    });
    expect(result.content).toEqual([
      { type: 'text', text: '5' },
      { type: 'text', text: '{"a":1}' },
    ]);
  });

  it('saves audio, binary resources and images of other kinds, and names the file', async () => {
    const { dir, result } = await mapped({
      content: [
        { type: 'audio', data: Buffer.from('beep').toString('base64'), mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'x://1', blob: Buffer.from('%PDF').toString('base64'), mimeType: 'application/pdf' } },
        { type: 'image', data: Buffer.from('II*').toString('base64'), mimeType: 'image/tiff' },
      ],
    });
    expect(readFileSync(join(dir, 'call-1.wav'), 'utf8')).toBe('beep');
    expect(readFileSync(join(dir, 'call-2.pdf'), 'utf8')).toBe('%PDF');
    expect(readFileSync(join(dir, 'call-3.tiff'), 'utf8')).toBe('II*');
    expect(JSON.stringify(result.content)).toContain(join(dir, 'call-2.pdf'));
  });

  it('turns links and text resources into text', async () => {
    const { result } = await mapped({
      content: [
        { type: 'resource_link', uri: 'file:///a', name: 'a', mimeType: 'text/plain', description: 'the letter a' },
        { type: 'resource', resource: { uri: 'file:///b', text: 'BBB' } },
      ],
    });
    expect(result.content).toEqual([
      { type: 'text', text: '[resource link: a file:///a (text/plain) the letter a]' },
      { type: 'text', text: '[resource file:///b]\nBBB' },
    ]);
  });

  it('gives structured content in place of its text, beside the images', async () => {
    const content = [
      { type: 'text', text: '{"t": 21}' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
    ];
    const { result } = await mapped({ content, structuredContent: { t: 21 } });
    expect(result.content).toMatchObject([{ type: 'text', text: '{"t":21}' }, { type: 'image' }]);
  });

  it('marks an error and keeps its words', async () => {
    const { result } = await mapped({ content: [{ type: 'text', text: 'no such city' }], isError: true, structuredContent: {} });
    expect(result).toEqual({ content: [{ type: 'text', text: 'no such city' }], isError: true });
  });

  it('does not lose the rest over a kind of content it does not know', async () => {
    const { result } = await mapped({
      content: [
        { type: 'hologram', data: 1 },
        { type: 'text', text: 'a' },
      ],
    });
    expect(result.content).toEqual([
      { type: 'text', text: '{"type":"hologram","data":1}' },
      { type: 'text', text: 'a' },
    ]);
  });

  it('may have been replaced by a hook with anything', () => {
    expect(mapMcpOutput('plain')).toEqual({ content: 'plain' });
    expect(mapMcpOutput([{ type: 'text', text: 'a' }])).toEqual({ content: [{ type: 'text', text: 'a' }] });
    expect(mapMcpOutput({ ok: true })).toEqual({ content: '{"ok":true}' });
    expect(mapMcpOutput(null)).toEqual({ content: '' });
  });
});

function toolOf(info: Partial<McpToolInfo>, answer: JsonObject = { content: [] }, env = {}) {
  const server = new ScriptedMcpServer([toolInfo('t')], { 'tools/call': () => answer });
  const { connection } = connectionTo(server);
  const full: McpToolInfo = { name: 't', inputSchema: { type: 'object' }, ...info };
  return { tool: mcpTool(full, { server: 's', config: server.config, connection, limits: mcpLimits(env) }), connection, server };
}

describe('what a server says of its tool', () => {
  it('makes calls overlap only where it says read-only', () => {
    expect(toolOf({}).tool.isConcurrencySafe({})).toBe(false);
    const { tool } = toolOf({ annotations: { readOnlyHint: true, destructiveHint: true } });
    expect([tool.isReadOnly({}), tool.isConcurrencySafe({}), tool.isDestructive({})]).toEqual([true, true, false]);
    expect(toolOf({ annotations: { destructiveHint: false } }).tool.isDestructive({})).toBe(false);
    expect(toolOf({}).tool.isDestructive({})).toBeUndefined();
  });

  it('sets the room for its results within bounds', () => {
    const chars = (value: unknown, env = {}) =>
      toolOf({ _meta: { 'anthropic/maxResultSizeChars': value as number } }, undefined, env).tool.maxResultSizeChars;
    expect(chars(undefined)).toBe(50_000);
    expect(chars(120_000)).toBe(120_000);
    expect(chars(9_000_000)).toBe(500_000);
    expect(chars('many')).toBe(50_000);
    expect(chars(undefined, { MAX_MCP_OUTPUT_TOKENS: '1000' })).toBe(2_000);
  });

  it('demands a person only with a boolean true', () => {
    const demands = (value: unknown) =>
      toolOf({ _meta: { 'anthropic/requiresUserInteraction': value as boolean } }).tool.requiresUserInteraction({});
    expect([demands(true), demands('true'), demands(1), demands(undefined)]).toEqual([true, false, false, false]);
  });

  it('is cut at 2 KB', () => {
    const { tool } = toolOf({ description: 'é'.repeat(5_000) });
    expect(tool.prompt().length).toBeLessThanOrEqual(2_048);
    expect(tool.prompt()).toMatch(/\[truncated\]$/);
  });

  it('is not believed about structured output: what does not fit its schema is delivered with a note', async () => {
    const outputSchema = { type: 'object', properties: { t: { type: 'number' } }, required: ['t'] };
    const { tool, connection } = toolOf({ outputSchema }, { content: [], structuredContent: { t: 'warm' } });
    await connection.start();
    const { data } = await tool.call({}, contextIn(tempDir()), () => {});
    expect(JSON.stringify(tool.mapToolResultToToolResultBlockParam(data).content)).toMatch(/warm.*does not fit the tool's own schema/);
    await connection.close();
  });

  it('sets limits of time by the kind of server', () => {
    const { connection } = toolOf({});
    const limits = mcpLimits({});
    const idle = (config: Parameters<typeof mcpTool>[1]['config']) =>
      mcpTool({ name: 't', inputSchema: { type: 'object' } }, { server: 's', config, connection, limits }).idleTimeoutMs;
    expect(idle({ type: 'http', url: 'http://x' })).toBe(300_000);
    expect(idle({ command: 'x' })).toBe(1_800_000);
    expect(mcpLimits({ CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT: '0' }).idleMs).toEqual({ network: undefined, stdio: undefined });
    expect(mcpLimits({ MCP_TOOL_TIMEOUT: '5000' }).toolMs).toBe(5_000);
  });
});
