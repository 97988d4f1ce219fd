import { isJsonObject } from '../json.js';
import type { ContentBlockParam } from './types.js';

/**
 * A content block seen without trust. Histories come from files, other programs and beta features whose blocks the SDK's
 * types do not know, so everything in this folder reads blocks through this view and narrows field by field.
 */
export interface LooseBlock {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** A message seen without trust; a string content counts as one text block. */
export interface LooseMessage {
  readonly role: string;
  readonly blocks: readonly LooseBlock[];
}

export function isLooseBlock(value: unknown): value is LooseBlock {
  return isJsonObject(value) && typeof value.type === 'string';
}

/** What has a type passes for a block of the API: its own types are more than the SDK's types know. */
export function isContentBlock(value: unknown): value is ContentBlockParam {
  return isLooseBlock(value);
}

/** The blocks of a message's content. An entry that is no block at all keeps its place under the type `invalid`. */
export function blocksOf(content: unknown): readonly LooseBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  const list: readonly unknown[] = content;
  return list.map((entry) => (isLooseBlock(entry) ? entry : { type: 'invalid', value: entry }));
}

/** What is no message at all has no role and no blocks. */
export function looseMessage(message: unknown): LooseMessage {
  if (!isJsonObject(message)) return { role: '', blocks: [] };
  return { role: typeof message.role === 'string' ? message.role : '', blocks: blocksOf(message.content) };
}

/** The string under `key`, or the empty string. */
export function textField(block: LooseBlock, key: string): string {
  const value = block[key];
  return typeof value === 'string' ? value : '';
}

/** Ids of calls that the API's own servers run; a client never answers them. */
export function isServerToolId(id: string): boolean {
  return id.startsWith('srvtoolu_') || id.startsWith('mcptoolu_');
}

/** A call that this client has to answer. */
export function isClientToolUse(block: LooseBlock): boolean {
  return block.type === 'tool_use' && !isServerToolId(textField(block, 'id'));
}

export function isToolResult(block: LooseBlock): boolean {
  return block.type === 'tool_result';
}

/** A call that runs at the API (web search, code execution, an MCP connector). */
export function isServerToolUse(block: LooseBlock): boolean {
  return (
    block.type === 'server_tool_use' ||
    block.type === 'mcp_tool_use' ||
    (block.type === 'tool_use' && isServerToolId(textField(block, 'id')))
  );
}

/** The result block of a server call: it stands in an assistant message and names its call. */
export function isServerToolResult(block: LooseBlock): boolean {
  return block.type !== 'tool_result' && block.type.endsWith('_tool_result');
}

/** Ids of the server calls that these blocks hold a result of. */
export function answeredServerCalls(blocks: readonly LooseBlock[]): ReadonlySet<string> {
  return new Set(blocks.filter(isServerToolResult).map((block) => textField(block, 'tool_use_id')));
}

export function isThinking(block: LooseBlock): boolean {
  return block.type === 'thinking' || block.type === 'redacted_thinking';
}

/** A thinking block the API takes back: with its signature, or with its encrypted data. */
export function isSignedThinking(block: LooseBlock): boolean {
  return block.type === 'thinking' ? textField(block, 'signature') !== '' : textField(block, 'data') !== '';
}

/** True when the API would refuse this as the text of a block. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** A client call that code at the API made; its result goes to that code. */
function isProgrammatic(block: LooseBlock): boolean {
  const { caller } = block;
  return isClientToolUse(block) && isJsonObject(caller) && typeof caller.type === 'string' && caller.type.startsWith('code_execution');
}

/**
 * True while server calls of this answer have no result yet, or code at the API waits for this client's results: the reply may then
 * hold results and nothing else. Source: Claude API docs, "Handling stop reasons", "Programmatic tool calling".
 */
export function onlyResultsMayFollow(answer: readonly LooseBlock[]): boolean {
  const answered = answeredServerCalls(answer);
  return answer.some((block) => isProgrammatic(block) || (isServerToolUse(block) && !answered.has(textField(block, 'id'))));
}
