import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { text, toolUse } from '../../src/testing/index.js';
import { scene } from '../support/sessions.js';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listen(handler: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(handler);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

function greeter(seen: string[] = []): McpServer {
  const server = new McpServer({ name: 'greeter', version: '1' });
  server.registerTool('hello', { description: 'Greets', inputSchema: { name: z.string() } }, ({ name }, { requestInfo }) => {
    seen.push(String(requestInfo?.headers.authorization ?? ''));
    return { content: [{ type: 'text', text: `Hello ${name}` }] };
  });
  return server;
}

const play = (url: string, type: 'http' | 'sse', path: string) =>
  scene([[toolUse('mcp__remote__hello', { name: 'you' })], [text('done')]], {
    mcpServers: { remote: { type, url: `${url}${path}`, headers: { Authorization: 'Bearer t' } } },
    mcpStartupWaitMs: 30_000,
    permissions: { allow: ['mcp__remote'] },
  });

describe('a server behind a URL', () => {
  it('is spoken to over streamable HTTP, with the headers it was given', async () => {
    const seen: string[] = [];
    const url = await listen(async (request, response) => {
      const transport = new StreamableHTTPServerTransport({});
      await greeter(seen).connect(transport as Transport);
      await transport.handleRequest(request, response);
    });
    const { session, results } = await play(url, 'http', '/mcp');
    await session.send('go').done;
    expect(results().get('toolu_1_1')).toEqual({ text: 'Hello you', isError: false });
    expect(seen).toEqual(['Bearer t']);
  });

  it('is spoken to over SSE where it knows nothing newer', async () => {
    let transport: SSEServerTransport | undefined;
    const url = await listen(async (request, response) => {
      if (request.method === 'GET') {
        transport = new SSEServerTransport('/messages', response);
        await greeter().connect(transport);
      } else if (request.url?.startsWith('/messages')) await transport?.handlePostMessage(request, response);
      else response.writeHead(405).end();
    });
    const { session, results } = await play(url, 'http', '/sse');
    await session.send('go').done;
    expect(results().get('toolu_1_1')).toEqual({ text: 'Hello you', isError: false });
  });

  it.each(['application/json', 'text/event-stream'])('need not keep to the protocol to the letter to be understood: %s', async (type) => {
    const url = await listen((request, response) => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
        if (id === undefined) return void response.writeHead(202).end();
        const results: Record<string, unknown> = {
          initialize: {
            protocolVersion: params?.protocolVersion,
            capabilities: { tools: {}, prompts: null },
            serverInfo: { name: 'x', version: '1' },
            instructions: null,
          },
          'tools/list': { tools: [{ name: 'hello', inputSchema: { type: 'object' } }], nextCursor: null, _meta: null },
          'tools/call': { content: [{ type: 'text', text: 'Grüße' }], isError: null, _meta: null },
        };
        const answer = JSON.stringify({ jsonrpc: '2.0', id, result: results[method], error: null });
        response.setHeader('content-type', `${type}; charset=utf-8`);
        if (type === 'application/json') return void response.end(answer);
        const event = Buffer.from(`event: message\r\ndata: ${answer}\r\n\r\n`);
        const middle = event.indexOf('ü') + 1 || 9;
        response.write(event.subarray(0, middle));
        setImmediate(() => response.end(event.subarray(middle)));
      });
    });
    const { session, results } = await play(url, 'http', '/mcp');
    await session.send('go').done;
    expect(results().get('toolu_1_1')).toEqual({ text: 'Grüße', isError: false });
  });

  it('that refuses or is not there fails with the reason', async () => {
    const url = await listen((_, response) => response.writeHead(401).end('who are you?'));
    const { session, of } = await play(url, 'http', '/mcp');
    await session.send('go').done;
    expect(of('session.started')[0]?.servers).toMatchObject([
      { name: 'remote', status: 'failed', detail: expect.stringMatching(/HTTP 401.*who are you.*`headers`/) },
    ]);
  });
});
