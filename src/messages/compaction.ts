import { blocksOf, isClientToolUse, isServerToolResult, isServerToolUse, isToolResult, looseMessage, textField } from './blocks.js';
import type { ChainEntry } from './entries.js';
import { normalizeWithNotes } from './normalize.js';
import { openCallsOf } from './resume.js';
import type { ContentBlockParam, MessageParam } from './types.js';

/**
 * Where to cut a history for compaction: messages before the index go into the summary, those from it on stay. At least `keep` messages
 * stay; more where the cut would part a call from its result (the client's or the server's). 0 means that there is nothing to summarise now.
 */
export function chooseCut(messages: readonly MessageParam[], keep: number): number {
  const open = openBefore(messages);
  for (let cut = messages.length - Math.max(keep, 0); cut > 0; cut--) {
    if (open[cut] === 0 && messages[cut]?.role !== 'system') return cut;
  }
  return 0;
}

/** For each index (and the end), how many calls before it have their result at it or later, or not yet. */
function openBefore(messages: readonly MessageParam[]): number[] {
  const open = new Set<string>();
  const counts = [0];
  for (const message of messages) {
    for (const block of looseMessage(message).blocks) {
      if (isClientToolUse(block) || isServerToolUse(block)) open.add(textField(block, 'id'));
      else if (isToolResult(block) || isServerToolResult(block)) open.delete(textField(block, 'tool_use_id'));
    }
    counts.push(open.size);
  }
  return counts;
}

/** The history after compaction: the summary is the first thing in it, and the kept messages follow unchanged. */
export function compactMessages(messages: readonly MessageParam[], cut: number, summary: string): MessageParam[] {
  const kept = messages.slice(cut);
  const opening: ContentBlockParam = { type: 'text', text: summary };
  const [first, ...rest] = kept;
  if (first?.role !== 'user') return [{ role: 'user', content: [opening] }, ...kept];
  const content: readonly ContentBlockParam[] = typeof first.content === 'string' ? [{ type: 'text', text: first.content }] : first.content;
  return [{ role: 'user', content: [opening, ...content] }, ...rest];
}

export const CLEARED_RESULT = '[Old tool result cleared]';

/**
 * Replaces the contents of all but the newest `keepN` tool results by a placeholder. Calls, ids, error flags and order stay, so the
 * history stays sendable. Already cleared results count as old, so clearing twice changes nothing.
 */
export function clearOldToolResults(messages: readonly MessageParam[], keepN: number): MessageParam[] {
  const total = messages.reduce((sum, message) => sum + blocksOf(message.content).filter(isToolResult).length, 0);
  let toClear = Math.max(0, total - Math.max(0, keepN));
  return messages.map((message) => {
    if (message.role !== 'user' || typeof message.content === 'string' || toClear === 0) return message;
    const content = message.content.map((block) => {
      if (block.type !== 'tool_result' || toClear === 0) return block;
      toClear -= 1;
      return { ...block, content: CLEARED_RESULT };
    });
    return { ...message, content };
  });
}

export interface CompactionPlan {
  /** What the summary has to cover. */
  readonly summarize: readonly MessageParam[];
  /** For `Transcript.appendCompaction`: where the kept part begins; absent when nothing is kept. */
  readonly keepFromUuid?: string;
}

/** {@link chooseCut} for a transcript's conversation. Undefined when nothing can be summarised now: ask again after the next result. */
export function planCompaction(chain: readonly ChainEntry[], keep: number): CompactionPlan | undefined {
  const { messages, origins } = normalizeWithNotes(chain);
  const open = new Set(openCallsOf(chain, []).map((call) => call.id));
  // Results that normalizing makes up for running calls are not there yet.
  const running = messages.findIndex((message) => looseMessage(message).blocks.some((block) => open.has(textField(block, 'id'))));
  const settled = running === -1 ? messages.length : running;
  const cut = chooseCut(messages, Math.max(keep, messages.length - settled));
  if (cut === 0) return undefined;
  const keepFromUuid = origins[cut]?.[0];
  const summarize = messages.slice(0, cut);
  if (cut === messages.length) return { summarize };
  return keepFromUuid === undefined ? undefined : { summarize, keepFromUuid };
}
