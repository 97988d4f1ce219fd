import { isJsonObject } from '../json.js';
import { isSendableImage } from './blockRules.js';
import {
  answeredServerCalls,
  blocksOf,
  isBlank,
  isServerToolResult,
  isServerToolUse,
  isSignedThinking,
  isThinking,
  type LooseBlock,
  textField,
} from './blocks.js';
import type { Note } from './note.js';
import { wellFormedCopy } from './wellFormed.js';

/** What a result says whose tool printed nothing. Valid everywhere, unlike an empty text block. */
export const NO_OUTPUT = '(no output)';
const OUTPUT_FOLLOWS = '(the output follows after the results)';

/** Fields the API knows, for block types that other programs are seen to decorate. `cache_control` belongs to the request, not the history. */
const KNOWN_FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['text', ['type', 'text', 'citations']],
  ['tool_use', ['type', 'id', 'name', 'input', 'caller', 'toolset_name']],
  ['tool_result', ['type', 'tool_use_id', 'content', 'is_error', 'toolset_name']],
  ['thinking', ['type', 'thinking', 'signature']],
  ['redacted_thinking', ['type', 'data']],
  ['image', ['type', 'source']],
]);
const USER_ONLY: ReadonlySet<string> = new Set(['image', 'document', 'search_result']);
const ANSWER_ONLY: ReadonlySet<string> = new Set(['invalid', 'tool_use', 'fallback', 'compaction', 'connector_text']);
const RESULT_PARTS: ReadonlySet<string> = new Set(['text', 'image', 'document', 'search_result', 'tool_reference', 'browser_state']);

type Remark = (note: Note) => void;

/** A block of an assistant message as the API takes it back, or undefined when it does not. Calls and results are handled elsewhere. */
export function cleanAnswerBlock(block: LooseBlock, remark: Remark): LooseBlock | undefined {
  if (block.type === 'invalid' || USER_ONLY.has(block.type))
    return setAside(block, `a \`${block.type}\` block cannot stand in an answer`, remark);
  if (block.type === 'tool_use') return setAside(block, "a client's call under an id of the API's own servers", remark);
  if (isThinking(block) && !isSignedThinking(block)) return setAside(block, 'thinking without its signature cannot be sent back', remark);
  return block.type === 'text' && isBlank(textField(block, 'text')) ? undefined : tidy(block);
}

/** A block of a user message that is no tool result. */
export function cleanUserBlock(block: LooseBlock, remark: Remark): LooseBlock | undefined {
  if (ANSWER_ONLY.has(block.type) || isThinking(block) || isServerToolUse(block) || isServerToolResult(block)) {
    return setAside(block, `a \`${block.type}\` block cannot stand in a user message`, remark);
  }
  return cleanPart(block);
}

/** What a system message in the middle of a conversation may hold (Claude API docs, "Mid-conversation system messages"). */
export const SYSTEM_PARTS: ReadonlySet<string> = new Set(['text', 'tool_addition', 'tool_removal']);

/** A block of such a message. */
export function cleanSystemBlock(block: LooseBlock, remark: Remark): LooseBlock | undefined {
  return SYSTEM_PARTS.has(block.type)
    ? cleanPart(block)
    : setAside(block, `a \`${block.type}\` block cannot stand in a system message`, remark);
}

function setAside(block: LooseBlock, text: string, remark: Remark): undefined {
  remark({ code: 'set_aside', text: `Set aside: ${text}.`, block });
}

function cleanPart(block: LooseBlock): LooseBlock | undefined {
  if (block.type === 'text') return isBlank(textField(block, 'text')) ? undefined : tidy(block);
  if (block.type === 'image' && !isSendableImage(block)) return { type: 'text', text: badImageText(block) };
  if (block.type === 'document' && !isJsonObject(block.source)) return { type: 'text', text: '[Document left out: it has no source]' };
  return tidy(block);
}

function badImageText(block: LooseBlock): string {
  const source = isJsonObject(block.source) ? block.source : {};
  const type = typeof source.media_type === 'string' ? source.media_type : 'unknown type';
  const size = typeof source.data === 'string' ? `${source.data.length} characters` : 'no data';
  return `[Image left out: not a valid PNG, JPEG, GIF or WebP in base64 (${type}, ${size})]`;
}

/** A copy without fields the API does not know, in well-formed strings. */
export function tidy(block: LooseBlock): LooseBlock {
  const fields = KNOWN_FIELDS.get(block.type);
  const kept: Record<string, unknown> & { type: string } = { type: block.type };
  for (const [key, value] of Object.entries(block)) {
    const unknownField = fields !== undefined && !fields.includes(key);
    const empty = value === undefined || (value === null && (key === 'citations' || key === 'toolset_name' || key === 'caller'));
    if (!unknownField && !empty && key !== 'cache_control') kept[key] = wellFormedCopy(value);
  }
  return kept;
}

/** A result's content as blocks. Other programs write texts and values without a block round them: none of that is lost. */
function partsOf(content: unknown): readonly LooseBlock[] {
  if (typeof content === 'string') return [];
  return blocksOf(isJsonObject(content) ? [content] : content).map((part) => {
    if (part.type !== 'invalid') return part;
    return { type: 'text', text: typeof part.value === 'string' ? part.value : part.value === null ? '' : JSON.stringify(part.value) };
  });
}

export interface CleanResult {
  readonly result: LooseBlock;
  /** Images of an error result: the API takes only text there, so they follow after all results. */
  readonly spill: readonly LooseBlock[];
}

/** A tool result as the API takes it: never an empty text block, no broken image, nothing but text in an error. */
export function cleanResult(result: LooseBlock, callId: string): CleanResult {
  const isError = result.is_error === true || result.is_error === 'true';
  const spill: LooseBlock[] = [];
  const parts: LooseBlock[] = [];
  for (const part of partsOf(result.content)) {
    const clean = RESULT_PARTS.has(part.type) ? cleanPart(part) : { type: 'text', text: `[content of type "${part.type}" left out]` };
    if (clean === undefined) continue;
    if (!isError || clean.type === 'text') parts.push(clean);
    else if (clean.type === 'image' || clean.type === 'document') spill.push(clean);
    else parts.push({ type: 'text', text: `[content of type "${part.type}" left out of an error]` });
  }
  const empty = spill.length > 0 ? OUTPUT_FOLLOWS : NO_OUTPUT;
  const { content } = result;
  const text = typeof content === 'string' ? content : typeof content === 'number' || typeof content === 'boolean' ? String(content) : '';
  const kept = parts.length > 0 ? parts : isBlank(text) ? empty : wellFormedCopy(text);
  const { is_error: _flag, content: _content, ...rest } = tidy(result);
  return { result: { ...rest, type: 'tool_result', tool_use_id: callId, content: kept, ...(isError ? { is_error: true } : {}) }, spill };
}

/** A call out of a toolset has a result that names the toolset too (Claude API docs, "Computer use tool", "Browser use tool"). */
export function withToolset(result: LooseBlock, call: LooseBlock | undefined): LooseBlock {
  const name = call?.toolset_name;
  return typeof name !== 'string' || result.toolset_name === name ? result : { ...result, toolset_name: name };
}

/**
 * After a server-side fallback, what the first model thought and asked for is not taken back: before the last `fallback` block only text,
 * the fallback blocks and answered server calls stay. Source: Claude API docs, "Refusals and fallback".
 */
export function applyFallbackRule(blocks: readonly LooseBlock[], remark: Remark): readonly LooseBlock[] {
  const last = blocks.findLastIndex((block) => block.type === 'fallback');
  if (last === -1) return blocks;
  const answered = answeredServerCalls(blocks);
  return blocks.filter((block, index) => {
    const abandoned = isThinking(block) || block.type === 'connector_text' || block.type === 'tool_use';
    const keep = index > last || (isServerToolUse(block) ? answered.has(textField(block, 'id')) : !abandoned);
    if (!keep) remark({ code: 'set_aside', text: `Set aside: a \`${block.type}\` block from before a fallback is not sent back.`, block });
    return keep;
  });
}
