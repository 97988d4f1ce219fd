import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { ToolSchemaError } from './errors.js';

/**
 * The Messages API takes only an object at the root of a tool's input schema and refuses the whole request over a root
 * `oneOf`, `anyOf` or `allOf` (Anthropic docs, define tools). `flattenRoot` folds those into one object that keeps every
 * branch's properties and requires only what every branch requires. It says less than the original, which therefore
 * stays the validator at run time.
 *
 * @throws ToolSchemaError when no branch is an object.
 */
export function flattenRoot(schema: JsonObject): JsonObject {
  const { $schema: _dialect, $id: _id, ...root } = schema;
  const flat = flatten(root, root, 0);
  if (flat === undefined) throw new ToolSchemaError('the root of the input schema is not an object');
  const { $defs, definitions } = root;
  return {
    ...flat,
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}

const MAX_DEPTH = 16;
/** Keywords that `flatten` rewrites; every other one of an object schema is kept as it stands. */
const REWRITTEN = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'oneOf',
  'anyOf',
  'allOf',
  '$ref',
  '$defs',
  'definitions',
]);

/** The schema as one object without root combinators, or undefined when it accepts no object. */
function flatten(schema: JsonObject, root: JsonObject, depth: number): JsonObject | undefined {
  if (depth > MAX_DEPTH) throw new ToolSchemaError('the input schema refers to itself at its root');
  const own = ownPart(schema);
  if (own === undefined) return undefined;
  let result = own;
  if (typeof schema.$ref === 'string') {
    const target = flatten(resolveRef(schema.$ref, root), root, depth + 1);
    if (target === undefined) return undefined;
    result = both(result, target);
  }
  for (const part of schemasIn(schema.allOf)) {
    const flat = flatten(part, root, depth + 1);
    if (flat === undefined) return undefined;
    result = both(result, flat);
  }
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    if (schema[keyword] === undefined) continue;
    const branches = schemasIn(schema[keyword])
      .map((branch) => flatten(branch, root, depth + 1))
      .filter((branch) => branch !== undefined);
    if (branches.length === 0) return undefined;
    result = both(result, either(branches));
  }
  return result;
}

function ownPart(schema: JsonObject): JsonObject | undefined {
  const type = schema.type;
  const objectAllowed = type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'));
  if (!objectAllowed) return undefined;
  const rest = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !REWRITTEN.has(keyword)));
  return objectSchema(propertiesOf(schema), requiredOf(schema), schema.additionalProperties, rest);
}

/** Both hold: all properties, everything that either requires. */
function both(a: JsonObject, b: JsonObject): JsonObject {
  const properties = mergeProperties([a, b], (schemas) => ({ allOf: schemas }));
  const required = [...new Set([...requiredOf(a), ...requiredOf(b)])];
  const { additionalProperties: closedA, ...restA } = a;
  const { additionalProperties: closedB, ...restB } = b;
  // `false` on one side speaks only of the keys it lists; merged, it closes the object over the keys of both.
  return objectSchema(properties, required, closedA === false || closedB === false ? false : (closedA ?? closedB), { ...restB, ...restA });
}

/** One of them holds: all properties, only what each of them requires. */
function either(branches: readonly JsonObject[]): JsonObject {
  const [first, ...others] = branches;
  if (first === undefined) return { type: 'object' };
  const properties = mergeProperties(branches, oneOfValues);
  const required = requiredOf(first).filter((key) => others.every((branch) => requiredOf(branch).includes(key)));
  return objectSchema(properties, required, branches.every((branch) => branch.additionalProperties === false) ? false : undefined, {});
}

function objectSchema(
  properties: JsonObject,
  required: readonly string[],
  additionalProperties: JsonValue | undefined,
  rest: JsonObject,
): JsonObject {
  const { type: _type, properties: _properties, required: _required, ...kept } = rest;
  return {
    type: 'object',
    ...kept,
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...(additionalProperties === undefined ? {} : { additionalProperties }),
  };
}

function mergeProperties(schemas: readonly JsonObject[], combine: (schemas: readonly JsonValue[]) => JsonObject): JsonObject {
  const found = new Map<string, JsonValue[]>();
  for (const schema of schemas) {
    for (const [key, value] of Object.entries(propertiesOf(schema))) {
      const known = found.get(key) ?? [];
      if (!known.some((other) => JSON.stringify(other) === JSON.stringify(value))) known.push(value);
      found.set(key, known);
    }
  }
  return Object.fromEntries([...found].map(([key, values]) => [key, values.length === 1 ? (values[0] ?? {}) : combine(values)]));
}

/** Different schemas of one property: constants become one enum (a discriminator), anything else an `anyOf`. */
function oneOfValues(schemas: readonly JsonValue[]): JsonObject {
  const values = schemas.map((schema) => {
    if (!isJsonObject(schema)) return undefined;
    if (schema.const !== undefined) return [schema.const];
    return Array.isArray(schema.enum) ? (schema.enum as readonly JsonValue[]) : undefined;
  });
  if (!values.every((value) => value !== undefined)) return { anyOf: schemas };
  const all = [...new Set(values.flat())];
  const types = [...new Set(all.map((value) => (value === null ? 'null' : typeof value)))];
  const [type] = types;
  return types.length === 1 && type !== undefined && type !== 'object' ? { type, enum: all } : { enum: all };
}

function propertiesOf(schema: JsonObject): JsonObject {
  return isJsonObject(schema.properties) ? schema.properties : {};
}
function requiredOf(schema: JsonObject): string[] {
  const { required } = schema;
  return Array.isArray(required) ? required.filter((key) => typeof key === 'string') : [];
}
function schemasIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** @throws ToolSchemaError when the reference leads nowhere, or out of the schema. */
export function resolveRef(ref: string, root: JsonObject): JsonObject {
  let target: JsonValue | undefined = root;
  for (const part of ref.replace(/^#\/?/, '').split('/').filter(Boolean)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(target)) target = (target as readonly JsonValue[])[Number(key)];
    else target = isJsonObject(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  }
  if (!ref.startsWith('#') || !isJsonObject(target)) throw new ToolSchemaError(`the input schema refers to ${ref}, which it does not hold`);
  return target;
}
