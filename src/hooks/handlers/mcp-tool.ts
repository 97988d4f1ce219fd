import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import type { McpToolHandler } from '../config-types.js';
import type { RawOutcome } from '../effects.js';
import { bounded, type HandlerCall } from '../handler.js';

/** Calls a tool of a connected MCP server; its text is read like a command's stdout. */
export function runMcpTool(call: HandlerCall<McpToolHandler>): Promise<RawOutcome> {
  const { handler, ports } = call;
  const port = ports.mcpTool;
  if (port === undefined) return Promise.resolve({ kind: 'failed', message: 'This session has no MCP servers to call.' });
  return bounded(call, async (signal) => {
    const input = substitute(handler.input ?? {}, call.payload);
    const answer = await port({ server: handler.server, tool: handler.tool, input: isJsonObject(input) ? input : {}, signal });
    if (answer.isError) return { kind: 'failed', message: `The MCP tool reported an error: ${answer.text}`, output: answer.text };
    return { kind: 'text', text: answer.text, overflow: false };
  });
}

/** Replaces `${a.b.c}` in every string by that field of the payload: text as it is, anything else as JSON, a missing field by nothing. */
export function substitute(template: JsonValue, payload: JsonObject): JsonValue {
  if (typeof template === 'string') {
    return template.replace(/\$\{([A-Za-z0-9_.]+)\}/g, (_, path: string) => {
      const value = path
        .split('.')
        .reduce<JsonValue | undefined>((at, key) => (isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined), payload);
      if (value === undefined) return '';
      return typeof value === 'string' ? value : JSON.stringify(value);
    });
  }
  if (Array.isArray(template)) return template.map((entry: JsonValue) => substitute(entry, payload));
  if (isJsonObject(template)) return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, substitute(value, payload)]));
  return template;
}
