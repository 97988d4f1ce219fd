/** A value that survives a JSON round trip. Everything that enters a machine's context or an event is one. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
/** A JSON object. Tool inputs, hook payloads and settings arrive as one. */
export interface JsonObject {
  /** A field by its name. */
  readonly [key: string]: JsonValue;
}

/** True for a plain object (not null, not an array): what the Messages API accepts as a tool input. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A copy that shares nothing with the value but its texts: whoever changes the one leaves the other as it is. */
export function copyJson(value: JsonObject): JsonObject;
export function copyJson(value: JsonValue): JsonValue;
export function copyJson(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map((entry) => copyJson(entry));
  // Most objects are flat, and one that is cloned whole is made at once. A field `__proto__` stays one: the clone has it as its own.
  const copy = { ...value };
  for (const [key, entry] of Object.entries(copy)) if (typeof entry === 'object' && entry !== null) copy[key] = copyJson(entry);
  return copy;
}
const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

/** The fields that say something: null is how many languages write "not given". */
export function withoutNulls(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

/** The value that a text is the JSON of; undefined for a text that is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
