import { z } from 'zod';
import { isJsonObject } from '../json.js';
import { isLooseBlock } from '../messages/blocks.js';
import type { ContentBlockParam } from '../messages/types.js';
import type { PermissionAnswer, PermissionUpdate } from '../permissions/types.js';
import type { AnswerReceipt } from '../session/questions.js';
import type { SessionUpdate, SessionUsage } from '../session/updates.js';

/** The virtual objects of a session, keyed by its id. */
export const SESSION_OBJECT = 'SixgatesSession';
export const INBOX_OBJECT = 'SixgatesInbox';

const id = z.string().min(1);
const isBlock = (value: unknown): value is ContentBlockParam => isLooseBlock(value);
const isAnswer = (value: unknown): value is PermissionAnswer =>
  isJsonObject(value) &&
  isJsonObject(value.source) &&
  typeof value.source.type === 'string' &&
  (value.behavior === 'allow' || (value.behavior === 'deny' && typeof value.message === 'string'));
const isUpdate = (value: unknown): value is PermissionUpdate => isJsonObject(value) && typeof value.type === 'string';

/**
 * Everything that reaches a session from outside, as one message. `id` makes it one: sent twice, it counts once. `at` is the sender's
 * time in milliseconds since the epoch.
 */
export const messageSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('prompt'),
    id,
    at: z.number(),
    content: z.union([z.string(), z.array(z.custom<ContentBlockParam>(isBlock))]),
  }),
  z.object({ type: z.literal('withdraw'), id, at: z.number(), promptId: id }),
  z.object({ type: z.literal('notify'), id, at: z.number(), text: z.string().min(1) }),
  z.object({
    type: z.literal('answer'),
    id,
    at: z.number(),
    callId: id,
    inputDigest: z.string(),
    answer: z.custom<PermissionAnswer>(isAnswer, 'expected a permission answer'),
  }),
  z.object({ type: z.literal('answerQuestion'), id, at: z.number(), callId: id, answers: z.record(z.string(), z.string()) }),
  z.object({
    type: z.literal('abort'),
    id,
    at: z.number(),
    reason: z.enum(['userInterrupt', 'newMessage', 'permissionRejected', 'siblingError', 'streamDiscarded', 'timeout', 'sessionClosed']),
  }),
  z.object({ type: z.literal('stopTask'), id, at: z.number(), taskId: id }),
  /** The worker that runs a background task says how it ended. */
  z.object({
    type: z.literal('taskEnded'),
    id,
    at: z.number(),
    taskId: id,
    end: z.object({
      status: z.enum(['completed', 'failed', 'killed']),
      exitCode: z.number().nullable().optional(),
      summary: z.string(),
    }),
  }),
  z.object({ type: z.literal('permissions'), id, at: z.number(), updates: z.array(z.custom<PermissionUpdate>(isUpdate)) }),
  z.object({ type: z.literal('compact'), id, at: z.number(), instructions: z.string().optional() }),
  z.object({ type: z.literal('close'), id, at: z.number() }),
]);
export type SessionMessage = z.infer<typeof messageSchema>;
export type Unsent = SessionMessage extends infer M ? (M extends SessionMessage ? Omit<M, 'id' | 'at'> : never) : never;

/** What `post` answers: the invocation that takes the message, to attach to. */
export const postedSchema = z.object({ invocation: z.string() });
export type Posted = z.infer<typeof postedSchema>;

/** An update with its place. Numbers of a session begin at 1 and have no gaps. */
export interface NumberedUpdate {
  /** Its number: one more than that of the update before. */
  readonly seq: number;
  /** When it was written, in milliseconds since the epoch. */
  readonly at: number;
  /** The update itself; absent where the entry only says that a message was taken. */
  readonly update?: SessionUpdate;
  /** A message has been taken; for an answer, what became of it. */
  readonly took?: { readonly id: string; readonly receipt?: AnswerReceipt };
  /** With `query.ended`: prompts that still wait. */
  readonly waiting?: string[];
}

const isReceipt = (value: unknown): value is AnswerReceipt => isJsonObject(value) && typeof value.accepted === 'boolean';
const isSessionUpdate = (value: unknown): value is SessionUpdate => isJsonObject(value) && typeof value.type === 'string';
export const updatesSchema = z.object({
  updates: z.array(
    z.object({
      seq: z.number(),
      at: z.number(),
      update: z.custom<SessionUpdate>(isSessionUpdate).exactOptional(),
      took: z.object({ id: z.string(), receipt: z.custom<AnswerReceipt>(isReceipt).exactOptional() }).exactOptional(),
      waiting: z.array(z.string()).exactOptional(),
    }),
  ),
  /** The number to ask from next. */
  next: z.number(),
  /** The oldest number that is still kept. */
  first: z.number(),
});
export type UpdatePage = z.infer<typeof updatesSchema>;

/** What a session keeps between two invocations, beside its transcript and its updates. */
export interface SessionRecord {
  /** Parts of the transcript: state keys `log:0` … */
  readonly logs: number;
  /** The number of the next update. */
  readonly seq: number;
  /** First numbers of the batches of updates that are kept. */
  readonly batches: readonly number[];
  readonly usage: SessionUsage | null;
  readonly spend: { readonly tokens: number; readonly usd: number };
  readonly contextTokens: number;
  /** What the session has read, by path. */
  readonly files: readonly (readonly [string, { readonly digest: string; readonly partial: boolean }])[];
  /** Rules and directories that hold for this session. */
  readonly permissions: readonly PermissionUpdate[];
  readonly isClosed: boolean;
}
