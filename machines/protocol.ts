import type { AbortReason, CallOutcome, ToolProgress, ToolUseRequest } from '../src/tool/call.js';

/**
 * The events that travel between actors. Down: requests of a parent. Up: facts reported by a child.
 * Closed unions; ids are payload, never part of a type.
 */

/** Something was told to stop, and why. Travels down to every child; at the leaf it becomes the AbortSignal. */
export interface AbortEvent {
  readonly type: 'abort';
  /** Why. */
  readonly reason: AbortReason;
}

/** Parent → tool call. */
export type CallRequest =
  /** A slot is granted: walk the gates. */
  | { readonly type: 'call.start' }
  /** Every earlier call has yielded: hand over the result. */
  | { readonly type: 'call.yield' }
  | AbortEvent;

/** What scheduling must know of a call's input. A call that cannot be parsed counts as unsafe. */
export interface CallClass {
  /** Whether the call may overlap others, by its own input. */
  readonly safe: boolean;
  /** Two calls that share a key never overlap, safe or not. */
  readonly resourceKeys: readonly string[];
}

/** Tool call → executor. `slot` is the child's id, re-used once a call has yielded; `callId` is the `tool_use` id. */
export type CallReport =
  | ({ readonly type: 'call.classified'; readonly slot: string; readonly callId: string } & CallClass)
  | { readonly type: 'call.progress'; readonly slot: string; readonly callId: string; readonly progress: ToolProgress }
  | { readonly type: 'call.completed'; readonly slot: string; readonly callId: string; readonly outcome: CallOutcome }
  /** The call asks for more than itself to end: a person said stop, or its tool cancels siblings on error. */
  | { readonly type: 'call.aborted'; readonly slot: string; readonly callId: string; readonly reason: AbortReason };

/** Turn → executor. */
export type ExecutorRequest =
  | { readonly type: 'toolUse.received'; readonly call: ToolUseRequest }
  /** The stream is over. `discarded` when its calls must not be started any more (a refusal). */
  | { readonly type: 'stream.ended'; readonly discarded: boolean }
  | AbortEvent;

/** A call as its turn remembers it. */
export interface SettledCall {
  /** The `tool_use` id. */
  readonly callId: string;
  /** The tool's name as the model wrote it. */
  readonly name: string;
  /** How the call ended. */
  readonly outcome: CallOutcome;
}

/** What an executor hands to its turn when every call has yielded. */
export interface ExecutorOutput {
  /** Every call of the turn, in block order. */
  readonly calls: readonly SettledCall[];
  /** Why the query must not go on, when a call or the person said so. */
  readonly abortReason: AbortReason | null;
  /** A hook asked for the query to end after these results. */
  readonly preventContinuation: boolean;
}
