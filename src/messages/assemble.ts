import {
  isClientToolUse,
  isContentBlock,
  isLooseBlock,
  isServerToolId,
  isServerToolUse,
  type LooseBlock,
  onlyResultsMayFollow,
  textField,
} from './blocks.js';
import {
  applyFallbackRule,
  cleanAnswerBlock,
  cleanResult,
  cleanSystemBlock,
  cleanUserBlock,
  SYSTEM_PARTS,
  tidy,
  withToolset,
} from './clean.js';
import type { Note } from './note.js';
import { withCallsApart } from './reusedIds.js';
import { asReminders, settle } from './settle.js';
import { buildSlots, type Item, indexResults, type ResultIndex, type Slot } from './slots.js';
import { acceptableCall, createIdMap } from './toolIds.js';
import type { MessageParam, TextBlockParam } from './types.js';

/** A call that nothing answers. */
export interface OpenCall {
  /** The `tool_use` id. */
  readonly id: string;
  /** The tool's name. */
  readonly name: string;
  /** The call's input, as it stands in the history. */
  readonly input: unknown;
}

/** How a history is made sendable. */
export interface AssembleOptions {
  /** The text of the result made up for a call that nothing answers. Must depend on nothing but the call. */
  readonly unanswered?: (call: OpenCall) => string;
  /** What to do with an answer at the end: leave it (a prompt will follow), or close with a prompt to continue. */
  readonly trailing: 'keep' | 'prompt';
}

export interface Assembled {
  readonly messages: MessageParam[];
  /** For each message, the origins of the items it was made of. */
  readonly origins: readonly (readonly string[])[];
  readonly notes: readonly Note[];
}

export const UNKNOWN_OUTCOME =
  'No result of this call was recorded. It may have run in part, fully or not at all; its outcome is unknown. Check before repeating it.';
export const MISSING_BEGINNING = '[The beginning of this conversation is missing.]';
export const CONTINUE = 'Continue from where you left off.';

/** Builds messages the API takes out of pieces in whatever state. Total, deterministic, and the identity on good histories. */
export function assemble(given: readonly Item[], options: AssembleOptions): Assembled {
  const notes: Note[] = [];
  const remark = (note: Note) => {
    notes.push(note);
  };
  const items = withCallsApart(given, remark);
  const index = indexResults(items);
  notes.push(...index.notes);
  const slots = buildSlots(items, index);
  const history: History = { calls: new Set(), replies: new Map(), results: index.first, mapId: createIdMap(), remark };
  for (const slot of slots) cleanSlot(slot, history);
  const settled = settle(slots, remark);
  noteOrphans(settled, history);
  return { ...emit(settled, history, options), notes };
}

/** What assembly knows of all slots at once. */
interface History {
  /** Ids of calls seen so far, as they were written. */
  readonly calls: Set<string>;
  /** Clean results by acceptable id. */
  readonly replies: Map<string, LooseBlock>;
  readonly results: ResultIndex['first'];
  readonly mapId: (id: string) => string;
  readonly remark: (note: Note) => void;
}

function cleanSlot(slot: Slot, { calls, replies, results, mapId, remark }: History): void {
  const assistant: LooseBlock[] = [];
  const rest: LooseBlock[] = [];
  for (const block of applyFallbackRule(slot.assistant, remark)) {
    if (!isClientToolUse(block)) {
      const clean = cleanAnswerBlock(block, remark);
      if (clean !== undefined) assistant.push(clean);
      continue;
    }
    const original = textField(block, 'id');
    if (original === '' || calls.has(original)) {
      const text =
        original === '' ? 'Set aside: a call without an id.' : `Set aside: call ${original} appears twice; the first one counts.`;
      remark({ code: 'duplicate_call', id: original, block, text });
      continue;
    }
    calls.add(original);
    const id = mapId(original);
    assistant.push(tidy(acceptableCall(block, id)));
    const found = results.get(original);
    if (found === undefined) continue;
    const { result, spill } = cleanResult(found.block, id);
    replies.set(id, result);
    rest.push(...spill);
  }
  slot.assistant = assistant;
  slot.rest = [...rest, ...slot.rest.flatMap((block) => cleanUserBlock(block, remark) ?? [])];
  slot.system = slot.system.flatMap((block) => cleanSystemBlock(block, remark) ?? []);
}

/** The results of an answer's calls in call order, one each. */
function resultsOf(slot: Slot, { replies, remark }: History, options: AssembleOptions): LooseBlock[] {
  return slot.assistant.filter(isClientToolUse).map((call) => {
    const id = textField(call, 'id');
    const found = replies.get(id);
    if (found !== undefined) return withToolset(found, call);
    const name = textField(call, 'name');
    remark({ code: 'synthetic_result', id, text: `Call ${id} (${name}) had no result; an error result stands for it.` });
    const content = options.unanswered?.({ id, name, input: call.input }) ?? UNKNOWN_OUTCOME;
    return withToolset({ type: 'tool_result', tool_use_id: id, content, is_error: true }, call);
  });
}

function emit(slots: readonly Slot[], history: History, options: AssembleOptions): Omit<Assembled, 'notes'> {
  const { remark } = history;
  const messages: MessageParam[] = [];
  const origins: (readonly string[])[] = [];
  const push = (role: 'user' | 'assistant' | 'system', blocks: readonly LooseBlock[], from: readonly string[]) => {
    messages.push(asMessage(role, blocks));
    origins.push(from);
  };
  for (const slot of slots) {
    if (slot.assistant.length > 0) {
      if (messages.length === 0) {
        push('user', [{ type: 'text', text: MISSING_BEGINNING }], []);
        remark({ code: 'synthetic_message', text: 'The conversation began with an answer; a user message was put before it.' });
      }
      push('assistant', slot.assistant, slot.assistantOrigins);
    }
    const results = resultsOf(slot, history, options);
    const held = results.length > 0 && onlyResultsMayFollow(slot.assistant) ? slot.rest : [];
    for (const block of held)
      remark({ code: 'deferred', block, text: 'Held back: only results may be sent while server calls are pending.' });
    const said = held.length > 0 ? [] : slot.rest;
    // A system message may only follow a user message.
    const alone = results.length + said.length === 0;
    const content = alone ? asReminders(slot.system) : [...results, ...said];
    if (content.length > 0) push('user', content, slot.userOrigins);
    if (slot.system.length > 0 && !alone) push('system', slot.system, []);
  }
  const last = slots.at(-1);
  if (options.trailing === 'prompt' && messages.at(-1)?.role === 'assistant' && last?.assistant.some(isServerToolUse) === false) {
    push('user', [{ type: 'text', text: CONTINUE }], []);
    remark({ code: 'synthetic_message', text: 'The conversation ended with an answer; a prompt to continue was put behind it.' });
  }
  return { messages, origins };
}

/** Blocks have passed cleaning; what they hold beyond that is the API's own and goes back as it came. */
function asMessage(role: 'user' | 'assistant' | 'system', blocks: readonly unknown[]): MessageParam {
  const content = blocks.filter(isContentBlock);
  if (role !== 'system') return { role, content };
  return { role, content: content.filter(isSystemPart) };
}

/** The SDK's types know text only. */
const isSystemPart = (block: unknown): block is TextBlockParam => isLooseBlock(block) && SYSTEM_PARTS.has(block.type);

function noteOrphans(slots: readonly Slot[], { results, mapId, remark }: History): void {
  const called = new Set(slots.flatMap((slot) => slot.assistant.filter(isClientToolUse).map((block) => textField(block, 'id'))));
  for (const [id, { block }] of results) {
    if (called.has(mapId(id))) continue;
    const text = isServerToolId(id)
      ? `Set aside: a result for server call ${id}; the API answers those itself.`
      : `Set aside: a result for call ${id}, which is not in the history.`;
    remark({ code: 'orphan_result', id, block, text });
  }
}
