import type { JsonObject, JsonValue } from '../json.js';

/**
 * A complete `tool_use` block as it came out of the stream, before anything has looked at it.
 * `rawInput` is the concatenated `input_json_delta` text; it is parsed once, at block end, and `input` is that parse.
 */
export interface ToolUseRequest {
  /** The block's `id` (`toolu_…`). */
  readonly id: string;
  /** The tool's name as the model wrote it. */
  readonly name: string;
  /** Position of the block in the assistant message; results are sent in this order. */
  readonly index: number;
  /** The raw JSON text, kept for error results; empty when the block had no deltas. */
  readonly rawInput: string;
  /** What `rawInput` was parsed to. */
  readonly input: ParsedJson;
}

/** The one decision about a block's JSON: an object that may go on to the schema, or why it may not. */
export type ParsedJson = { readonly kind: 'object'; readonly value: JsonObject } | { readonly kind: 'invalid'; readonly reason: string };

/** Why something was told to stop. Closed; the reason always reaches the text of the result. */
export type AbortReason =
  /** A person stopped it: Esc, Ctrl-C, `session.interrupt()`. */
  | 'userInterrupt'
  /** A person said something new, and the tool's `interruptBehavior` is `cancel`. */
  | 'newMessage'
  /** A person said no and wants the query to stop. */
  | 'permissionRejected'
  /** Another call of the turn failed, and its tool's `onError` is `cancelSiblings`. */
  | 'siblingError'
  /** The answer that asked for the call does not count: a refusal, or a stream that was begun again. */
  | 'streamDiscarded'
  /** A time limit was reached. */
  | 'timeout'
  /** The session is being closed. */
  | 'sessionClosed';

/** The states of the compound state `completed` of a tool call; each fixes the one result. */
export type OutcomeKind =
  /** The tool ran to its end. */
  | 'succeeded'
  /** The tool ran and failed, or ran into its time limit. */
  | 'failed'
  /** Nothing ran: no such tool, or an input that is not valid. */
  | 'invalid'
  /** Nothing ran: a rule, hook, mode or person said no. */
  | 'denied'
  /** A person stopped it, said something new, or closed the session. */
  | 'cancelled'
  /** Anything else stopped it: see `CallOutcome.reason`. */
  | 'stopped';

/** How far a call had come when it was cancelled or stopped. */
export type CancelPhase = 'beforeStart' | 'running' | 'finished';

/** How a call ended. Plain JSON: bodies live in the result store, addressed by call id. */
export interface CallOutcome {
  /** The state of `completed` it ended in. */
  readonly kind: OutcomeKind;
  /** Whether the result that goes to the model is marked as an error. */
  readonly isError: boolean;
  /** One line for a person: what happened, and why. */
  readonly summary: string;
  /** The text for the model where the tool produced none: why nothing ran, or why it stopped. */
  readonly message?: string;
  /** Present for cancelled and stopped calls. */
  readonly reason?: AbortReason;
  /** For cancelled and stopped calls: how far they had come. Only `beforeStart` means that nothing has happened. */
  readonly phase?: CancelPhase;
  /** True when the tool asked for a context modifier; the modifier itself stays with the port. */
  readonly hasModifier?: boolean;
  /** True when a hook asked for the query to end after this turn's results (`continue: false`). */
  readonly preventContinuation?: boolean;
  /** Wall time from `call.start` to the outcome, in milliseconds. */
  readonly durationMs?: number;
  /** Size of the result that goes to the model, in characters. */
  readonly resultSize?: number;
}

/** Progress of a running tool: lossy, never in the model's view. */
export interface ToolProgress {
  /** One line for a person. */
  readonly message?: string;
  /** Anything more, for a display that knows the tool. */
  readonly data?: JsonValue;
}
