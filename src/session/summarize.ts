import { chooseCut, clearOldToolResults, planCompaction } from '../messages/compaction.js';
import { normalizeMessagesForAPI } from '../messages/normalize.js';
import { assertSendable } from '../messages/pairing.js';
import type { Transcript } from '../messages/transcript.js';
import type { ContentBlockParam, MessageParam } from '../messages/types.js';
import { completeText } from './completion.js';
import { toolsFor } from './request.js';
import type { Services } from './services.js';

export type CompactionTrigger = 'auto' | 'manual';

/** Messages that stay as they are behind the summary, at most; fewer where they would fill the window again. */
const KEEP_MESSAGES = [8, 6, 4, 2, 0];
/** Share of the history, by size, that may stay. */
const KEEP_SHARE = 0.25;
/** Tool results left whole in what is summarised: first a few, then none, then only the newer half of the history. */
const WHOLE_RESULTS = [3, 0, 0];

const INSTRUCTION = `Write a summary of this conversation so far. It will take the place of everything above, so whoever reads only the summary must be able to go on. Cover, with exact names, paths, commands and figures:
- what the user asked for, in their words where it matters, and what is still open of it;
- what was done and found, which files were read or changed and how, which commands ran with what result;
- decisions, constraints and preferences that were stated; errors and how they were resolved;
- what was being done at this very moment and the next step.
Answer with the summary alone. Do not call any tool.`;

const OPENING = 'The earlier part of this conversation was summarised to make room. The summary:';

/**
 * Puts a summary in place of older history. The cut never parts a call from its result; old tool results are cleared before the rest is
 * read, so that it also works near the window. The transcript gets boundary and summary in one write, and the history is then what loading
 * it gives. Returns whether anything was summarised; throws when it could not be, leaving everything as it was.
 */
export async function compactHistory(
  session: Services,
  transcript: Transcript,
  trigger: CompactionTrigger,
  signal: AbortSignal,
  instructions?: string,
): Promise<boolean> {
  const plan = choosePlan(transcript);
  if (!plan) return false;
  const before = await session.runHooks(
    {
      id: `hook:PreCompact:${session.sessionId}`,
      event: 'PreCompact',
      subject: trigger,
      payload: { trigger, custom_instructions: instructions ?? null },
    },
    signal,
  );
  const held = before.block ?? before.stop;
  if (held) {
    session.update({ type: 'notice', level: 'warning', message: `Compaction was held back by ${held.hookName}: ${held.reason}` });
    return false;
  }
  const wishes = [...(instructions ? [instructions] : []), ...before.additionalContext];
  const text = await requestSummary(session, plan.summarize, wishes, signal);
  const summary = `${OPENING}\n\n${text}`;
  const preTokens = session.contextTokens;
  session.conversation.compact(
    { summary, trigger, preTokens, ...(plan.keepFromUuid === undefined ? {} : { keepFromUuid: plan.keepFromUuid }) },
    () => normalizeMessagesForAPI(transcript.chain),
  );
  session.contextTokens = 0;
  const kept = session.conversation.messages.length - 1;
  session.update({ type: 'session.compacted', trigger, summarized: plan.summarize.length, kept, preTokens });
  await afterwards(session, trigger, summary, signal);
  return true;
}

function choosePlan(transcript: Transcript) {
  const all = JSON.stringify(normalizeMessagesForAPI(transcript.chain)).length;
  for (const keep of KEEP_MESSAGES) {
    const plan = planCompaction(transcript.chain, keep);
    if (!plan) continue;
    const kept = all - JSON.stringify(plan.summarize).length;
    // A summary of nothing but the last summary would only lose detail.
    if (plan.summarize.length < 2 && plan.keepFromUuid !== undefined) continue;
    if (kept <= all * KEEP_SHARE || keep === 0) return plan;
  }
  return undefined;
}

async function requestSummary(
  session: Services,
  messages: readonly MessageParam[],
  wishes: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const instruction = [INSTRUCTION, ...wishes].join('\n\n');
  let failure = '';
  for (const [attempt, whole] of WHOLE_RESULTS.entries()) {
    const part = attempt < WHOLE_RESULTS.length - 1 ? messages : newerHalf(messages);
    const asked = withInstruction(clearOldToolResults(part, whole), instruction);
    assertSendable(asked);
    const answer = await ask(session, asked, attempt, signal);
    if (answer.text !== '') return answer.text;
    failure = answer.failure;
    if (!answer.mayBeTooLong) break;
  }
  throw new Error(`The conversation could not be summarised: ${failure}`);
}

interface SummaryAnswer {
  readonly text: string;
  readonly failure: string;
  /** A shorter request might do. */
  readonly mayBeTooLong: boolean;
}

async function ask(session: Services, messages: readonly MessageParam[], attempt: number, signal: AbortSignal): Promise<SummaryAnswer> {
  const { model } = session;
  const request = {
    id: `model:${session.sessionId}:compact-${session.usage.requests}:${attempt + 1}`,
    model: model.id,
    maxTokens: model.maxTokens,
    system: model.system,
    // The API refuses calls in a history without the tools; the same bytes as ever keep the cached prefix.
    tools: toolsFor(session),
    messages,
    ...(model.thinking === undefined ? {} : { thinking: model.thinking }),
    ...(model.betas.length === 0 ? {} : { betas: model.betas }),
  };
  const { text, end } = await completeText(model.client, request, signal, 'Compaction was interrupted.');
  if (end.usage) session.spendOn(end.usage);
  if (end.kind === 'broken') {
    const { status, type, message } = end.error;
    return { text: '', failure: message, mayBeTooLong: status === 400 || status === 413 || type === 'request_too_large' };
  }
  if (end.stopReason === 'refusal') return { text: '', failure: 'the model refused', mayBeTooLong: false };
  const overran = end.stopReason === 'model_context_window_exceeded';
  return { text: overran ? '' : text, failure: 'the answer had no text', mayBeTooLong: overran };
}

async function afterwards(session: Services, trigger: CompactionTrigger, summary: string, signal: AbortSignal): Promise<void> {
  const id = session.sessionId;
  await session.runHooks(
    { id: `hook:PostCompact:${id}`, event: 'PostCompact', subject: trigger, payload: { trigger, compact_summary: summary } },
    signal,
  );
  if (session.agent !== undefined || !session.hooks.isConfigured('SessionStart', 'compact')) return;
  const { additionalContext } = await session.runHooks(
    {
      id: `hook:SessionStart:compact:${id}`,
      event: 'SessionStart',
      subject: 'compact',
      payload: { source: 'compact', model: session.model.id },
    },
    signal,
  );
  for (const text of additionalContext) session.conversation.addAttachment({ type: 'reminder', text });
}

/** The newer half of a history, from a point where no call is open. */
function newerHalf(messages: readonly MessageParam[]): readonly MessageParam[] {
  const half = messages.slice(chooseCut(messages, Math.ceil(messages.length / 2)));
  return half[0]?.role === 'user' ? half : [{ role: 'user', content: '(The beginning of the conversation is left out.)' }, ...half];
}

function withInstruction(messages: readonly MessageParam[], instruction: string): readonly MessageParam[] {
  const block: ContentBlockParam = { type: 'text', text: instruction };
  const last = messages.at(-1);
  if (last?.role !== 'user') return [...messages, { role: 'user', content: [block] }];
  const before: readonly ContentBlockParam[] = typeof last.content === 'string' ? [{ type: 'text', text: last.content }] : last.content;
  return [...messages.slice(0, -1), { role: 'user', content: [...before, block] }];
}
