import { checkBlocks } from './blockRules.js';
import {
  isClientToolUse,
  isServerToolId,
  isServerToolResult,
  isServerToolUse,
  isThinking,
  isToolResult,
  type LooseMessage,
  looseMessage,
  onlyResultsMayFollow,
  textField,
} from './blocks.js';
import type { PairingProblem, Report } from './pairingProblem.js';
import type { MessageParam } from './types.js';

export type { PairingProblem } from './pairingProblem.js';

/**
 * Everything about a request's `messages` that the Messages API would refuse, or that would degrade the conversation (results spread
 * over messages). Empty means sendable. An empty list has no problem here, though the API takes none.
 * Source: Claude API docs, "Handle tool calls", "Parallel tool use", "Handling stop reasons", "Extended thinking".
 */
export function checkPairing(messages: readonly MessageParam[]): PairingProblem[] {
  const problems: PairingProblem[] = [];
  const report: Report = (code, message, text, where = {}) => {
    const place = where.block === undefined ? `messages.${message}` : `messages.${message}.content.${where.block}`;
    problems.push({ code, message, ...where, text: `${place}: ${text}` });
  };
  const loose = messages.map(looseMessage);
  checkRoles(loose, report);
  for (const [index, message] of loose.entries()) checkBlocks(message, index, report);
  checkClientPairs(loose, report);
  checkServerPairs(loose, report);
  return problems;
}

/** Thrown by `assertSendable`: the request was not sent. */
export class UnsendableMessagesError extends Error {
  override readonly name = 'UnsendableMessagesError';
  constructor(readonly problems: readonly PairingProblem[]) {
    const more = problems.length > 5 ? `\n… and ${problems.length - 5} more` : '';
    const list = problems.slice(0, 5).map((problem) => problem.text);
    super(`The Messages API would refuse this history; repairMessages() mends it. ${list.join('\n')}${more}`);
  }
}

/** Throws {@link UnsendableMessagesError} when {@link checkPairing} finds anything, or when there is no message at all. */
export function assertSendable(messages: readonly MessageParam[]): void {
  if (messages.length === 0) {
    throw new UnsendableMessagesError([{ code: 'no_messages', message: 0, text: 'messages: at least one message is required' }]);
  }
  const problems = checkPairing(messages);
  if (problems.length > 0) throw new UnsendableMessagesError(problems);
}

function checkRoles(messages: readonly LooseMessage[], report: Report): void {
  for (const [index, { role, blocks }] of messages.entries()) {
    const before = messages[index - 1];
    if (blocks.length === 0) report('empty_content', index, 'all messages must have non-empty content');
    if (role !== 'user' && role !== 'assistant' && role !== 'system') {
      report('bad_role', index, `unexpected role "${role}"; allowed are "user", "assistant" and "system"`);
    } else if (role === 'system') {
      if (before?.role !== 'user') report('misplaced_system_message', index, 'a system message may only follow a user message');
    } else if (before === undefined) {
      if (role !== 'user') report('first_not_user', index, 'first message must use the "user" role');
    } else if (before.role === role) {
      report(
        'roles_do_not_alternate',
        index,
        `roles must alternate between "user" and "assistant", but found multiple "${role}" roles in a row`,
      );
    } else if (before.role === 'system' && role === 'user') {
      report('misplaced_system_message', index, 'only an assistant message may follow a system message');
    }
  }
  const last = messages.at(-1);
  // A turn paused in the middle of server tools is sent back as it is; anything else at the end would be a prefill.
  if (last?.role === 'assistant' && !last.blocks.some(isServerToolUse) && !last.blocks.some(isClientToolUse)) {
    const text = 'This model does not support assistant message prefill. The conversation must end with a user message.';
    report('trailing_assistant', messages.length - 1, text);
  }
}

function checkClientPairs(messages: readonly LooseMessage[], report: Report): void {
  const seen = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const asked = new Set<string>();
    for (const [at, block] of message.blocks.entries()) {
      if (message.role !== 'assistant' || !isClientToolUse(block)) continue;
      const id = textField(block, 'id');
      if (seen.has(id)) report('duplicate_tool_use', index, `\`tool_use\` ids must be unique: ${id}`, { block: at, id });
      seen.add(id);
      asked.add(id);
    }
    const before = messages[index - 1];
    if (message.role !== 'assistant') checkResults(message, index, before?.role === 'assistant' ? before : undefined, report);
    if (asked.size === 0) continue;
    const next = messages[index + 1];
    const answered = new Set(next?.role === 'user' ? next.blocks.filter(isToolResult).map((block) => textField(block, 'tool_use_id')) : []);
    for (const id of asked) {
      if (answered.has(id)) continue;
      const rule = 'Each `tool_use` block must have a corresponding `tool_result` block in the next message.';
      report('missing_result', index, `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${id}. ${rule}`, {
        id,
      });
    }
  }
}

function checkResults(message: LooseMessage, index: number, before: LooseMessage | undefined, report: Report): void {
  const open = new Set((before?.blocks ?? []).filter(isClientToolUse).map((block) => textField(block, 'id')));
  const answered = new Set<string>();
  let other = false;
  for (const [block, content] of message.blocks.entries()) {
    if (!isToolResult(content)) {
      other = true;
      continue;
    }
    const id = textField(content, 'tool_use_id');
    const where = { block, id };
    if (isServerToolId(id))
      report('result_for_server_tool', index, `\`tool_result\` for a server tool: ${id}. The API runs and answers it.`, where);
    else if (!open.has(id)) {
      const rule = 'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.';
      report('orphan_result', index, `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. ${rule}`, where);
    } else if (answered.has(id)) {
      report(
        'duplicate_result',
        index,
        `each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
        where,
      );
    }
    if (other) report('results_not_first', index, '`tool_result` blocks must come before any other content of the message', where);
    answered.add(id);
  }
  if (other && before !== undefined && answered.size > 0 && onlyResultsMayFollow(before.blocks)) {
    report('not_only_results', index, 'while server or programmatic calls are pending, the reply may hold `tool_result` blocks only');
  }
}

/** A server call's result stands in its own message, or in the next assistant message when client calls came between. */
function checkServerPairs(messages: readonly LooseMessage[], report: Report): void {
  let pending = new Map<string, { readonly message: number; readonly block: number; readonly name: string }>();
  const unanswered = () => {
    for (const [id, { message, block, name }] of pending) {
      const text = `\`${name}\` tool use with id \`${id}\` was found without a corresponding \`${name}_tool_result\` block`;
      report('server_tool_unanswered', message, text, { block, id });
    }
  };
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    const own: typeof pending = new Map();
    for (const [at, block] of message.blocks.entries()) {
      if (isServerToolUse(block)) own.set(textField(block, 'id'), { message: index, block: at, name: textField(block, 'name') });
      if (!isServerToolResult(block)) continue;
      const id = textField(block, 'tool_use_id');
      if (own.delete(id) || pending.delete(id)) continue;
      report('server_result_orphan', index, `unexpected \`tool_use_id\` found in \`${block.type}\` blocks: ${id}`, { block: at, id });
    }
    unanswered();
    pending = own;
    // A paused turn is continued by sending it back as the last message, a mixed one by its client results; nothing else resumes it.
    if (index < messages.length - 1 && !message.blocks.some(isClientToolUse)) {
      unanswered();
      pending = new Map();
    }
  }
  // What is pending in the last assistant message may still be answered by the next response.
}

/**
 * Thinking blocks that were in `before` and come back changed, reordered or gone in `after`, for messages both have.
 * The API verifies this for the running tool loop; a session checks it against what it received.
 */
export function checkThinkingUnchanged(before: readonly MessageParam[], after: readonly MessageParam[]): PairingProblem[] {
  const problems: PairingProblem[] = [];
  for (const [index, message] of before.entries()) {
    const later = after[index];
    if (message.role !== 'assistant' || later === undefined) continue;
    const had = looseMessage(message).blocks.filter(isThinking);
    const has = looseMessage(later).blocks.filter(isThinking);
    if (JSON.stringify(had) === JSON.stringify(has)) continue;
    const text = `messages.${index}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified`;
    problems.push({ code: 'thinking_modified', message: index, text });
  }
  return problems;
}
