import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../json.js';
import { schemaProblem } from './compile-schema.js';
import { inCurrentDialect } from './dialect.js';
import { messageOf, ToolSchemaError } from './errors.js';
import { flattenRoot } from './flatten-schema.js';
import { withTargets } from './references.js';
import type { AnyTool } from './types.js';
import { collectMade } from './zod-parts.js';

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
    const schema = tool.inputJSONSchema === undefined ? flattenRoot(fromZod(tool.inputSchema)) : fromElsewhere(tool.inputJSONSchema);
    const unspeakable = Object.keys(isJsonObject(schema.properties) ? schema.properties : {}).find((key) => !PROPERTY_KEY.test(key));
    if (unspeakable !== undefined)
      throw new ToolSchemaError(
        `the API takes property names of 1 to 64 letters, digits, _, . and - only, not ${JSON.stringify(unspeakable)}`,
      );
    cache.set(tool, schema);
    return schema;
  } catch (error) {
    throw new ToolSchemaError(`The input schema of tool ${tool.name} cannot be sent to the model: ${messageOf(error)}`);
  }
}

/** One property of another name makes the API refuse the whole request (Messages API, error of status 400). */
export const PROPERTY_KEY = /^[a-zA-Z0-9_.-]{1,64}$/;

/** A schema that was not made here may be of any dialect, or no schema at all. */
function fromElsewhere(schema: JsonObject): JsonObject {
  const sent = withTargets(flattenRoot(inCurrentDialect(schema)), schema);
  const problem = schemaProblem(sent);
  if (problem !== undefined) throw new ToolSchemaError(`it is not valid JSON Schema 2020-12: ${problem}`);
  return sent;
}

/** Types of zod that no JSON value belongs to. Sent as "anything", every call of the tool would fail; in a union another branch may do. */
const UNSAYABLE: ReadonlySet<string> = new Set(['date', 'map', 'set', 'bigint', 'symbol', 'function', 'promise']);

const placeIn = (path: readonly (string | number)[]): string =>
  path.filter((step, index) => step !== 'properties' || path[index - 1] === 'properties').join('.') || 'the root';

function fromZod(schema: z.ZodType): JsonObject {
  if (!('_zod' in schema))
    throw new ToolSchemaError(
      'it is not a schema of zod 4: import `z` from "zod" in version 4, or give `z.looseObject({})`, and a JSON Schema as `inputJSONSchema`',
    );
  const unsayable = new Map<object, string>();
  const made = new Set<object>();
  const json: unknown = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema, path }) => {
      const { def } = zodSchema._zod;
      if ('coerce' in def && def.coerce === true) {
        if (def.type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' });
      } else if (UNSAYABLE.has(def.type) && !path.includes('anyOf')) {
        unsayable.set(
          zodSchema,
          `no JSON can be the ${def.type} at ${placeIn(path)}; take what JSON has, and make it into one in \`call\``,
        );
      }
      collectMade(def, made);
      // The bounds of a safe integer say nothing to a model and cost tokens in every request.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  for (const [part, problem] of unsayable) if (!made.has(part)) throw new ToolSchemaError(problem);
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
