import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPairing } from '../../messages/pairing.js';
import type { PairingProblem } from '../../messages/pairingProblem.js';
import type { MessageParam } from '../../messages/types.js';
import { canonicalJson } from '../../permissions/digest.js';
import { mapResult } from '../../results/index.js';
import type { SessionOptions } from '../../session/options.js';
import { createSession } from '../../session/session.js';
import { callOf, type RecordedCall, type RecordedConversation } from './conversation.js';

/** What came of playing a conversation again. */
export interface ReplayedConversation {
  /** The history that came of it. */
  readonly messages: readonly MessageParam[];
  /** Every tool call that was made again, in order. */
  readonly calls: readonly RecordedCall[];
  /** Where it differs from what was recorded, in words; empty when calls, order, pairing and results are the same. */
  readonly differences: readonly string[];
}

/**
 * Plays a recorded conversation through a session of its own: the real machines, a scripted model, fake tools. Everything is allowed
 * unless `options.permissions` says otherwise, and nothing is written but a temporary directory that is removed again.
 */
export async function replayConversation(conversation: RecordedConversation, options: SessionOptions = {}): Promise<ReplayedConversation> {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'sixgates-replay-')));
  const model = conversation.model();
  const session = createSession({
    cwd,
    store: false,
    builtInTools: false,
    settings: { home: cwd, files: false },
    permissions: { mode: 'bypassPermissions' },
    tools: conversation.tools(),
    limits: { compactAtTokens: 0 },
    env: {},
    ...options,
    model: { id: 'scripted', client: model },
  });
  try {
    for (const { prompt } of conversation.queries) await session.send(prompt).done;
    const { messages } = session;
    const calls = blocksIn(messages).flatMap((block) => callOf(block) ?? []);
    return { messages, calls, differences: [...differencesOf(conversation, messages, calls), ...unplayed(model)] };
  } finally {
    await session.close();
    rmSync(cwd, { recursive: true, force: true });
  }
}

function unplayed(model: ReturnType<RecordedConversation['model']>): readonly string[] {
  const refused = model.refusals.map(({ request, message }) => `request ${request} was refused: ${message}`);
  return [...refused, ...model.unconsumed().map(({ turn, step, kind }) => `turn ${turn}, step ${step} (${kind}) was not played`)];
}

function differencesOf(
  { calls: recorded, results, tools }: RecordedConversation,
  messages: readonly MessageParam[],
  calls: readonly RecordedCall[],
): readonly string[] {
  const found: string[] = [];
  if (calls.length !== recorded.length) found.push(`${recorded.length} calls were recorded, ${calls.length} were made`);
  for (const [index, call] of recorded.entries()) {
    const made = calls[index];
    if (made === undefined) continue;
    if (made.id !== call.id || made.name !== call.name)
      found.push(`call ${index + 1} was ${call.name} ${call.id}, now ${made.name} ${made.id}`);
    else if (canonicalJson(made.input) !== canonicalJson(call.input))
      found.push(`call ${index + 1} (${call.name} ${call.id}) has another input`);
  }
  // A history that ends with the model's word is whole; only a request must end with the user's.
  found.push(
    ...checkPairing(messages)
      .filter(({ code }: PairingProblem) => code !== 'trailing_assistant')
      .map(({ text }) => text),
  );
  const byName = new Map(tools().map((tool) => [tool.name, tool]));
  const names = new Map(recorded.map(({ id, name }) => [id, name]));
  for (const block of blocksIn(messages)) {
    if (block.type !== 'tool_result') continue;
    const before = results.get(block.tool_use_id);
    const tool = byName.get(names.get(block.tool_use_id) ?? '');
    if (before === undefined || tool === undefined) continue;
    const expected = mapResult(tool, before);
    if ((block.is_error === true) !== expected.isError)
      found.push(`the result of ${block.tool_use_id} is ${block.is_error ? 'now' : 'no longer'} an error`);
    else if (textOf(block.content) !== textOf(expected.content)) found.push(`the result of ${block.tool_use_id} has another text`);
  }
  return found;
}

const blocksIn = (messages: readonly MessageParam[]) => messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));

const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .flatMap((part: unknown) => (typeof part === 'object' && part !== null && 'text' in part ? [String(part.text)] : []))
    .join('\n');
};
