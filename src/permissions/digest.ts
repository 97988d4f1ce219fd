import type { JsonValue } from '../json.js';
import { sha256 } from '../sha256.js';

/** JSON with the keys of every object sorted: equal for equal values, whatever the order they were written in. */
export function canonicalJson(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`).join(',')}}`;
}

const isArray = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

/** What an answer binds to: SHA-256 (hex) of the canonical JSON of exactly the input that was shown. */
export const inputDigest = (input: JsonValue): string => sha256(canonicalJson(input));
