import { isToolResult, type LooseBlock } from '../../messages/blocks.js';
import type { RecordedOutcome } from '../protocol/flowEvents.js';
import { contentText } from './pairing.js';

/** Written in a prompt's place, and as a result, when a person stops a query. Source: CHANGELOG of Claude Code. */
export const INTERRUPTION = /^\[Request interrupted by user(?: for tool use)?\]/;

/**
 * Texts that Claude Code writes itself, word for word, when a call did not run or was cut off. Anchored at the start of a result that is
 * flagged as an error, so that a tool whose output quotes such a text is not taken for one.
 */
const SURE: readonly { readonly begins: RegExp; readonly outcome: RecordedOutcome }[] = [
  { begins: /^The user doesn't want to (?:proceed with this tool use|take this action right now)\b/, outcome: 'denied' },
  { begins: /^Permission to use \S+ (?:with .+ )?has been denied\b/s, outcome: 'denied' },
  { begins: /^Claude requested permissions to .+, but you haven't granted it yet\.?$/s, outcome: 'denied' },
  { begins: INTERRUPTION, outcome: 'stopped' },
  { begins: /^<tool_use_error>(?:InputValidationError: |Error: No such tool available: )/, outcome: 'invalid' },
];

/** How a call ended, as far as its result block surely says so. `is_error` alone tells that it failed, not where. */
export function outcomeOf(block: LooseBlock): RecordedOutcome {
  const failed = isToolResult(block) ? (block.is_error ?? false) : isServerError(block);
  if (typeof failed !== 'boolean') return 'unknown';
  if (!failed) return 'succeeded';
  const text = contentText(block.content).trim();
  return SURE.find(({ begins }) => begins.test(text))?.outcome ?? 'failed';
}

/** Server tools put an error object in the place of their content. Source: Claude API docs, "Web search tool", "Code execution tool". */
function isServerError({ content, is_error }: LooseBlock): unknown {
  if (is_error !== undefined) return is_error;
  return typeof content === 'object' && content !== null && 'error_code' in content;
}
