import type { JsonObject } from '../json.js';
import type { LostTask } from '../tasks/notification.js';
import { taskNotificationId } from '../tasks/notification.js';
import { UNKNOWN_OUTCOME } from './assemble.js';
import { deliveredNotificationId, deliveredPromptId } from './attachments.js';
import { blocksOf, isClientToolUse, isToolResult, textField } from './blocks.js';
import { discardedEntries } from './discarded.js';
import { type ChainDraft, type ChainEntry, type TranscriptLine, WRITER } from './entries.js';
import type { JournalEntry } from './journal.js';
import type { LoadedTranscript } from './load.js';
import { normalizeWithNotes } from './normalize.js';
import type { Note } from './note.js';
import type { MessageParam, ToolResultBlockParam } from './types.js';

/** A call without a result. */
export interface OpenToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  /** False only when it is certain that the tool never began. */
  readonly started: boolean;
}

/** A permission question that was open when a session was last written. */
export interface ParkedApproval {
  /** The `tool_use` id. */
  readonly callId: string;
  /** The tool's name. */
  readonly tool: string;
  /** Exactly what the person was shown; an answer binds to it. */
  readonly input: JsonObject;
  /** Digest of that input, which an answer must carry; undefined in transcripts that hold none. */
  readonly inputDigest: string | undefined;
  /** The question as it was shown, beside its input. */
  readonly question: JsonObject | undefined;
}

/** What a stored session comes to, for going on with it. */
export interface ResumeState {
  /** The history, sendable as it is once a prompt follows: open calls are closed in it. */
  readonly messages: readonly MessageParam[];
  readonly openCalls: readonly OpenToolCall[];
  /** Questions that were open; each may be put again, or its call closed with {@link closingResult}. Never run by loading. */
  readonly parkedApprovals: readonly ParkedApproval[];
  readonly undeliveredNotifications: readonly { readonly id: string; readonly text: string }[];
  readonly undeliveredPrompts: readonly { readonly id: string; readonly content: string | readonly unknown[] }[];
  /** Background tasks whose process died before they ended and of which nothing has been told. */
  readonly lostTasks: readonly LostTask[];
  readonly loadedTools: readonly { readonly name: string; readonly schemaDigest: string | undefined }[];
  /** The merge of all `session.state` patches. */
  readonly state: JsonObject;
  readonly sessionId: string | undefined;
  readonly cwd: string | undefined;
  /** Result lines to append, in call order, for open calls that nobody will answer: all but the parked ones. */
  readonly closing: readonly ChainDraft[];
  /** What the history needed to be sendable. */
  readonly notes: readonly Note[];
}

/** The result of a call that had begun when its process ended and that must not be run twice. */
export const INTERRUPTED =
  'Interrupted, outcome unknown: the process ended while this call was running. It may have taken effect in part or fully. ' +
  'It was not run again. Check before repeating it.';
const NOT_RUN = 'Not run: the process ended before this call started. Nothing was done.';
const NOT_ANSWERED = 'Not run: the process ended while this call waited for permission. Nothing was done.';

/** Everything a session needs to go on where a process stopped. Pure: reads, decides, runs nothing. */
export function resumeState(loaded: Pick<LoadedTranscript, 'lines' | 'chain' | 'sessionId' | 'cwd'>): ResumeState {
  const { lines, chain, sessionId, cwd } = loaded;
  const openCalls = openCallsOf(chain, lines);
  const parked = parkedApprovals(lines, openCalls);
  const text = new Map(openCalls.map((call) => [call.id, closingText(call, lines, parked)]));
  const recorded = recordedResults(lines);
  const results = openCalls.map((call) => recorded.get(call.id) ?? errorResult(call.id, text.get(call.id) ?? UNKNOWN_OUTCOME));
  const parkedIds = new Set(parked.map(({ callId }) => callId));
  const drafts = results.map(resultDraft);
  const { messages, notes } = normalizeWithNotes([...chain, ...drafts.map((draft, index) => ({ ...draft, uuid: `closing:${index}` }))]);
  return {
    messages,
    notes,
    openCalls,
    parkedApprovals: parked,
    ...queues(lines),
    lostTasks: lostTasks(lines),
    loadedTools: loadedTools(lines),
    state: sessionStateOf(lines),
    sessionId,
    cwd,
    closing: drafts.filter((_, index) => !parkedIds.has(results[index]?.tool_use_id ?? '')),
  };
}

/** The result that closes an open call: a recorded one if the journal has it, else an error that says what is known. Deterministic. */
export function closingResult(loaded: Pick<LoadedTranscript, 'lines' | 'chain'>, call: OpenToolCall): ToolResultBlockParam {
  const parked = parkedApprovals(loaded.lines, [call]);
  return recordedResults(loaded.lines).get(call.id) ?? errorResult(call.id, closingText(call, loaded.lines, parked));
}

/** Calls of a conversation that have no result, in call order. */
export function openCallsOf(chain: readonly ChainEntry[], lines: readonly TranscriptLine[]): OpenToolCall[] {
  const calls = new Map<string, { readonly name: string; readonly input: unknown; readonly journaled: boolean }>();
  const answered = new Set<string>();
  const discarded = discardedEntries(chain);
  const discardedCalls = new Set<string>();
  for (const entry of chain) {
    if (entry.type !== 'user' && entry.type !== 'assistant') continue;
    // Another program keeps no journal: whether such a call began is not known, so it may have.
    const journaled = entry.writer === WRITER;
    for (const block of blocksOf(entry.message.content)) {
      if (isToolResult(block)) {
        const id = textField(block, 'tool_use_id');
        if (!discardedCalls.has(id)) answered.add(id);
      } else if (entry.type === 'assistant' && isClientToolUse(block)) {
        const id = textField(block, 'id');
        if (discarded.has(entry.uuid)) discardedCalls.add(id);
        else {
          discardedCalls.delete(id);
          if (!calls.has(id)) calls.set(id, { name: textField(block, 'name'), input: block.input, journaled });
        }
      }
    }
  }
  const started = startedCalls(lines);
  return [...calls].flatMap(([id, { name, input, journaled }]) =>
    answered.has(id) ? [] : [{ id, name, input, started: !journaled || started.has(id) }],
  );
}

function startedCalls(lines: readonly TranscriptLine[]): ReadonlySet<string> {
  return new Set(
    journalOf(lines).flatMap((entry) => (entry.type === 'call.started' || entry.type === 'call.outcome' ? [entry.callId] : [])),
  );
}

function journalOf(lines: readonly TranscriptLine[]): JournalEntry[] {
  return lines.flatMap((line) => (line.kind === 'journal' ? [line.entry] : []));
}

function closingText(call: OpenToolCall, lines: readonly TranscriptLine[], parked: readonly ParkedApproval[]): string {
  if (parked.some(({ callId }) => callId === call.id)) return NOT_ANSWERED;
  if (!call.started) return NOT_RUN;
  const journal = journalOf(lines);
  const outcome = journal.findLast((entry) => entry.type === 'call.outcome' && entry.callId === call.id);
  if (outcome?.type === 'call.outcome')
    return `The process ended before this call's result was written. What is known: ${outcome.outcome.summary}`;
  return startedCalls(lines).has(call.id) ? INTERRUPTED : UNKNOWN_OUTCOME;
}

function recordedResults(lines: readonly TranscriptLine[]): Map<string, ToolResultBlockParam> {
  const results = new Map<string, ToolResultBlockParam>();
  for (const entry of journalOf(lines)) {
    if (entry.type === 'call.outcome' && entry.result !== undefined && !results.has(entry.callId)) results.set(entry.callId, entry.result);
  }
  return results;
}

function errorResult(id: string, content: string): ToolResultBlockParam {
  return { type: 'tool_result', tool_use_id: id, content, is_error: true };
}

function resultDraft(result: ToolResultBlockParam): Extract<ChainDraft, { type: 'user' }> {
  return { type: 'user', message: { role: 'user', content: [result] } };
}

/** Questions without an answer whose call is still open and never began. */
function parkedApprovals(lines: readonly TranscriptLine[], openCalls: readonly OpenToolCall[]): ParkedApproval[] {
  const waiting = new Set(openCalls.filter((call) => !call.started).map((call) => call.id));
  const parked = new Map<string, ParkedApproval>();
  for (const entry of journalOf(lines)) {
    if (entry.type === 'permission.resolved') parked.delete(entry.callId);
    if (entry.type !== 'permission.parked' || !waiting.has(entry.callId)) continue;
    const { callId, tool, input, inputDigest, question } = entry;
    parked.set(callId, { callId, tool, input, inputDigest, question });
  }
  return [...parked.values()];
}

function queues(lines: readonly TranscriptLine[]): Pick<ResumeState, 'undeliveredNotifications' | 'undeliveredPrompts'> {
  const notifications = new Map<string, string>();
  const prompts = new Map<string, string | readonly unknown[]>();
  const gone = new Set<string>();
  for (const { kind, entry } of lines) {
    if (kind === 'journal') {
      if (entry.type === 'notification.enqueued') notifications.set(entry.notificationId, entry.text);
      else if (entry.type === 'notification.delivered') gone.add(`notification:${entry.notificationId}`);
      else if (entry.type === 'prompt.queued') prompts.set(entry.promptId, entry.content);
      else if (entry.type === 'prompt.withdrawn') gone.add(`prompt:${entry.promptId}`);
    } else if (kind === 'chain') {
      gone.add(`notification:${deliveredNotificationId(entry)}`);
      gone.add(`prompt:${deliveredPromptId(entry)}`);
    }
  }
  return {
    undeliveredNotifications: [...notifications].flatMap(([id, text]) => (gone.has(`notification:${id}`) ? [] : [{ id, text }])),
    undeliveredPrompts: [...prompts].flatMap(([id, content]) => (gone.has(`prompt:${id}`) ? [] : [{ id, content }])),
  };
}

/** A task's notification is written before its end, so what has been enqueued has been told or will be. */
function lostTasks(lines: readonly TranscriptLine[]): readonly LostTask[] {
  const running = new Map<string, LostTask>();
  const told = new Set<string>();
  for (const entry of journalOf(lines)) {
    if (entry.type === 'task.started') {
      const { taskId, title, outputFile } = entry;
      running.set(taskId, { taskId, title, outputFile });
    } else if (entry.type === 'task.ended') running.delete(entry.taskId);
    else if (entry.type === 'notification.enqueued') told.add(entry.notificationId);
  }
  return [...running.values()].filter(({ taskId }) => !told.has(taskNotificationId(taskId)));
}

function loadedTools(lines: readonly TranscriptLine[]): ResumeState['loadedTools'] {
  const tools = new Map<string, string | undefined>();
  for (const entry of journalOf(lines)) {
    if (entry.type === 'tools.loaded') for (const { name, schemaDigest } of entry.tools) tools.set(name, schemaDigest);
  }
  return [...tools].map(([name, schemaDigest]) => ({ name, schemaDigest }));
}

function sessionStateOf(lines: readonly TranscriptLine[]): JsonObject {
  return Object.assign({}, ...journalOf(lines).flatMap((entry) => (entry.type === 'session.state' ? [entry.patch] : [])));
}
