import { isJsonObject, type JsonObject } from '../../json.js';
import { isLooseBlock } from '../../messages/blocks.js';
import { checkPairing } from '../../messages/pairing.js';
import type { MessageParam } from '../../messages/types.js';

/** An error answer in the API's shape. */
export interface Refusal {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MAX_CACHE_MARKS = 4;
/** `anthropic-version` values are dates and compare as text. */
const LATEST_VERSION = '2026-10-21';

/**
 * What the Messages API would say to a request it refuses; undefined for one it would take. Every rule here is one that clients break in
 * practice: wrong pairing of calls and results, tool names, empty content. Sources: Claude API docs, "Handle tool calls", "Define tools", "Errors".
 */
export function findRefusal(body: unknown, version = LATEST_VERSION): Refusal | undefined {
  if (!isJsonObject(body)) return invalid('The request body is not valid JSON: an object is required');
  return (
    checkFields(body) ??
    checkTools(body.tools) ??
    checkMessages(body) ??
    checkCacheMarks(body) ??
    (version >= LATEST_VERSION ? checkLatest(body) : undefined)
  );
}

/** What API version 2026-10-21 no longer takes. Source: Claude API docs, "Migrating to API version 2026-10-21". */
function checkLatest(body: JsonObject): Refusal | undefined {
  for (const name of ['temperature', 'top_p', 'top_k']) {
    if (body[name] !== undefined) return invalid(`${name}: Extra inputs are not permitted`);
  }
  const messages: readonly unknown[] = Array.isArray(body.messages) ? body.messages : [];
  for (const [index, message] of messages.entries()) {
    if (!isJsonObject(message) || !Array.isArray(message.content)) continue;
    for (const [at, block] of message.content.entries()) {
      if (!isLooseBlock(block)) continue;
      const place = `messages.${index}.content.${at}`;
      if (message.role === 'assistant' && block.type === 'document') {
        return invalid(`${place}: \`document\` blocks are not allowed in "assistant" messages`);
      }
      if (message.role === 'user' && block.type === 'text' && Array.isArray(block.citations) && block.citations.length > 0) {
        return invalid(`${place}: citations are not allowed in "user" messages`);
      }
    }
  }
  return undefined;
}

function invalid(message: string): Refusal {
  return { status: 400, type: 'invalid_request_error', message };
}

function checkFields(body: JsonObject): Refusal | undefined {
  const { model, max_tokens: maxTokens, system } = body;
  if (model === undefined) return invalid('model: Field required');
  if (typeof model !== 'string' || model === '') return invalid('model: String should have at least 1 character');
  if (maxTokens === undefined) return invalid('max_tokens: Field required');
  if (typeof maxTokens !== 'number' || !Number.isInteger(maxTokens)) return invalid('max_tokens: Input should be a valid integer');
  if (maxTokens < 1) return invalid('max_tokens: Input should be greater than or equal to 1');
  if (Array.isArray(system) && system.some((entry) => isJsonObject(entry) && entry.type === 'text' && entry.text === '')) {
    return invalid('system: text content blocks must be non-empty');
  }
  return undefined;
}

function checkTools(tools: unknown): Refusal | undefined {
  if (tools === undefined) return undefined;
  if (!Array.isArray(tools)) return invalid('tools: Input should be a valid list');
  const list: readonly unknown[] = tools;
  const names = new Set<string>();
  for (const [index, tool] of list.entries()) {
    if (!isJsonObject(tool)) return invalid(`tools.${index}: Input should be a valid dictionary`);
    const custom = tool.type === undefined || tool.type === null || tool.type === 'custom';
    const { name, input_schema: schema } = tool;
    // Toolsets stand in the list without a name.
    if (!custom && name === undefined) continue;
    const place = `tools.${index}${custom ? '.custom' : ''}`;
    if (typeof name !== 'string') return invalid(`${place}.name: Field required`);
    if (!TOOL_NAME.test(name)) return invalid(`${place}.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`);
    if (names.has(name)) return invalid('tools: Tool names must be unique.');
    names.add(name);
    if (!custom) continue;
    if (!isJsonObject(schema)) return invalid(`${place}.input_schema: Field required`);
    if (schema.type !== 'object') return invalid(`${place}.input_schema.type: Input should be 'object'`);
    for (const union of ['oneOf', 'allOf', 'anyOf']) {
      if (schema[union] !== undefined)
        return invalid(`${place}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`);
    }
    if (tool.defer_loading === true && isJsonObject(tool.cache_control)) {
      return invalid(`${place}: Tools with defer_loading cannot use prompt caching`);
    }
  }
  if (list.length > 0 && list.every((tool) => isJsonObject(tool) && tool.defer_loading === true)) {
    return invalid('At least one tool must have defer_loading=false. All tools cannot be deferred.');
  }
  return undefined;
}

function checkMessages(body: JsonObject): Refusal | undefined {
  const { messages } = body;
  if (messages === undefined) return invalid('messages: Field required');
  if (!Array.isArray(messages)) return invalid('messages: Input should be a valid list');
  const list: readonly unknown[] = messages;
  if (list.length === 0) return invalid('messages: at least one message is required');
  const checked: MessageParam[] = [];
  for (const [index, message] of list.entries()) {
    if (!isMessage(message)) return invalid(`messages.${index}: a message needs a \`role\` and a \`content\``);
    checked.push(message);
  }
  const [problem] = checkPairing(checked);
  if (problem !== undefined) return invalid(problem.text);
  // Results must also fit a definition: the API refuses tool blocks in a request without tools.
  const usesTools = checked.some(
    ({ content }) => Array.isArray(content) && content.some((block) => isLooseBlock(block) && block.type === 'tool_use'),
  );
  if (usesTools && (body.tools === undefined || (Array.isArray(body.tools) && body.tools.length === 0))) {
    return invalid('Requests which include `tool_use` or `tool_result` blocks must define tools');
  }
  return undefined;
}

function isMessage(value: unknown): value is MessageParam {
  return isJsonObject(value) && typeof value.role === 'string' && (typeof value.content === 'string' || Array.isArray(value.content));
}

function checkCacheMarks(body: JsonObject): Refusal | undefined {
  const marks = countCacheMarks([body.tools, body.system, body.messages, body.cache_control === undefined ? [] : [body]]);
  return marks > MAX_CACHE_MARKS
    ? invalid(`A maximum of ${MAX_CACHE_MARKS} blocks with cache_control may be provided. Found ${marks}.`)
    : undefined;
}

/** Marks at the places where they count: tools, system blocks, content blocks, blocks inside results. Not inside inputs or schemas. */
function countCacheMarks(lists: readonly unknown[]): number {
  let marks = 0;
  const visit = (list: unknown): void => {
    if (!Array.isArray(list)) return;
    const entries: readonly unknown[] = list;
    for (const entry of entries) {
      if (!isJsonObject(entry)) continue;
      if (isJsonObject(entry.cache_control)) marks += 1;
      if (entry !== undefined && Array.isArray(entry.content)) visit(entry.content);
    }
  };
  for (const list of lists) visit(list);
  return marks;
}
