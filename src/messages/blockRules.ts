import { isJsonObject } from '../json.js';
import {
  blocksOf,
  isBlank,
  isServerToolResult,
  isServerToolUse,
  isSignedThinking,
  isThinking,
  isToolResult,
  type LooseBlock,
  type LooseMessage,
  textField,
} from './blocks.js';
import type { Report } from './pairingProblem.js';
import { findIllFormed } from './wellFormed.js';

const TOOL_ID = /^[a-zA-Z0-9_-]+$/;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const RESULT_CONTENT: ReadonlySet<string> = new Set(['text', 'image', 'document', 'search_result', 'tool_reference', 'browser_state']);
const USER_ONLY: ReadonlySet<string> = new Set(['tool_result', 'image', 'document', 'search_result']);

/** What a single message's blocks must look like, whatever stands around it. */
export function checkBlocks(message: LooseMessage, index: number, report: Report): void {
  const assistant = message.role === 'assistant';
  for (const [at, block] of message.blocks.entries()) {
    const where = { block: at };
    checkContent(block, index, where, report);
    const assistantOnly = isThinking(block) || isServerToolResult(block) || isServerToolUse(block) || block.type === 'tool_use';
    if (assistant ? USER_ONLY.has(block.type) : assistantOnly) {
      report('misplaced_block', index, `\`${block.type}\` blocks are not allowed in "${message.role}" messages`, where);
    }
    if (block.type === 'tool_use') checkToolUse(block, index, at, report);
    if (isThinking(block) && !isSignedThinking(block)) {
      const field = block.type === 'thinking' ? 'signature' : 'data';
      report('unsigned_thinking', index, `${block.type}.${field}: Field required; thinking blocks must be sent back unmodified`, where);
    }
    if (isToolResult(block)) {
      if (!isResultContent(block.content))
        report('bad_block', index, 'tool_result.content: Input should be a string or a list of blocks', where);
      for (const part of block.content === undefined ? [] : resultParts(block)) {
        if (!RESULT_CONTENT.has(part.type)) report('bad_block', index, `\`${part.type}\` is not allowed inside tool_result.content`, where);
        else checkContent(part, index, where, report);
        if (block.is_error === true && part.type !== 'text') {
          report('bad_block', index, 'tool_result.content: all content must be type `text` if `is_error` is true', where);
        }
      }
    }
    const illFormed = findIllFormed(block);
    if (illFormed !== undefined) {
      report(
        'ill_formed_string',
        index,
        `the request body is not valid JSON: lone surrogate in the string at ${illFormed.slice(1)}`,
        where,
      );
    }
  }
  const lastBlock = message.blocks.at(-1);
  if (assistant && lastBlock !== undefined && isThinking(lastBlock)) {
    const where = { block: message.blocks.length - 1 };
    report('trailing_thinking', index, 'The final block in an assistant message cannot be `thinking`.', where);
  }
}

function isResultContent(content: unknown): boolean {
  return content === undefined || content === null || typeof content === 'string' || Array.isArray(content);
}

/** A result's content as blocks. A string is not a text block here: an empty one is legal. */
function resultParts(result: LooseBlock): readonly LooseBlock[] {
  return typeof result.content === 'string' ? [] : blocksOf(result.content);
}

function checkContent(block: LooseBlock, index: number, where: { readonly block: number }, report: Report): void {
  if (block.type === 'invalid') report('bad_block', index, 'Input should be an object with a `type`', where);
  if (block.type === 'text' && isBlank(textField(block, 'text'))) {
    const text = textField(block, 'text') === '' ? 'must be non-empty' : 'must contain non-whitespace text';
    report('empty_text', index, `text content blocks ${text}`, where);
  }
  if (block.type === 'image' && !isSendableImage(block)) {
    report('bad_image', index, 'image.source: Could not process image: unknown media type, or data that is not base64', where);
  }
  if (block.type === 'document' && !isJsonObject(block.source)) report('bad_block', index, 'document.source: Field required', where);
}

/** Whether the API would take an image block, as far as can be told without decoding it. */
export function isSendableImage(block: LooseBlock): boolean {
  const source = block.source;
  if (!isJsonObject(source)) return false;
  if (source.type === 'url') return typeof source.url === 'string' && !isBlank(source.url);
  if (source.type === 'file') return typeof source.file_id === 'string' && source.file_id !== '';
  if (source.type !== 'base64') return typeof source.type === 'string';
  const { media_type: mediaType, data } = source;
  return (
    typeof mediaType === 'string' && IMAGE_TYPES.has(mediaType) && typeof data === 'string' && data.length % 4 === 0 && BASE64.test(data)
  );
}

function checkToolUse(block: LooseBlock, index: number, at: number, report: Report): void {
  const id = textField(block, 'id');
  const where = id === '' ? { block: at } : { block: at, id };
  if (!TOOL_ID.test(id)) report('bad_tool_use', index, "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", where);
  if (!TOOL_NAME.test(textField(block, 'name'))) {
    report('bad_tool_use', index, "tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", where);
  }
  if (!isJsonObject(block.input)) report('bad_tool_use', index, 'tool_use.input: Input should be a valid dictionary', where);
}
