import { isJsonObject, type JsonObject, withoutNulls } from '../json.js';
import { isLooseBlock, type LooseBlock } from '../messages/blocks.js';
import type { AssistantBlock, StopReason, Usage } from '../messages/types.js';

/** The block index of an event; undefined when it has none. */
export function readIndex(event: JsonObject): number | undefined {
  return typeof event.index === 'number' && Number.isInteger(event.index) && event.index >= 0 ? event.index : undefined;
}

/** Later figures are cumulative and win; a null says nothing. */
export function mergeUsage(before: JsonObject | undefined, after: JsonObject): JsonObject {
  return { ...before, ...withoutNulls(after) };
}

/** Counts that are none are left out: added up, one would spoil the sum for good. */
export function readUsage(usage: JsonObject | undefined): Usage | undefined {
  if (usage === undefined) return undefined;
  const counted = Object.fromEntries(Object.entries(usage).filter(([key, value]) => !key.endsWith('_tokens') || isCount(value)));
  return isUsage(counted) ? counted : undefined;
}
const isCount = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value >= 0;

function isUsage(value: unknown): value is Usage {
  return isJsonObject(value) && typeof value.input_tokens === 'number' && typeof value.output_tokens === 'number';
}

/** New stop reasons pass through: the turn treats what it does not know as an end. */
export function toStopReason(reason: string | null): StopReason | null {
  return isStopReason(reason) ? reason : null;
}
function isStopReason(reason: string | null): reason is StopReason {
  return reason !== null && reason !== '';
}

/** Blocks of newer betas pass through untouched, so any object with a `type` is one. */
export function assistantBlock(block: LooseBlock): AssistantBlock {
  if (!isAssistantBlock(block)) throw new TypeError('a finished block has a type');
  return block;
}
function isAssistantBlock(block: unknown): block is AssistantBlock {
  return isLooseBlock(block);
}
export function looseBlock(block: unknown): LooseBlock {
  return isLooseBlock(block) ? block : { type: 'invalid' };
}
