import { type Assembled, type AssembleOptions, assemble } from './assemble.js';
import { deliveredNotificationId, renderAttachment } from './attachments.js';
import { blocksOf, isToolResult, textField } from './blocks.js';
import { discardedEntries } from './discarded.js';
import { answerNameOf, type ChainEntry, WRITER } from './entries.js';
import type { Note } from './note.js';
import type { Item } from './slots.js';
import type { MessageParam } from './types.js';

/**
 * Transcript entries (one branch, oldest first) as the `messages` of the next request.
 *
 * Lines of one answer become one assistant message; all results of a turn one user message in call order, results first, then what the
 * person typed and what the runtime has to say. Local commands, API error notices and discarded answers stay out.
 *
 * Entries that are appended later never change the messages of a request that was already sent, provided that what the user side says
 * is written when it is delivered (not when it was queued) and a turn's results before the next answer.
 */
export function normalizeMessagesForAPI(entries: readonly ChainEntry[], options: Partial<AssembleOptions> = {}): MessageParam[] {
  return normalizeWithNotes(entries, options).messages;
}

/** {@link normalizeMessagesForAPI} with all it set aside or made up, and each message's entries by uuid. */
export function normalizeWithNotes(entries: readonly ChainEntry[], options: Partial<AssembleOptions> = {}): Assembled {
  const { items, notes } = itemsOf(entries);
  const assembled = assemble(items, { trailing: 'keep', ...options });
  return { ...assembled, notes: [...notes, ...assembled.notes] };
}

function itemsOf(entries: readonly ChainEntry[]): { readonly items: readonly Item[]; readonly notes: readonly Note[] } {
  const notes: Note[] = [];
  const items: Item[] = [];
  const discarded = discardedEntries(entries);
  const discardedCalls = new Set<string>();
  const seen = new Set<string>();
  const told = new Set<string>();
  for (const entry of entries) {
    if (seen.has(entry.uuid)) continue;
    seen.add(entry.uuid);
    const origin = entry.uuid;
    if (entry.type === 'assistant') {
      if (isLocalAnswer(entry)) continue;
      const { id, content } = entry.message;
      const blocks = blocksOf(content);
      if (discarded.has(entry.uuid)) {
        for (const block of blocks) {
          if (block.type === 'tool_use') discardedCalls.add(textField(block, 'id'));
          notes.push({ code: 'discarded_message', block, text: `Left out: a block of answer ${id}, which was discarded.` });
        }
        continue;
      }
      for (const block of blocks) if (block.type === 'tool_use') discardedCalls.delete(textField(block, 'id'));
      items.push({ role: 'assistant', answer: answerNameOf(entry), origin, blocks });
    } else if (entry.type === 'user') {
      if (entry.isVisibleInTranscriptOnly === true) continue;
      const blocks = blocksOf(entry.message.content);
      // The results of a discarded answer go with it; their calls are not in the history.
      items.push({
        role: 'user',
        origin,
        // Entries of ours without a prompt's id are results and marks.
        isOpening: entry.isMeta !== true && (entry.promptId !== undefined || entry.writer !== WRITER),
        blocks: blocks.filter((block) => !isToolResult(block) || !discardedCalls.has(textField(block, 'tool_use_id'))),
      });
    } else if (entry.type === 'attachment') {
      const notification = deliveredNotificationId(entry);
      if (notification !== undefined && told.has(notification)) continue;
      if (notification !== undefined) told.add(notification);
      items.push({ role: 'user', origin, blocks: renderAttachment(entry.attachment) });
    }
  }
  return { items, notes };
}

/** Notices that a client shows in the place of an answer; no model wrote them. */
function isLocalAnswer(entry: Extract<ChainEntry, { type: 'assistant' }>): boolean {
  return entry.isApiErrorMessage === true || entry.message.model === '<synthetic>';
}
