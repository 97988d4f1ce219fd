import type { PermissionAnswer, PermissionFacts, PermissionUpdate, TraceEntry } from '../src/permissions/types.js';
import type { AbortReason } from '../src/tool/call.js';

export interface PermissionInput {
  readonly callId: string;
  readonly toolName: string;
  /** Digest of the exact input that the facts speak of; an answer must carry it. */
  readonly inputDigest: string;
  readonly facts: PermissionFacts;
}

/** What the ports that answer a question get to see. `id` is stable: the same call asks under the same id. */
export interface PermissionQuestion {
  readonly id: string;
  readonly callId: string;
  readonly toolName: string;
  readonly inputDigest: string;
  /** The check that demanded the question. */
  readonly cause: TraceEntry;
  readonly suggestions: readonly PermissionUpdate[];
  readonly blockedPath?: string;
}

/** An answer with its address: the call and the exact input that were shown. */
export interface AddressedAnswer {
  readonly callId: string;
  readonly inputDigest: string;
  readonly answer: PermissionAnswer;
}

/** A classifier's opinion in mode `auto`; `ask` when it does not know. */
export interface ClassifierVerdict {
  readonly behavior: 'allow' | 'deny' | 'ask';
  readonly reason: string;
}

export type PermissionEvent =
  | ({ readonly type: 'permission.answered' } & AddressedAnswer)
  | { readonly type: 'abort'; readonly reason: AbortReason };

/** An answer to another call, or to an input that has changed since, was refused. The question stays open. */
export interface AnswerRefused {
  readonly type: 'permission.answerRefused';
  readonly callId: string;
  readonly inputDigest: string;
}

export interface PermissionContext extends PermissionInput {
  readonly trace: readonly TraceEntry[];
  /** The check that demanded the question, once one did. */
  readonly cause: TraceEntry | null;
  readonly answer: PermissionAnswer | null;
}
