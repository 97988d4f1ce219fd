import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';

/** Keywords by what stands behind them: one schema, a list of schemas, or schemas by name. */
const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set([
  'additionalProperties',
  'additionalItems',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'propertyNames',
  'items',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const LIST_KEYWORDS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']);
const MAP_KEYWORDS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);
/** Keywords whose null is a value like any other. */
const NULL_MEANS_NULL: ReadonlySet<string> = new Set(['default', 'const']);

/**
 * A JSON Schema of an older dialect in the words of 2020-12, which is the only one that the Messages API takes: it refuses a whole
 * request over one tool whose schema is not valid there. Accepts the same values:
 *
 * - tuples (`items` as a list, `additionalItems`), `dependencies`, exclusive bounds as booleans, `required` beside a property instead
 *   of in its object, `$recursiveRef`;
 * - what generators write that no dialect has: null for a keyword that is not set, a tuple of nothing, a name in `required` twice.
 */
export function inCurrentDialect(schema: JsonObject): JsonObject {
  const set = Object.entries(schema).filter(([keyword, value]) => value !== null || NULL_MEANS_NULL.has(keyword));
  return requiredInside(
    tuples(bounds(dependencies(recursion(Object.fromEntries(set.map(([keyword, value]) => [keyword, inside(keyword, value)])))))),
  );
}

function inside(keyword: string, value: JsonValue): JsonValue {
  const current = (one: JsonValue): JsonValue => (isJsonObject(one) ? inCurrentDialect(one) : one);
  if (Array.isArray(value)) {
    const list: readonly JsonValue[] = value;
    return LIST_KEYWORDS.has(keyword) ? list.map(current) : list;
  }
  if (!isJsonObject(value)) return value;
  if (SCHEMA_KEYWORDS.has(keyword)) return inCurrentDialect(value);
  if (MAP_KEYWORDS.has(keyword)) return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, current(one)]));
  return value;
}

function tuples({ additionalItems, ...schema }: JsonObject): JsonObject {
  if (!Array.isArray(schema.items)) return schema;
  const { items, ...rest } = schema;
  return {
    ...rest,
    ...(items.length === 0 ? {} : { prefixItems: items }),
    ...(additionalItems === undefined ? {} : { items: additionalItems }),
  };
}

function bounds(schema: JsonObject): JsonObject {
  let result = schema;
  for (const [bound, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    const { [bound]: limit, [exclusive]: isExclusive, ...rest } = result;
    if (typeof isExclusive !== 'boolean') continue;
    result = limit === undefined ? rest : { ...rest, [isExclusive ? exclusive : bound]: limit };
  }
  return result;
}

function dependencies({ dependencies: old, ...schema }: JsonObject): JsonObject {
  if (old === undefined) return schema;
  if (!isJsonObject(old)) return { ...schema, dependencies: old };
  const entries = Object.entries(old);
  const keys = entries.filter(([, needed]) => Array.isArray(needed));
  const schemas = entries.filter(([, needed]) => !Array.isArray(needed));
  return {
    ...schema,
    ...(keys.length === 0 ? {} : { dependentRequired: Object.fromEntries(keys) }),
    ...(schemas.length === 0 ? {} : { dependentSchemas: Object.fromEntries(schemas) }),
  };
}

function recursion({ $recursiveRef, $recursiveAnchor: _, $schema: _dialect, ...schema }: JsonObject): JsonObject {
  return $recursiveRef === undefined ? schema : { ...schema, $ref: $recursiveRef };
}

/** `required` as a list of names, those included that are marked at the property itself. */
function requiredInside(schema: JsonObject): JsonObject {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const marked = Object.entries(properties).flatMap(([name, one]) =>
    isJsonObject(one) && typeof one.required === 'boolean' ? [[name, one] as const] : [],
  );
  const { required } = schema;
  if (marked.length === 0 && !Array.isArray(required)) return schema;
  const names = new Set<JsonValue>(Array.isArray(required) ? (required as readonly JsonValue[]) : []);
  for (const [name, one] of marked) if (one.required === true) names.add(name);
  const { required: _, ...rest } = schema;
  return {
    ...rest,
    ...(marked.length === 0
      ? {}
      : { properties: { ...properties, ...Object.fromEntries(marked.map(([name, one]) => [name, unmarked(one)])) } }),
    // A mark that this schema's own owner has yet to read stays.
    ...(typeof required === 'boolean' ? { required } : names.size === 0 ? {} : { required: [...names] }),
  };
}

function unmarked({ required: _, ...schema }: JsonObject): JsonObject {
  return schema;
}
