import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject, JsonValue } from '../../src/json.js';
import type { McpTransportConfig } from '../../src/mcp/index.js';

export interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
}

/** Undefined: the script answers later, by `reply`, or never. */
export type Handler = (request: Request, server: ScriptedMcpServer) => JsonObject | Promise<JsonObject> | undefined;

export const toolInfo = (name: string, more: JsonObject = {}): JsonObject => ({ name, inputSchema: { type: 'object' }, ...more });
export const textResult = (text: string): JsonObject => ({ content: [{ type: 'text', text }] });

/**
 * A server that does what a test says, message by message: it can leave a request open, answer one that was cancelled, or say
 * things that it never declared, which servers made with an SDK do not.
 */
export class ScriptedMcpServer {
  readonly received: Request[] = [];
  readonly notifications: { readonly method: string; readonly params: JsonObject }[] = [];
  connections = 0;
  tools: readonly JsonObject[] = [];
  capabilities: JsonObject = { tools: {} };
  instructions: string | undefined;
  private transport: InMemoryTransport | undefined;
  private readonly handlers = new Map<string, Handler>();

  constructor(tools: readonly JsonObject[] = [], handlers: Readonly<Record<string, Handler>> = {}) {
    this.tools = tools;
    for (const [method, handler] of Object.entries(handlers)) this.on(method, handler);
  }

  on(method: string, handler: Handler): this {
    this.handlers.set(method, handler);
    return this;
  }
  /** Answers every call with the tool's name and arguments. */
  echo(): this {
    return this.on('tools/call', ({ params }) => textResult(`${String(params.name)} ${JSON.stringify(params.arguments)}`));
  }

  get config(): McpTransportConfig {
    return { type: 'transport', connect: () => this.connect() };
  }

  requests(method: string): readonly Request[] {
    return this.received.filter((request) => request.method === method);
  }
  reply(id: number, result: JsonObject): void {
    this.send({ jsonrpc: '2.0', id, result });
  }
  fail(id: number, code: number, message: string, data?: JsonValue): void {
    this.send({ jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } });
  }
  notify(method: string, params: JsonObject = {}): void {
    this.send({ jsonrpc: '2.0', method, params });
  }
  /** The connection breaks. */
  drop(): void {
    void this.transport?.close();
  }

  private connect(): InMemoryTransport {
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    this.connections++;
    this.transport = theirs;
    theirs.onmessage = (message) => void this.take(message);
    void theirs.start();
    return ours;
  }

  private async take(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message)) return;
    const params = (message.params ?? {}) as JsonObject;
    if (!('id' in message)) {
      this.notifications.push({ method: message.method, params });
      return;
    }
    const request = { id: Number(message.id), method: message.method, params };
    this.received.push(request);
    try {
      const handler = this.handlers.get(message.method);
      const result = await (handler ? handler(request, this) : this.standard(message.method));
      if (result !== undefined) this.reply(request.id, result);
    } catch (error) {
      this.fail(request.id, -32603, error instanceof Error ? error.message : String(error));
    }
  }

  private standard(method: string): JsonObject {
    if (method === 'initialize') {
      return {
        protocolVersion: '2025-06-18',
        capabilities: this.capabilities,
        serverInfo: { name: 'scripted', version: '1' },
        ...(this.instructions === undefined ? {} : { instructions: this.instructions }),
      };
    }
    if (method === 'tools/list') return { tools: this.tools };
    throw new Error(`The scripted server has no answer to ${method}.`);
  }

  private send(message: JSONRPCMessage): void {
    void this.transport?.send(message);
  }
}

/** Names in the `tools` of each request that a scripted model got. */
export const toolNamesOf = (body: JsonObject): readonly string[] =>
  Array.isArray(body.tools) ? body.tools.flatMap((tool: JsonValue) => (isNamed(tool) ? [tool.name] : [])) : [];

const isNamed = (value: unknown): value is { readonly name: string } =>
  typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';

/** Lets everything that is ready run: promises only, no timers. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  await new Promise((resolve) => setImmediate(resolve));
}
