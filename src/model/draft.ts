import { isJsonObject, type JsonObject } from '../json.js';
import { isClientToolUse, isServerToolUse, type LooseBlock, textField } from '../messages/blocks.js';
import type { ParsedJson } from '../tool/call.js';
import { acceptToolInput, parseToolInput } from './toolInput.js';
import type { ModelDelta } from './types.js';

/** A block between its `content_block_start` and its `content_block_stop`. */
export interface Draft {
  readonly index: number;
  readonly start: LooseBlock;
  text: string;
  json: string;
  signature: string | undefined;
  citations: unknown[];
  /** Fields that a delta set as a whole (a compaction's content). */
  fields: Record<string, unknown>;
  /** Why the collected input cannot be trusted, though its stop arrives. */
  spoilt: string | undefined;
  /** Something that may have been input went astray while the block was open: a call without any input is not one without arguments. */
  strayed: boolean;
}

export function openDraft(index: number, start: LooseBlock): Draft {
  return { index, start, text: '', json: '', signature: undefined, citations: [], fields: {}, spoilt: undefined, strayed: false };
}

/** What came of a delta: something to show, a reason why it did not fit, or nothing. `unknown` names a delta type of a newer API. */
export interface DeltaOutcome {
  readonly delta?: ModelDelta;
  readonly misfit?: string;
  readonly unknown?: string;
}

const JSON_BLOCKS: ReadonlySet<string> = new Set(['tool_use', 'server_tool_use', 'mcp_tool_use']);

/** Adds one delta to the draft. A delta that does not belong to the block's type adds nothing; a call then does not run without input. */
export function applyDelta(draft: Draft, delta: unknown): DeltaOutcome {
  const outcome = addDelta(draft, delta);
  if (outcome.misfit !== undefined) draft.strayed = true;
  return outcome;
}

function addDelta(draft: Draft, delta: unknown): DeltaOutcome {
  if (!isJsonObject(delta) || typeof delta.type !== 'string') return { misfit: 'a delta without a type' };
  const { index, start } = draft;
  const misfit = { misfit: `a ${delta.type} for a ${start.type} block` };
  switch (delta.type) {
    case 'text_delta':
      if (start.type !== 'text' || typeof delta.text !== 'string') return misfit;
      draft.text += delta.text;
      return { delta: { type: 'text', index, text: delta.text } };
    case 'thinking_delta':
      if (start.type !== 'thinking' || typeof delta.thinking !== 'string') return misfit;
      draft.text += delta.thinking;
      return { delta: { type: 'thinking', index, text: delta.thinking } };
    case 'signature_delta':
      if (start.type !== 'thinking' || typeof delta.signature !== 'string') return misfit;
      draft.signature = delta.signature;
      return {};
    case 'citations_delta':
      if (start.type !== 'text') return misfit;
      draft.citations.push(delta.citation);
      return {};
    case 'input_json_delta':
      return JSON_BLOCKS.has(start.type) ? addInput(draft, delta) : misfit;
    case 'compaction_delta': {
      if (start.type !== 'compaction') return misfit;
      // Carries final values, not increments.
      const { type: _type, ...fields } = delta;
      draft.fields = { ...draft.fields, ...fields };
      return {};
    }
    default:
      return { unknown: delta.type };
  }
}

/** Writers that leave empty fields out send a delta with nothing in it. Any other delta without text is a piece that is lost. */
function addInput(draft: Draft, delta: JsonObject): DeltaOutcome {
  const { type: _type, partial_json: piece, ...others } = delta;
  if (typeof piece === 'string') {
    draft.json += piece;
    return { delta: { type: 'input', index: draft.index, id: textField(draft.start, 'id'), partialJson: piece } };
  }
  if ((piece === undefined || piece === null) && Object.keys(others).length === 0) return {};
  draft.spoilt = 'part of the input was lost: a piece of it arrived that is no text';
  return { misfit: 'an input_json_delta without text' };
}

/** The complete block, in a form that can be sent back, and the decision about its input where it is a client's call. */
export interface FinishedBlock {
  readonly block: LooseBlock;
  readonly call?: { readonly id: string; readonly name: string; readonly rawInput: string; readonly input: ParsedJson };
  /** Set when a server's call carried input that was no JSON object; the block holds `{}` in its place. */
  readonly note?: string;
}

/** Closes the draft. `cut` says why no `content_block_stop` came: then the input of a call is invalid whatever its text says. */
export function finishDraft(draft: Draft, cut?: string): FinishedBlock {
  const { start } = draft;
  if (start.type === 'text') {
    const citations =
      draft.citations.length === 0 ? {} : { citations: [...(Array.isArray(start.citations) ? start.citations : []), ...draft.citations] };
    return { block: { ...start, text: textField(start, 'text') + draft.text, ...citations } };
  }
  if (start.type === 'thinking') {
    const signature = draft.signature ?? start.signature;
    const signed = signature === undefined ? {} : { signature };
    return { block: { ...start, thinking: textField(start, 'thinking') + draft.text, ...signed } };
  }
  if (!JSON_BLOCKS.has(start.type)) return { block: { ...start, ...draft.fields } };

  const input = decideInput(draft, cut);
  const block = { ...start, input: input.kind === 'object' ? input.value : {} };
  if (isServerToolUse(start) || !isClientToolUse(start)) {
    return input.kind === 'object' ? { block } : { block, note: `${start.type} ${textField(start, 'name')}: ${input.reason}` };
  }
  const rawInput = hasInputText(draft) ? draft.json : textField(start, 'input');
  return { block, call: { id: textField(start, 'id'), name: textField(start, 'name'), rawInput, input } };
}

/** Deltas win over input in the start event; blank deltas leave it in force. Some gateways write it there as text. */
function decideInput(draft: Draft, cut: string | undefined): ParsedJson {
  const { start, strayed } = draft;
  const broken = cut ?? draft.spoilt ?? (strayed && isWithoutInput(draft) ? STRAYED : undefined);
  if (broken !== undefined) return { kind: 'invalid', reason: broken };
  if (hasInputText(draft)) return parseToolInput(draft.json);
  return typeof start.input === 'string' ? parseToolInput(start.input) : acceptToolInput(start.input ?? undefined);
}

const STRAYED = 'no input arrived for this call, but something did that belongs to no call and may have been it';

function hasInputText(draft: Draft): boolean {
  return draft.json.trim() !== '';
}

/** True when the block says nothing about its input at all, neither in its start event nor in deltas. */
export function isWithoutInput(draft: Draft): boolean {
  const { input } = draft.start;
  if (hasInputText(draft)) return false;
  if (typeof input === 'string') return input.trim() === '';
  return input === undefined || input === null || (isJsonObject(input) && Object.keys(input).length === 0);
}

/** Whether two start events open the same block (a replay), rather than two blocks that claim one index. */
export function sameIdentity(a: LooseBlock, b: LooseBlock): boolean {
  return a.type === b.type && a.id === b.id && a.name === b.name;
}
