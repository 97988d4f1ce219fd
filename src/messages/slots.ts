import { type AnswerName, isSameAnswer } from './answerName.js';
import { isClientToolUse, isToolResult, type LooseBlock, textField } from './blocks.js';
import type { Note } from './note.js';
import type { Piece } from './reusedIds.js';

/** What goes into assembly, in order: a message, or a piece of one (a transcript line). */
export interface Item extends Pick<Piece, 'role' | 'blocks' | 'answer'> {
  /** A prompt that opens a query: whatever the one before it waited for is over. */
  readonly isOpening?: boolean;
  /** Where it came from (a transcript entry's uuid), to be found again by message. */
  readonly origin?: string | undefined;
}

/** One answer of the model and all that follows it until the next answer. The first slot may have no answer. */
export interface Slot {
  assistant: LooseBlock[];
  /** What the user side says beside the results. */
  rest: LooseBlock[];
  system: LooseBlock[];
  /** A query has begun behind the answer: its server calls get no result any more. */
  isOver: boolean;
  readonly assistantOrigins: string[];
  readonly userOrigins: string[];
}

export interface ResultIndex {
  /** The first result of each call, wherever it stands, with its item's position. */
  readonly first: ReadonlyMap<string, { readonly block: LooseBlock; readonly item: number }>;
  readonly notes: readonly Note[];
}

export function indexResults(items: readonly Item[]): ResultIndex {
  const first = new Map<string, { readonly block: LooseBlock; readonly item: number }>();
  const notes: Note[] = [];
  for (const [item, { blocks }] of items.entries()) {
    for (const block of blocks) {
      if (!isToolResult(block)) continue;
      const id = textField(block, 'tool_use_id');
      if (!first.has(id)) first.set(id, { block, item });
      else notes.push({ code: 'duplicate_result', id, block, text: `Set aside: a second result for call ${id}; the first one counts.` });
    }
  }
  return { first, notes };
}

function emptySlot(): Slot {
  return { assistant: [], rest: [], system: [], isOver: false, assistantOrigins: [], userOrigins: [] };
}

/**
 * Groups items into slots. Pieces of one answer come together by its name even when results or prompts were written between them;
 * whatever the user side says while calls are open waits behind their results.
 */
export function buildSlots(items: readonly Item[], results: ResultIndex): Slot[] {
  const slots: Slot[] = [];
  const byMessage = new Map<string, { readonly answer: AnswerName; readonly slot: Slot }>();
  let userSpoke = true;
  for (const [position, item] of items.entries()) {
    const content = item.blocks.filter((block) => !isToolResult(block));
    if (item.role === 'assistant') {
      const { answer } = item;
      const named = answer && byMessage.get(answer.messageId);
      const known = answer && named && isSameAnswer(named.answer, answer) ? named.slot : undefined;
      let slot = known ?? (userSpoke ? undefined : slots.at(-1));
      if (slot === undefined || (known === undefined && !continues(slot, position, results))) {
        slot = emptySlot();
        slots.push(slot);
      }
      // An answer that is delivered again after a reconnect brings nothing new.
      const again =
        known !== undefined && known !== slots.at(-1) ? new Set(known.assistant.map((block) => JSON.stringify(block))) : undefined;
      slot.assistant.push(...content.filter((block) => again?.has(JSON.stringify(block)) !== true));
      if (answer) byMessage.set(answer.messageId, { answer, slot });
      if (item.origin !== undefined) slot.assistantOrigins.push(item.origin);
      userSpoke = false;
      continue;
    }
    const answers = item.blocks.some((block) => results.first.get(textField(block, 'tool_use_id'))?.block === block);
    if (content.length === 0 && !answers) continue;
    const slot = slots.at(-1) ?? emptySlot();
    if (slots.length === 0) slots.push(slot);
    (item.role === 'system' ? slot.system : slot.rest).push(...content);
    if (item.isOpening === true && content.length > 0) slot.isOver = true;
    if (item.origin !== undefined) slot.userOrigins.push(item.origin);
    userSpoke = true;
  }
  return slots;
}

/**
 * Whether an answer that directly follows another belongs to it. It does, unless that one asked for something: calls without a result need
 * it between the two, and results that are there already were sent before this answer came, also where the last lines of an answer were
 * written behind the results of its first calls. Calls that are answered further on were made in parallel.
 */
function continues(slot: Slot, position: number, results: ResultIndex): boolean {
  const calls = slot.assistant.filter(isClientToolUse).map((block) => results.first.get(textField(block, 'id'))?.item);
  return calls.length === 0 || calls.some((item) => item !== undefined && item > position);
}
