import {
  isClientToolUse,
  isServerToolResult,
  isServerToolUse,
  isThinking,
  type LooseBlock,
  onlyResultsMayFollow,
  textField,
} from './blocks.js';
import { applyFallbackRule } from './clean.js';
import type { Note } from './note.js';
import { wrapReminder } from './reminder.js';
import type { Slot } from './slots.js';

/** Takes out what only its surroundings make unacceptable, until nothing more has to go. Each round removes a block or a slot. */
export function settle(slots: readonly Slot[], remark: (note: Note) => void): Slot[] {
  for (let current = joinSlots(slots); ; current = joinSlots(current)) {
    // Words wait only for server calls that are still answered.
    if (dropUnacceptable(current, remark)) continue;
    postpone(current);
    if (!dropUnacceptable(current, remark)) return current;
  }
}

/** Joins answers with nothing between them, and gives what followed an answer that is gone to the one before. */
function joinSlots(slots: readonly Slot[]): Slot[] {
  const joined: Slot[] = [];
  for (const slot of slots) {
    const before = joined.at(-1);
    const silent = before !== undefined && before.rest.length + before.system.length === 0 && !before.assistant.some(isClientToolUse);
    if (before === undefined || (slot.assistant.length > 0 && !silent)) {
      joined.push(slot);
      continue;
    }
    before.assistant.push(...slot.assistant);
    before.isOver ||= slot.isOver;
    before.rest.push(...slot.rest);
    before.system.push(...slot.system);
    before.assistantOrigins.push(...slot.assistantOrigins);
    before.userOrigins.push(...slot.userOrigins);
  }
  return joined;
}

/** What may not stand beside the results of a mixed turn goes behind the next answer. */
function postpone(slots: readonly Slot[]): void {
  for (const [index, slot] of slots.entries()) {
    if (!slot.assistant.some(isClientToolUse) || !onlyResultsMayFollow(slot.assistant)) continue;
    slot.rest.push(...asReminders(slot.system));
    slot.system = [];
    const next = slots[index + 1];
    if (next === undefined) continue;
    next.rest.unshift(...slot.rest);
    slot.rest = [];
  }
}

/** System texts where no system message may stand. */
export function asReminders(system: readonly LooseBlock[]): LooseBlock[] {
  return system.flatMap((block) => (block.type === 'text' ? [{ type: 'text', text: wrapReminder(textField(block, 'text')) }] : []));
}

function dropUnacceptable(slots: readonly Slot[], remark: (note: Note) => void): boolean {
  const unpaired = unpairedServerBlocks(slots);
  let changed = false;
  for (const slot of slots) {
    const kept = applyFallbackRule(slot.assistant, remark).filter((block) => !unpaired.has(block));
    const end = kept.findLastIndex((block) => !isThinking(block)) + 1;
    for (const block of slot.assistant.filter((candidate) => unpaired.has(candidate))) {
      remark({ code: 'set_aside', block, text: `Set aside: a \`${block.type}\` block without its counterpart cannot be sent back.` });
    }
    for (const block of kept.slice(end)) {
      remark({ code: 'set_aside', block, text: 'Set aside: thinking at the end of an answer cannot be sent back.' });
    }
    if (end === slot.assistant.length) continue;
    slot.assistant = kept.slice(0, end);
    changed = true;
  }
  return changed;
}

/** Server calls and results whose other half is neither in the same answer nor, past this client's results, in the next one. */
function unpairedServerBlocks(slots: readonly Slot[]): Set<LooseBlock> {
  const drop = new Set<LooseBlock>();
  let pending = new Map<string, LooseBlock>();
  for (const [index, slot] of slots.entries()) {
    const own = new Map<string, LooseBlock>();
    for (const block of slot.assistant) {
      if (isServerToolUse(block)) own.set(textField(block, 'id'), block);
      else if (isServerToolResult(block)) {
        const id = textField(block, 'tool_use_id');
        if (!own.delete(id) && !pending.delete(id)) drop.add(block);
      }
    }
    for (const block of pending.values()) drop.add(block);
    const last = index === slots.length - 1;
    const isWaiting = slot.assistant.some(isClientToolUse) || (last && slot.rest.length === 0 && slot.system.length === 0);
    const resumable = isWaiting && !slot.isOver;
    if (!resumable) for (const block of own.values()) drop.add(block);
    pending = resumable ? own : new Map();
  }
  return drop;
}
