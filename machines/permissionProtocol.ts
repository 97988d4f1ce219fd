import type { PermissionAnswer, PermissionFacts, PermissionUpdate, TraceEntry } from '../src/permissions/types.js';
import type { AbortReason } from '../src/tool/call.js';

/** What the permission machine is started with: one call and the facts about it. */
export interface PermissionInput {
  /** The `tool_use` id. */
  readonly callId: string;
  /** The tool's canonical name. */
  readonly toolName: string;
  /** Digest of the exact input that the facts speak of; an answer must carry it. */
  readonly inputDigest: string;
  /** All that the guards read. */
  readonly facts: PermissionFacts;
}

/** What the ports that answer a question get to see. `id` is stable: the same call asks under the same id. */
export interface PermissionQuestion {
  /** `ask:<tool_use_id>`, or that of another port that is asked. */
  readonly id: string;
  /** The `tool_use` id. */
  readonly callId: string;
  /** The tool's canonical name. */
  readonly toolName: string;
  /** Digest of the exact input that is asked about. */
  readonly inputDigest: string;
  /** The check that demanded the question. */
  readonly cause: TraceEntry;
  /** What to offer as "always allow". */
  readonly suggestions: readonly PermissionUpdate[];
  /** The path that made the call ask, where one did. */
  readonly blockedPath?: string;
}

/** An answer with its address: the call and the exact input that were shown. */
export interface AddressedAnswer {
  /** The `tool_use` id of the call that was shown. */
  readonly callId: string;
  /** Digest of the input that was shown. */
  readonly inputDigest: string;
  /** The answer itself. */
  readonly answer: PermissionAnswer;
}

/** A classifier's opinion in mode `auto`; `ask` when it does not know. */
export interface ClassifierVerdict {
  /** Its opinion. */
  readonly behavior: 'allow' | 'deny' | 'ask';
  /** One sentence for a person. */
  readonly reason: string;
}

/** What the permission machine hears from outside. */
export type PermissionEvent =
  | ({ readonly type: 'permission.answered' } & AddressedAnswer)
  | { readonly type: 'abort'; readonly reason: AbortReason };

/** An answer to another call, or to an input that has changed since, was refused. The question stays open. */
export interface AnswerRefused {
  readonly type: 'permission.answerRefused';
  /** The call that the answer named. */
  readonly callId: string;
  /** The digest that the answer carried. */
  readonly inputDigest: string;
}

/** A decision in the making. */
export interface PermissionContext extends PermissionInput {
  /** Every check so far, in order. */
  readonly trace: readonly TraceEntry[];
  /** The check that demanded the question, once one did. */
  readonly cause: TraceEntry | null;
  /** What was answered; null before that. */
  readonly answer: PermissionAnswer | null;
}
