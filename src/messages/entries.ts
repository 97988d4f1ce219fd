import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../json.js';
import type { AnswerName } from './answerName.js';
import { isLooseBlock } from './blocks.js';
import { type JournalEntry, parseJournalEntry } from './journal.js';
import type { ContentBlockParam } from './types.js';

/*
 * The lines of a transcript. Chain entries are compatible with Claude Code's transcripts: one JSON object a line, linked by
 * `parentUuid`, one line per content block of an answer with the same `message.id`. Journal entries are ours and hang on no chain.
 * Whatever else a line holds is kept as it was read (`opaque`), so that loading and saving loses nothing.
 */

const block = z.custom<ContentBlockParam>(isLooseBlock, 'expected a content block with a type');
const content = z.union([z.string(), z.array(block)]);

/** Stamped on every chain entry of ours: its calls have a journal. */
export const WRITER = 'sixgates';

const identity = { uuid: z.string().min(1) };
const base = {
  /** The entry this one follows; null at a root. */
  parentUuid: z.string().nullish(),
  sessionId: z.string().optional(),
  /** ISO 8601. */
  timestamp: z.string().optional(),
  cwd: z.string().optional(),
  /** True for a subagent's conversation that shares the file. */
  isSidechain: z.boolean().optional(),
  /** True for what the person did not type: expansions, caveats, context. */
  isMeta: z.boolean().optional(),
  teamName: z.string().optional(),
  /** The subagent this belongs to. */
  agentId: z.string().optional(),
  /** The program that wrote the entry; absent in Claude Code's own. */
  writer: z.string().optional(),
};

const userDraft = z.looseObject({
  ...base,
  type: z.literal('user'),
  message: z.looseObject({ role: z.literal('user'), content }),
  /** A result's structured output, for people; the model never sees it. */
  toolUseResult: z.unknown().optional(),
  /** The summary that stands for everything before a compaction boundary. */
  isCompactSummary: z.boolean().optional(),
  isVisibleInTranscriptOnly: z.boolean().optional(),
  /** The queued prompt that this entry delivers. */
  promptId: z.string().optional(),
});
const assistantDraft = z.looseObject({
  ...base,
  type: z.literal('assistant'),
  message: z.looseObject({ id: z.string().optional(), role: z.literal('assistant'), model: z.string().optional(), content }),
  requestId: z.string().optional(),
  isApiErrorMessage: z.boolean().optional(),
});
const preservedSegment = z.looseObject({ headUuid: z.string(), anchorUuid: z.string(), tailUuid: z.string() });
const systemDraft = z.looseObject({
  ...base,
  type: z.literal('system'),
  /** `compact_boundary`, `message_discarded`, `local_command`, … Never sent to the model. */
  subtype: z.string().optional(),
  content: z.unknown().optional(),
  logicalParentUuid: z.string().nullish(),
  compactMetadata: z.looseObject({ preservedSegment: preservedSegment.optional() }).optional(),
  /** For `message_discarded`: the answer none of whose blocks counts. */
  messageId: z.string().optional(),
});
const attachmentDraft = z.looseObject({ ...base, type: z.literal('attachment'), attachment: z.looseObject({ type: z.string() }) });

const userEntry = userDraft.extend(identity);
const assistantEntry = assistantDraft.extend(identity);
const systemEntry = systemDraft.extend(identity);
const attachmentEntry = attachmentDraft.extend(identity);

export type UserEntry = z.infer<typeof userEntry>;
export type AssistantEntry = z.infer<typeof assistantEntry>;
export type SystemEntry = z.infer<typeof systemEntry>;
/** Context put beside the conversation: hook texts, notifications, prompts typed while a turn ran. */
export type AttachmentEntry = z.infer<typeof attachmentEntry>;
export type ChainEntry = UserEntry | AssistantEntry | SystemEntry | AttachmentEntry;

/** What names the answer that an entry is a piece of; undefined where nothing does. */
export function answerNameOf({ message: { id }, requestId }: AssistantEntry): AnswerName | undefined {
  return id === undefined || id === '' ? undefined : { messageId: id, requestId };
}

/** A chain entry before the transcript has given it its place: uuid, parent, session, time and directory are filled in on append. */
export type ChainDraft =
  | z.infer<typeof userDraft>
  | z.infer<typeof assistantDraft>
  | z.infer<typeof systemDraft>
  | z.infer<typeof attachmentDraft>;

const CHAIN_SCHEMAS = { user: userEntry, assistant: assistantEntry, system: systemEntry, attachment: attachmentEntry };

/** A value that its schema found nothing against. The value itself passes, not a copy, so that saving it keeps its keys where they were. */
function isSound<T extends object>(_value: object, issue: z.ZodError | undefined): _value is T {
  return issue === undefined;
}

/** One line of a transcript, understood as far as this version can. */
export type TranscriptLine =
  | { readonly kind: 'chain'; readonly entry: ChainEntry }
  | { readonly kind: 'journal'; readonly entry: JournalEntry }
  | { readonly kind: 'opaque'; readonly entry: JsonObject };

/** Reads one parsed line. A known type with damaged fields is refused with the field's path; unknown types are opaque. */
export function parseTranscriptLine(value: unknown): TranscriptLine | { readonly kind: 'malformed'; readonly reason: string } {
  if (!isJsonObject(value)) return { kind: 'malformed', reason: 'not a JSON object' };
  const { type } = value;
  if (type === 'user' || type === 'assistant' || type === 'system' || type === 'attachment') {
    const issue = CHAIN_SCHEMAS[type].safeParse(value).error;
    return isSound<ChainEntry>(value, issue)
      ? { kind: 'chain', entry: value }
      : { kind: 'malformed', reason: `${type} entry: ${firstIssue(issue)}` };
  }
  const journal = parseJournalEntry(value);
  if (journal === undefined) return { kind: 'opaque', entry: value };
  const issue = journal.error;
  if (isSound<JournalEntry>(value, issue)) return { kind: 'journal', entry: value };
  return { kind: 'malformed', reason: `${String(type)} entry: ${firstIssue(issue)}` };
}

function firstIssue(error: z.ZodError | undefined): string {
  const issue = error?.issues[0];
  return issue === undefined ? 'does not fit its type' : `${issue.path.join('.') || 'entry'}: ${issue.message}`;
}

/**
 * One line of JSON without a line break anywhere in it. U+2028 and U+2029 are legal in JSON, but some line readers split at them.
 */
export function serializeEntry(entry: object): string {
  return JSON.stringify(entry).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}
