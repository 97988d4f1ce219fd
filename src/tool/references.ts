import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { inCurrentDialect } from './dialect.js';
import { resolveRef } from './flatten-schema.js';

/**
 * Gives a rewritten schema the parts that its references name by a place which the rewriting took away (`#/oneOf/0/properties/a`,
 * `#/properties/p/items/0`): they move to `$defs`, and the references follow.
 */
export function withTargets(rewritten: JsonObject, original: JsonObject): JsonObject {
  const taken = isJsonObject(rewritten.$defs) ? rewritten.$defs : {};
  const moved = new Map<string, { readonly name: string; schema: JsonObject }>();
  const isGone = (ref: string): boolean => ref.startsWith('#') && !resolves(ref, rewritten) && resolves(ref, original);
  const follow = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(follow);
    if (!isJsonObject(value)) return value;
    const { $ref: ref } = value;
    const rest = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, follow(member)]));
    return typeof ref === 'string' && isGone(ref) ? { ...rest, $ref: `#/$defs/${move(ref)}` } : rest;
  };
  const move = (ref: string): string => {
    const known = moved.get(ref);
    if (known !== undefined) return known.name;
    let name = `moved${moved.size + 1}`;
    while (Object.hasOwn(taken, name)) name += '_';
    const entry = { name, schema: {} };
    moved.set(ref, entry);
    const schema = follow(inCurrentDialect(resolveRef(ref, original)));
    if (isJsonObject(schema)) entry.schema = schema;
    return entry.name;
  };
  const followed = follow(rewritten);
  if (moved.size === 0 || !isJsonObject(followed)) return rewritten;
  const defs = isJsonObject(followed.$defs) ? followed.$defs : {};
  return { ...followed, $defs: { ...defs, ...Object.fromEntries([...moved.values()].map(({ name, schema }) => [name, schema])) } };
}

function resolves(ref: string, root: JsonObject): boolean {
  try {
    resolveRef(ref, root);
    return true;
  } catch {
    return false;
  }
}
