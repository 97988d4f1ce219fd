import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { messageOf } from '../tool/errors.js';
import type { McpSdkServerConfig } from './config.js';

/** A tool of an in-process server. Shape of the Agent SDK's `tool()`. */
export interface SdkMcpToolDefinition<Shape extends z.ZodRawShape = z.ZodRawShape> extends SdkToolExtras {
  /** The tool's name within its server. */
  readonly name: string;
  /** What the model is told of it. */
  readonly description: string;
  /** Its arguments as a zod shape: `{ a: z.number() }`. */
  readonly inputSchema: Shape;
  /** Does the work. What it throws becomes an error result. */
  handler(args: z.output<z.ZodObject<Shape>>, extra: unknown): Promise<CallToolResult> | CallToolResult;
}

/** What a tool of an in-process server may say beside its arguments. */
export interface SdkToolExtras {
  /** Of these only `readOnlyHint` changes how calls run: calls of a read-only tool may overlap. */
  readonly annotations?: ToolAnnotations;
  /** Words by which a search for tools finds it. */
  readonly searchHint?: string;
  /** Send the tool in full, however many there are. */
  readonly alwaysLoad?: boolean;
}

/** Defines a tool of an in-process server: name, description, its arguments as a zod shape, and a handler that answers in MCP's terms. */
export function tool<Shape extends z.ZodRawShape>(
  name: string,
  description: string,
  inputSchema: Shape,
  handler: (args: z.output<z.ZodObject<Shape>>, extra: unknown) => Promise<CallToolResult> | CallToolResult,
  extras: SdkToolExtras = {},
): SdkMcpToolDefinition<Shape> {
  return { name, description, inputSchema, handler, ...extras };
}

/** What an in-process MCP server is made of. */
export interface SdkMcpServerOptions {
  /** The name the server gives itself. Its tools are called by its key in `mcpServers`: `mcp__<key>__<tool>`. */
  readonly name: string;
  /** Told to the client. Default `1.0.0`. */
  readonly version?: string;
  /** Told to the model when the server is connected. */
  readonly instructions?: string;
  /** Its tools, made with `tool`. Default none. */
  // biome-ignore lint/suspicious/noExplicitAny: a list of tools with different arguments needs the one existential TypeScript lacks
  readonly tools?: readonly SdkMcpToolDefinition<any>[];
  /** Send its tools in full, however many there are. Default false. */
  readonly alwaysLoad?: boolean;
  /** Limit of one call in milliseconds. */
  readonly timeout?: number;
}

/**
 * Makes an embedding program's tools an MCP server in this process, for `createSession({ mcpServers })`. A handler that throws
 * yields an error result, and the loop goes on. A tool whose arguments no JSON Schema can say is left out with a warning.
 */
export function createSdkMcpServer(options: SdkMcpServerOptions): McpSdkServerConfig {
  const { name, alwaysLoad, timeout, tools = [] } = options;
  const usable = tools.map((one) => ({ one, problem: schemaProblem(one) }));
  const create = () =>
    build(
      options,
      usable.flatMap(({ one, problem }) => (problem === undefined ? [one] : [])),
    );
  return {
    type: 'sdk',
    name,
    instance: create(),
    create,
    alwaysLoad,
    timeout,
    warnings: usable.flatMap(({ one, problem }) =>
      problem === undefined ? [] : [`The tool ${one.name} of the server ${name} is left out: ${problem}`],
    ),
  };
}

function schemaProblem({ inputSchema }: SdkMcpToolDefinition): string | undefined {
  try {
    z.toJSONSchema(z.object(inputSchema), { io: 'input' });
    return undefined;
  } catch (error) {
    return `its arguments cannot be said in JSON Schema (${messageOf(error)})`;
  }
}

function build({ name, version = '1.0.0', instructions }: SdkMcpServerOptions, tools: readonly SdkMcpToolDefinition[]): McpServer {
  const server = new McpServer({ name, version }, instructions === undefined ? {} : { instructions });
  for (const { name: toolName, description, inputSchema, handler, annotations, searchHint, alwaysLoad } of tools) {
    const meta = {
      ...(searchHint === undefined ? {} : { 'anthropic/searchHint': searchHint }),
      ...(alwaysLoad === true ? { 'anthropic/alwaysLoad': true } : {}),
    };
    server.registerTool(
      toolName,
      { description, inputSchema, _meta: meta, ...(annotations === undefined ? {} : { annotations }) },
      (args, extra) => handler(args, extra),
    );
  }
  return server;
}
