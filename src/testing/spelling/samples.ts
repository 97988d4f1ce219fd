import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import { BUILTIN_TOOL_NAMES } from '../../permissions/toolNames.js';
import { anyObjectInput, buildTool } from '../../tool/build.js';
import { findTool, toolInputJSONSchema } from '../../tool/index.js';
import type { AnyTool } from '../../tool/types.js';

/** The smallest input that a tool's schema asks for. */
export function sampleInput(tool: AnyTool): JsonObject {
  const value = sampleOf(toolInputJSONSchema(tool), 0);
  return isJsonObject(value) ? value : {};
}

function sampleOf(schema: unknown, depth: number): JsonValue {
  if (!isJsonObject(schema) || depth > 6) return {};
  if (Array.isArray(schema.enum) && schema.enum[0] !== undefined) return schema.enum[0];
  if (schema.const !== undefined) return schema.const;
  const options = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(options) && options.length > 0) return sampleOf(options[0], depth + 1);
  switch (schema.type) {
    case 'string':
      return schema.format === 'uri'
        ? 'https://example.com/'
        : 'sample'.padEnd(typeof schema.minLength === 'number' ? schema.minLength : 0, '.');
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number'
        ? schema.minimum
        : typeof schema.exclusiveMinimum === 'number'
          ? schema.exclusiveMinimum + 1
          : 1;
    case 'boolean':
      return false;
    case 'array': {
      const length = typeof schema.minItems === 'number' ? schema.minItems : 0;
      return Array.from({ length }, () => sampleOf(schema.items, depth + 1));
    }
    case 'null':
      return null;
  }
  const required: readonly JsonValue[] = Array.isArray(schema.required) ? schema.required : [];
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  return Object.fromEntries(
    required.flatMap((key) => (typeof key === 'string' ? [[key, sampleOf(properties[key], depth + 1)] as const] : [])),
  );
}

/** Whether rules may speak of a tool that the pool does not have: an MCP server's, or one that only other hosts bring. */
const mayStandIn = (name: string): boolean => name.startsWith('mcp__') || BUILTIN_TOOL_NAMES.has(name);

/** A tool in the place of one that is not at hand: takes any object, does nothing. Its calls are judged by the rules alone. */
export function standIn(name: string): AnyTool {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  return buildTool<JsonObject, null>({
    name,
    description: `Stands in for ${name}.`,
    inputSchema: anyObjectInput,
    inputJSONSchema: { type: 'object' },
    call: async () => ({ data: null }),
    // Nobody knows; a server may say so, and then mode plan does not hold its calls.
    isReadOnly: () => true,
    ...(server === undefined || tool === undefined ? {} : { mcp: { server, tool } }),
  });
}

/** The tools with stand-ins for those that the calls name and the pool lacks. */
export function withStandIns(tools: readonly AnyTool[], names: Iterable<string>): readonly AnyTool[] {
  const missing = [...new Set(names)].filter((name) => mayStandIn(name) && findTool(tools, name) === undefined);
  return [...tools, ...missing.map(standIn)];
}
