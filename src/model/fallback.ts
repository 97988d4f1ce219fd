import {
  answeredServerCalls,
  isClientToolUse,
  isServerToolResult,
  isServerToolUse,
  isThinking,
  type LooseBlock,
  textField,
} from '../messages/blocks.js';

/**
 * Which of the blocks before a `fallback` block may stay in the message: text, and server calls together with their results. Thinking
 * and client calls belong to the model that declined, and are neither sent back nor run.
 * Source: Claude API docs, "Refusals and fallback".
 */
export function survivesFallback(blocks: readonly LooseBlock[]): (block: LooseBlock) => boolean {
  const called = new Set(blocks.filter(isServerToolUse).map((block) => textField(block, 'id')));
  const answered = answeredServerCalls(blocks);
  return (block) => {
    if (isThinking(block) || block.type === 'connector_text' || isClientToolUse(block)) return false;
    if (isServerToolUse(block)) return answered.has(textField(block, 'id'));
    if (isServerToolResult(block)) return called.has(textField(block, 'tool_use_id'));
    return true;
  };
}
