import type { HookResult } from '../src/hooks/types.js';
import type { JsonValue } from '../src/json.js';
import type { PermissionDecision, PermissionFacts, TraceEntry } from '../src/permissions/types.js';
import type { AbortReason, CallOutcome, OutcomeKind, ToolProgress, ToolUseRequest } from '../src/tool/call.js';
import type { CallClass, CallRequest } from './protocol.js';

/** What the gates after `resolving` must know of the tool. */
export interface ResolvedTool {
  readonly toolName: string;
  readonly hasValidation: boolean;
  readonly hasOwnPermissions: boolean;
  readonly hasPreToolUseHooks: boolean;
  readonly interruptBehavior: 'block' | 'cancel';
  readonly cancelsSiblingsOnError: boolean;
}
/** What the gates that need not wait say at once: each as one event, so that a recording holds it. */
export type GateAnswer =
  | ({ readonly type: 'call.weighed' } & CallClass)
  | { readonly type: 'tool.resolved'; readonly tool: ResolvedTool }
  | { readonly type: 'tool.missing'; readonly message: string }
  /** `digest` identifies the exact input: approvals bind to it. */
  | { readonly type: 'input.accepted'; readonly digest: string }
  | { readonly type: 'input.refused'; readonly message: string }
  | { readonly type: 'facts.gathered'; readonly facts: PermissionFacts }
  | { readonly type: 'result.mapped'; readonly report: Report }
  /** A hook wants to see the tool's end, or part of the result goes to a file: the answer takes a while. */
  | { readonly type: 'result.awaited' }
  /** A gate that cannot decide does not let through. */
  | { readonly type: 'gate.broke'; readonly gate: string; readonly reason: string };

/** An input put in place of the model's. It walks the gates again, and no approval of the old one counts for it. */
export interface RewrittenInput {
  readonly value: JsonValue;
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
  readonly isError: boolean;
  /** The first line of an error that the tool reported by itself. */
  readonly errorLine?: string;
  readonly resultSize: number;
  readonly preventContinuation: boolean;
}

export interface ToolCallInput {
  readonly slot: string;
  readonly call: ToolUseRequest;
}
export interface ToolCallContext extends ToolCallInput {
  readonly tool: ResolvedTool | null;
  readonly rewritten: RewrittenInput | null;
  readonly inputDigest: string;
  readonly hook: HookResult | null;
  /** Checks of an earlier passage, before the input was rewritten. */
  readonly earlierTrace: readonly TraceEntry[];
  readonly facts: PermissionFacts | null;
  readonly decision: PermissionDecision | null;
  readonly abort: AbortReason | null;
  readonly end: ToolEnd | null;
  readonly outcome: CallOutcome | null;
}
export type ToolCallEvent = CallRequest | GateAnswer | { readonly type: 'tool.progressed'; readonly progress: ToolProgress };

/** What the ports of a call are asked with. They find tool, session and stores by the call's id. */
export interface CallPortInput {
  readonly callId: string;
}

/** The states whose passing is announced to whoever watches the session. */
export type CallState =
  | 'queued'
  | `executing.${'resolving' | 'parsing' | 'validating' | 'hooking' | 'deciding' | 'calling' | 'reporting'}`
  | `completed.${OutcomeKind}`
  | 'yielded';
