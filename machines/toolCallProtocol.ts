import type { HookResult } from '../src/hooks/types.js';
import type { JsonValue } from '../src/json.js';
import type { PermissionDecision, PermissionFacts, TraceEntry } from '../src/permissions/types.js';
import type { AbortReason, CallOutcome, OutcomeKind, ToolProgress, ToolUseRequest } from '../src/tool/call.js';
import type { CallClass, CallRequest } from './protocol.js';

/** What the gates after `resolving` must know of the tool. */
export interface ResolvedTool {
  /** The tool's own name, where the model wrote an alias. */
  readonly toolName: string;
  /** Whether the tool has a `validateInput`. */
  readonly hasValidation: boolean;
  /** Whether the tool has a `checkPermissions`. */
  readonly hasOwnPermissions: boolean;
  /** Whether PreToolUse hooks are configured for it. */
  readonly hasPreToolUseHooks: boolean;
  /** What a new message of the person does to the running call. */
  readonly interruptBehavior: 'block' | 'cancel';
  /** Whether its failure ends the other calls of the turn. */
  readonly cancelsSiblingsOnError: boolean;
}
/** What the gates that need not wait say at once: each as one event, so that a recording holds it. */
export type GateAnswer =
  | ({ readonly type: 'call.weighed' } & CallClass)
  | { readonly type: 'tool.resolved'; readonly tool: ResolvedTool }
  | { readonly type: 'tool.missing'; readonly message: string }
  | { readonly type: 'input.accepted' }
  | { readonly type: 'input.refused'; readonly message: string }
  /** `digest` identifies the exact input that the facts speak of: approvals bind to it. */
  | { readonly type: 'facts.gathered'; readonly facts: PermissionFacts; readonly digest: string }
  | { readonly type: 'result.mapped'; readonly report: Report }
  /** A hook wants to see the tool's end, or part of the result goes to a file: the answer takes a while. */
  | { readonly type: 'result.awaited' }
  /** A gate that cannot decide does not let through. */
  | { readonly type: 'gate.broke'; readonly gate: string; readonly reason: string };

/** An input put in place of the model's. It walks the gates again, and no approval of the old one counts for it. */
export interface RewrittenInput {
  /** The input; any JSON, for it has not been parsed. */
  readonly value: JsonValue;
  /** Who gave it, in words. */
  readonly by: string;
  /** Set when a person or a PermissionRequest hook gave the input together with a yes. */
  readonly approval: TraceEntry | null;
}

/** How the tool itself ended. Its output stays with the port, addressed by call id. */
export type ToolEnd =
  | { readonly kind: 'succeeded'; readonly durationMs: number; readonly hasModifier: boolean }
  | { readonly kind: 'failed'; readonly durationMs: number; readonly message: string }
  | { readonly kind: 'timedOut'; readonly durationMs: number; readonly limitMs: number; readonly message: string }
  /** The tool was not called any more, or obeyed the abort, or the grace ran out (`abandoned`): what it does later is only inspected. */
  | { readonly kind: 'aborted'; readonly durationMs: number; readonly started: boolean; readonly abandoned: boolean };

/** What reporting made of the tool's end: hooks have seen it, it has been mapped, measured and stored. */
export interface Report {
  /** Whether the result is marked as an error. */
  readonly isError: boolean;
  /** The first line of an error that the tool reported by itself. */
  readonly errorLine?: string;
  /** Size of the result that goes to the model, in characters. */
  readonly resultSize: number;
  /** A hook asked for the query to end after this turn's results. */
  readonly preventContinuation: boolean;
}

/** What a tool call's actor is started with. */
export interface ToolCallInput {
  /** The child's id, re-used once a call has yielded. */
  readonly slot: string;
  /** The `tool_use` block. */
  readonly call: ToolUseRequest;
}
/** What is known of a call, gate by gate. */
export interface ToolCallContext extends ToolCallInput {
  /** The tool, once resolved. */
  readonly tool: ResolvedTool | null;
  /** The input that stands in place of the model's, if any does. */
  readonly rewritten: RewrittenInput | null;
  /** What the PreToolUse hooks came to. */
  readonly hook: HookResult | null;
  /** Checks of an earlier passage, before the input was rewritten. */
  readonly earlierTrace: readonly TraceEntry[];
  /** The decision, once made. */
  readonly decision: PermissionDecision | null;
  /** Why the call is being stopped; null while it is not. */
  readonly abort: AbortReason | null;
  /** How the tool itself ended, once it has. */
  readonly end: ToolEnd | null;
  /** How the call ended. Written once. */
  readonly outcome: CallOutcome | null;
}
/** What a tool call hears: its executor, its gates, and its tool's progress. */
export type ToolCallEvent = CallRequest | GateAnswer | { readonly type: 'tool.progressed'; readonly progress: ToolProgress };

/** What the ports of a call are asked with. They find tool, session and stores by the call's id. */
export interface CallPortInput {
  /** The `tool_use` id. */
  readonly callId: string;
}

/** The states whose passing is announced to whoever watches the session. */
export type CallState =
  | 'queued'
  | `executing.${'resolving' | 'parsing' | 'validating' | 'hooking' | 'deciding' | 'calling' | 'reporting'}`
  | `completed.${OutcomeKind}`
  | 'yielded';
