import { appendFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

/** A server whose tool leaves a trace, as the tools of the session do. */
const log = process.argv[2] ?? '';
let calls = 0;
const server = new McpServer({ name: 'chaos', version: '1.0.0' });
server.registerTool('trace', { description: 'Leaves a line in a file', inputSchema: { ms: z.number() } }, async ({ ms }) => {
  await new Promise((resolve) => setTimeout(resolve, ms));
  appendFileSync(log, `mcp-${process.pid}-${++calls}\n`);
  return { content: [{ type: 'text', text: 'traced' }] };
});
await server.connect(new StdioServerTransport());
