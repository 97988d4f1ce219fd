import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../json.js';
import type { CallOutcome } from '../tool/call.js';
import { isLooseBlock } from './blocks.js';
import type { ToolResultBlockParam } from './types.js';

/*
 * Journal entries: what a restart must know and the model must not see. They hang on no chain, so other readers skip them, and they
 * stay valid across compaction. Order in the file is their only order.
 */

const base = { sessionId: z.string().optional(), timestamp: z.string().optional() };
const id = z.string().min(1);
const json = z.custom<JsonObject>(isJsonObject, 'expected an object');
const result = z.custom<ToolResultBlockParam>(
  (value) => isLooseBlock(value) && value.type === 'tool_result',
  'expected a tool_result block',
);
const outcome = z.custom<CallOutcome>((value) => isJsonObject(value) && typeof value.kind === 'string', 'expected an outcome');

const SCHEMAS = {
  /** Written before a tool runs: from here on its side effect is possible. */
  'call.started': z.looseObject({ ...base, type: z.literal('call.started'), callId: id, tool: z.string().optional() }),
  /** A call has ended. `result` is present when the result block's own line could not be written in the same breath. */
  'call.outcome': z.looseObject({ ...base, type: z.literal('call.outcome'), callId: id, outcome, result: result.optional() }),
  'notification.enqueued': z.looseObject({ ...base, type: z.literal('notification.enqueued'), notificationId: id, text: z.string() }),
  /** Only for deliveries that leave no attachment; an attachment of the same id counts as delivered by itself. */
  'notification.delivered': z.looseObject({ ...base, type: z.literal('notification.delivered'), notificationId: id }),
  'prompt.queued': z.looseObject({
    ...base,
    type: z.literal('prompt.queued'),
    promptId: id,
    content: z.union([z.string(), z.array(z.unknown())]),
  }),
  /** Taken back by the person before it was delivered. */
  'prompt.withdrawn': z.looseObject({ ...base, type: z.literal('prompt.withdrawn'), promptId: id }),
  /** Deferred tools whose schema the model has been given. The digest tells whether the schema has changed since. */
  'tools.loaded': z.looseObject({
    ...base,
    type: z.literal('tools.loaded'),
    tools: z.array(z.looseObject({ name: z.string().min(1), schemaDigest: z.string().optional() })),
  }),
  /** A question to the person is open: `ask:<call id>`, bound to the digest of exactly the input shown. */
  'permission.parked': z.looseObject({
    ...base,
    type: z.literal('permission.parked'),
    callId: id,
    tool: z.string(),
    input: json,
    inputDigest: z.string().optional(),
    question: json.optional(),
  }),
  'permission.resolved': z.looseObject({
    ...base,
    type: z.literal('permission.resolved'),
    callId: id,
    behavior: z.enum(['allow', 'deny']),
  }),
  /** Work runs on beside the conversation. Without a `task.ended` line its process has died with it, or before it. */
  'task.started': z.looseObject({
    ...base,
    type: z.literal('task.started'),
    taskId: id,
    kind: z.string(),
    title: z.string(),
    callId: z.string(),
    outputFile: z.string(),
  }),
  'task.ended': z.looseObject({
    ...base,
    type: z.literal('task.ended'),
    taskId: id,
    status: z.enum(['completed', 'failed', 'killed']),
    exitCode: z.number().nullable(),
    summary: z.string(),
  }),
  /** Session state that outlives the process (mode, model …); later patches win key by key. */
  'session.state': z.looseObject({ ...base, type: z.literal('session.state'), patch: json }),
} as const;

type Schemas = typeof SCHEMAS;
export type JournalType = keyof Schemas;
export type JournalEntry = { [T in JournalType]: z.infer<Schemas[T]> }[JournalType];

function isJournalType(type: unknown): type is JournalType {
  return typeof type === 'string' && Object.hasOwn(SCHEMAS, type);
}

/** Undefined when the line is no journal entry of this version. */
export function parseJournalEntry(value: JsonObject): z.ZodSafeParseResult<JournalEntry> | undefined {
  return isJournalType(value.type) ? SCHEMAS[value.type].safeParse(value) : undefined;
}
