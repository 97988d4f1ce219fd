import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonValue } from '../json.js';
import type { InputChange } from './types.js';

/**
 * Compares a tool's input before and after a rewrite, key by key. A rewrite that is not an object drops every key; the
 * schema will refuse it.
 */
export function describeInputChange(before: JsonValue, after: JsonValue): InputChange {
  const old = isJsonObject(before) ? before : {};
  const next = isJsonObject(after) ? after : {};
  const kept = Object.keys(old).filter((key) => Object.hasOwn(next, key));
  return {
    dropped: Object.keys(old).filter((key) => !Object.hasOwn(next, key)),
    changed: kept.filter((key) => !isDeepStrictEqual(old[key], next[key])),
    added: Object.keys(next).filter((key) => !Object.hasOwn(old, key)),
  };
}
