import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createSdkMcpServer, tool } from '../../src/mcp/index.js';
import { text, toolUse } from '../../src/testing/index.js';
import { scene } from '../support/sessions.js';
import { toolNamesOf } from './support.js';

const calculator = () =>
  createSdkMcpServer({
    name: 'calculator',
    version: '2.0.0',
    instructions: 'Numbers are decimal.',
    tools: [
      tool(
        'add',
        'Adds two numbers',
        { a: z.number(), b: z.number().default(1) },
        async ({ a, b }) => ({
          content: [{ type: 'text', text: String(a + b) }],
        }),
        { annotations: { readOnlyHint: true } },
      ),
      tool('divide', 'Divides', { a: z.number(), b: z.number() }, async ({ a, b }) => {
        if (b === 0) throw new Error('division by zero');
        return { content: [{ type: 'text', text: String(a / b) }] };
      }),
      tool('now', 'Says the time', {}, async () => ({ content: [{ type: 'text', text: 'noon' }] })),
    ],
  });

describe('an embedding program’s tools as an in-process server', () => {
  it('are called under the name of the key they stand at; a handler that throws is an error result and the loop goes on', async () => {
    const { session, results, of, server } = await scene(
      [[toolUse('mcp__calc__add', { a: 2 }), toolUse('mcp__calc__divide', { a: 1, b: 0 }), toolUse('mcp__calc__now')], [text('done')]],
      { mcpServers: { calc: calculator() }, permissions: { allow: ['mcp__calc__*'] } },
    );
    await session.send('go').done;
    expect(results().get('toolu_1_1')).toEqual({ text: '3', isError: false });
    expect(results().get('toolu_1_2')).toEqual({ text: 'division by zero', isError: true });
    expect(results().get('toolu_1_3')).toEqual({ text: 'noon', isError: false });
    expect(JSON.stringify(server.requests[0]?.body.messages)).toContain('Instructions of the MCP server calc:\\nNumbers are decimal.');
    expect(of('query.ended')[0]?.end).toBe('completed');
  });

  it('serve several sessions from one definition', async () => {
    const servers = { calc: calculator() };
    for (let round = 0; round < 2; round++) {
      const { session, server } = await scene([[text('hi')]], { mcpServers: servers });
      await session.send('go').done;
      expect(toolNamesOf(server.requests[0]?.body ?? {})).toHaveLength(3);
    }
  });

  it('is asked about without a rule, like any tool', async () => {
    const { session, results } = await scene([[toolUse('mcp__calc__now')], [text('done')]], { mcpServers: { calc: calculator() } });
    await session.send('go').done;
    expect(results().get('toolu_1_1')?.isError).toBe(true);
  });

  it('leaves out a tool whose arguments no JSON Schema can say, with a warning', async () => {
    const unsayable = createSdkMcpServer({
      name: 's',
      tools: [
        tool('good', 'Good', {}, async () => ({ content: [] })),
        tool('bad', 'Bad', { at: z.custom<Date>().transform((value) => value), map: z.map(z.string(), z.string()) }, async () => ({
          content: [],
        })),
      ],
    });
    const { session, server, of } = await scene([[text('hi')]], { mcpServers: { s: unsayable } });
    await session.send('go').done;
    expect(toolNamesOf(server.requests[0]?.body ?? {})).toEqual(['mcp__s__good']);
    expect(
      of('notice')
        .map(({ message }) => message)
        .join('\n'),
    ).toMatch(/The tool bad of the server s is left out/);
  });

  it('may be a server of the official SDK that the program made itself', async () => {
    const own = new McpServer({ name: 'own', version: '1' });
    own.registerTool('hello', { description: 'Greets', inputSchema: { name: z.string() } }, ({ name }) => ({
      content: [{ type: 'text', text: `Hello ${name}` }],
    }));
    const { session, results } = await scene([[toolUse('mcp__own__hello', { name: 'you' })], [text('done')]], {
      mcpServers: { own: { type: 'sdk', name: 'own', instance: own } },
      permissions: { allow: ['mcp__own'] },
    });
    await session.send('go').done;
    expect(results().get('toolu_1_1')).toEqual({ text: 'Hello you', isError: false });
  });
});
