import { z } from 'zod';
import { isJsonObject } from '../json.js';
import { buildTool } from '../tool/build.js';
import { messageOf, ToolFailure } from '../tool/errors.js';
import type { AnyTool } from '../tool/types.js';
import type { McpConnection } from './connection.js';
import { mapMcpOutput, settleContent } from './content.js';
import type { McpLimits } from './limits.js';

/** Connected servers that offer resources, by name. */
export type ResourceServers = () => ReadonlyMap<string, McpConnection>;

/** The tools by which the model finds and reads the resources of its servers (Claude Code docs, tools reference). */
export const resourceTools = (servers: ResourceServers, limits: McpLimits): readonly AnyTool[] => [
  listResourcesTool(servers, limits),
  readResourceTool(servers, limits),
];

const PASSIVE = { isReadOnly: () => true, isConcurrencySafe: () => true, isDestructive: () => false, idempotent: true, shouldDefer: true };

function listResourcesTool(servers: ResourceServers, limits: McpLimits): AnyTool {
  return buildTool({
    name: 'ListMcpResourcesTool',
    description: 'List the resources that MCP servers offer',
    prompt:
      'Lists the resources of the connected MCP servers: URI, name, type and description of each, with the server that has it. ' +
      '`server` limits the list to one server. Read one with ReadMcpResourceTool.',
    searchHint: 'mcp resources list server documents',
    inputSchema: z.strictObject({ server: z.string().optional().describe('Name of one server; all of them when left out') }),
    ...PASSIVE,
    maxResultSizeChars: limits.resultChars,
    call: async ({ server }, { signal }) => {
      const chosen = server === undefined ? [...servers()] : [[server, find(servers, server)] as const];
      const lists = await Promise.all(
        chosen.map(async ([name, connection]) => {
          try {
            const { items, warnings } = await connection.resources(signal);
            return { resources: items.map((item) => ({ ...item, server: name })), warnings: warnings.map((text) => `${name}: ${text}`) };
          } catch (error) {
            // One server that cannot list must not hide what the others have.
            if (server !== undefined || signal.aborted) throw error;
            return { resources: [], warnings: [`${name}: its resources could not be listed (${messageOf(error)})`] };
          }
        }),
      );
      const warnings = lists.flatMap((list) => list.warnings);
      const resources = lists.flatMap((list) => list.resources);
      return { data: warnings.length === 0 ? { resources } : { resources, warnings } };
    },
  });
}

function readResourceTool(servers: ResourceServers, limits: McpLimits): AnyTool {
  return buildTool({
    name: 'ReadMcpResourceTool',
    description: 'Read a resource of an MCP server',
    prompt:
      'Reads one resource of a connected MCP server by its URI. Text is returned as it is, images are shown, other binary content is ' +
      'saved to a file whose path is returned. ListMcpResourcesTool lists what there is.',
    searchHint: 'mcp resource read uri document',
    inputSchema: z.strictObject({
      server: z.string().describe('Name of the server that has the resource'),
      uri: z.string().describe('URI of the resource'),
    }),
    ...PASSIVE,
    maxResultSizeChars: limits.resultChars,
    call: async ({ server, uri }, { signal, resultsDir, callId }, onProgress) => {
      const { contents } = await find(servers, server).readResource(uri, { signal, onProgress });
      const blocks = contents.map((resource) => (isJsonObject(resource) ? { type: 'resource', resource } : resource));
      return { data: { content: await settleContent(blocks, { dir: resultsDir, prefix: callId }) } };
    },
    mapToolResultToToolResultBlockParam: mapMcpOutput,
  });
}

function find(servers: ResourceServers, name: string): McpConnection {
  const known = servers();
  const connection = known.get(name);
  if (connection) return connection;
  const names = [...known.keys()];
  throw new ToolFailure(
    `No connected MCP server named ${name} has resources.${names.length === 0 ? '' : ` Servers with resources: ${names.join(', ')}.`}`,
  );
}
