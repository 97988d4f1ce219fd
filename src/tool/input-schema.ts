import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../json.js';
import { messageOf, ToolSchemaError } from './errors.js';
import { flattenRoot } from './flatten-schema.js';
import type { AnyTool } from './types.js';

const cache = new WeakMap<object, JsonObject>();

/**
 * The JSON Schema that goes to the model as the tool's `input_schema`: an object at the root, in the form of what the model
 * writes (a field with a default is not required), without `$schema`. Byte-stable for one tool.
 *
 * @throws ToolSchemaError naming the tool when its schema cannot be sent.
 */
export function toolInputJSONSchema(tool: AnyTool): JsonObject {
  const known = cache.get(tool);
  if (known !== undefined) return known;
  try {
    const schema = flattenRoot(tool.inputJSONSchema ?? fromZod(tool.inputSchema));
    cache.set(tool, schema);
    return schema;
  } catch (error) {
    throw new ToolSchemaError(`The input schema of tool ${tool.name} cannot be sent to the model: ${messageOf(error)}`);
  }
}

function fromZod(schema: z.ZodType): JsonObject {
  const json: unknown = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // The bounds of a safe integer say nothing to a model and cost tokens in every request.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  // A JSON round trip drops what is not JSON (undefined members, the `~standard` accessor).
  const plain: unknown = JSON.parse(JSON.stringify(json));
  if (!isJsonObject(plain)) throw new ToolSchemaError('it is not a JSON object');
  return plain;
}

/** The property names that the schema knows at `path`; empty where it leaves them open. */
export function knownKeysAt(schema: JsonObject, path: readonly PropertyKey[]): string[] {
  let current: unknown = schema;
  for (const step of path) {
    if (!isJsonObject(current)) return [];
    if (typeof step === 'number') current = current.items;
    else current = isJsonObject(current.properties) ? current.properties[String(step)] : undefined;
  }
  return isJsonObject(current) && isJsonObject(current.properties) ? Object.keys(current.properties) : [];
}
