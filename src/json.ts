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
