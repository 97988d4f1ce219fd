/**
 * Tools behind the Model Context Protocol, served in this process. A server that is a program or an address is written in its place:
 * `{ command: 'npx', args: ['-y', 'some-server'] }`, `{ type: 'http', url: 'https://…' }`, or in `.mcp.json`.
 * Run it: `ANTHROPIC_API_KEY=… npx tsx examples/mcp.ts`
 */
import { createSdkMcpServer, createSession, tool } from 'sixgates';
import { z } from 'zod';

const notes: string[] = [];
const notebook = createSdkMcpServer({
  name: 'notebook',
  instructions: 'Notes are kept for this session only.',
  tools: [
    tool('add', 'Writes a note down.', { text: z.string() }, async ({ text }) => {
      notes.push(text);
      return { content: [{ type: 'text', text: `Note ${notes.length} is written.` }] };
    }),
    tool('list', 'Reads all notes.', {}, async () => ({ content: [{ type: 'text', text: notes.join('\n') }] }), {
      annotations: { readOnlyHint: true },
    }),
  ],
});

const session = createSession({
  builtInTools: false,
  store: false,
  mcpServers: { notebook },
  strictMcpConfig: true,
  // Rules name a server's tools as mcp__<server>__<tool>.
  permissions: { allow: ['mcp__notebook__add', 'mcp__notebook__list'] },
});
for await (const update of session.send('Note that the meeting is at ten, then read me my notes.')) {
  if (update.type === 'server.status') console.log(`${update.server.name}: ${update.server.status}`);
  if (update.type === 'call.result') console.log(`${update.tool}: ${update.outcome.kind}`);
  if (update.type === 'query.ended') console.log(update.text);
}
await session.close();
