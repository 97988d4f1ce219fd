import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { PROPERTY_KEY } from '../tool/input-schema.js';

export interface SpeakableSchema {
  /** The schema with every property of the input under a name that the API takes. */
  readonly schema: JsonObject;
  /** The input as the server knows it. */
  readonly restore: (input: JsonObject) => JsonObject;
}

const MAX_KEY = 64;
/** Keywords whose schemas speak of the same object. */
const LISTS = ['allOf', 'anyOf', 'oneOf'] as const;
const SINGLES = ['if', 'then', 'else', 'not'] as const;

/**
 * Renames the properties of a tool's input whose names the Messages API does not take (`$filter`, `X-Api-Version[]`): it would refuse
 * every request that holds such a tool. The names are the same in every session, no two alike, and nothing is renamed that need not be.
 */
export function speakableProperties(schema: JsonObject): SpeakableSchema {
  const names = new Set<string>();
  collect(schema, names);
  const renamed = new Map<string, string>();
  for (const name of [...names].filter((key) => !PROPERTY_KEY.test(key)).sort()) {
    const plain = name.replace(/[^a-zA-Z0-9_.-]/gu, '_').slice(0, MAX_KEY) || '_';
    let safe = plain;
    for (let n = 2; names.has(safe); n++) safe = `${plain.slice(0, MAX_KEY - String(n).length - 1)}_${n}`;
    names.add(safe);
    renamed.set(name, safe);
  }
  if (renamed.size === 0) return { schema, restore: (input) => input };
  const original = new Map([...renamed].map(([name, safe]) => [safe, name]));
  return {
    schema: rename(schema, (name) => renamed.get(name) ?? name),
    restore: (input) => Object.fromEntries(Object.entries(input).map(([key, value]) => [original.get(key) ?? key, value])),
  };
}

function collect(schema: JsonObject, into: Set<string>): void {
  if (isJsonObject(schema.properties)) for (const name of Object.keys(schema.properties)) into.add(name);
  for (const part of parts(schema)) collect(part, into);
}

function parts(schema: JsonObject): readonly JsonObject[] {
  const listed = LISTS.flatMap((keyword): readonly JsonValue[] => (Array.isArray(schema[keyword]) ? schema[keyword] : []));
  return [...listed, ...SINGLES.map((keyword) => schema[keyword])].filter(isJsonObject);
}

function rename(schema: JsonObject, to: (name: string) => string): JsonObject {
  const part = (value: JsonValue): JsonValue => (isJsonObject(value) ? rename(value, to) : value);
  const strings = (value: JsonValue): JsonValue =>
    Array.isArray(value) ? value.map((name: JsonValue) => (typeof name === 'string' ? to(name) : name)) : value;
  const keyed = (value: JsonValue, inside: (member: JsonValue) => JsonValue): JsonValue =>
    isJsonObject(value) ? Object.fromEntries(Object.entries(value).map(([name, member]) => [to(name), inside(member)])) : value;
  const changes: Record<string, (value: JsonValue) => JsonValue> = {
    properties: (value) => keyed(value, (member) => member),
    required: strings,
    dependentRequired: (value) => keyed(value, strings),
    dependentSchemas: (value) => keyed(value, part),
    dependencies: (value) => keyed(value, (member) => (Array.isArray(member) ? strings(member) : part(member))),
    ...Object.fromEntries(LISTS.map((keyword) => [keyword, (value: JsonValue) => (Array.isArray(value) ? value.map(part) : value)])),
    ...Object.fromEntries(SINGLES.map((keyword) => [keyword, part])),
  };
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [
      keyword,
      Object.hasOwn(changes, keyword) ? (changes[keyword]?.(value) ?? value) : value,
    ]),
  );
}
