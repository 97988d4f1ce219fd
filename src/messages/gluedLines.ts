import { isJsonObject, type JsonObject, parseJson } from '../json.js';

/** Where an entry may begin: writers put one of these keys first. */
const BEGINNING = /\{"(?:parentUuid|logicalParentUuid|isSidechain|type|uuid|sessionId|timestamp|cwd|message)":/g;
/** Places that are tried in one line: a line of a million beginnings is no transcript. */
const MOST_TRIES = 200;

/**
 * The entries in a line that is not JSON as a whole. A writer that was cut off left no line break, and the next one wrote on behind it; or
 * two wrote at once. Whole entries at the end of the line are taken, else those at its beginning; what is left is lost.
 */
export function entriesInLine(text: string): readonly JsonObject[] {
  const beginnings = [...text.matchAll(BEGINNING)].map(({ index }) => index);
  const found: JsonObject[] = [];
  let end = text.length;
  for (const start of beginnings.slice(-MOST_TRIES).reverse()) {
    const entry = readEntry(text.slice(start, end));
    if (entry === undefined) continue;
    found.unshift(entry);
    end = start;
  }
  if (found.length > 0) return found;
  // What stands before an entry that was cut off ends where that one begins.
  const ends = beginnings.filter((at) => text[at - 1] === '}');
  for (const next of ends.slice(0, MOST_TRIES)) {
    const entry = readEntry(text.slice(0, next));
    if (entry !== undefined) return [entry];
  }
  return [];
}

/** Only what is chained counts: an object inside a damaged entry must not be taken for one. */
function readEntry(text: string): JsonObject | undefined {
  if (!text.trimEnd().endsWith('}')) return undefined;
  const value = parseJson(text);
  return isJsonObject(value) && typeof value.type === 'string' && typeof value.uuid === 'string' && 'parentUuid' in value
    ? value
    : undefined;
}
