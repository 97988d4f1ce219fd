import type { ChainEntry } from './entries.js';

/** The uuids of answers' entries that do not count: those of an abandoned generation. What came later under the same id counts. */
export function discardedEntries(entries: readonly ChainEntry[]): ReadonlySet<string> {
  const found = new Set<string>();
  const discarded = new Set<string>();
  for (const entry of [...entries].reverse()) {
    if (entry.type === 'system' && entry.subtype === 'message_discarded' && entry.messageId !== undefined) discarded.add(entry.messageId);
    else if (entry.type === 'assistant' && entry.message.id !== undefined && discarded.has(entry.message.id)) found.add(entry.uuid);
  }
  return found;
}
