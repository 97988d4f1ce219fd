import type { z } from 'zod';
import type { JsonObject } from '../json.js';
import type { ImageBlockParam, ToolResultBlockParam } from '../messages/types.js';
import type { PermissionUpdate, ToolPermissionContext, ToolVerdict } from '../permissions/types.js';
import type { ToolProgress } from './call.js';

/** What a running call may use of the world. Given to `call`, `validateInput` and `checkPermissions`. */
export interface ToolContext {
  readonly sessionId: string;
  /** The `tool_use` id; stable across retries, so it serves as an idempotency key. */
  readonly callId: string;
  /** Working directory of the session when the call started, absolute. */
  readonly cwd: string;
  /** Environment for child processes. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Fires on abort; its `reason` is an `AbortReason` string. */
  readonly signal: AbortSignal;
  readonly permissions: ToolPermissionContext;
  /**
   * Where the call's paths led when its permission was decided, by the absolute path asked for. A tool that finds a path
   * leading elsewhere at the moment it opens it refuses. Absent when nobody resolved paths.
   */
  readonly resolvedPaths?: Readonly<Record<string, string>>;
  /** What this session has read, by absolute path: Edit and Write consult it. */
  readonly files: FileLedger;
  /** Directory for outputs too large for the model: `<session>/tool-results`. */
  readonly resultsDir: string;
  /** Puts questions to the person behind the session; rejects with a clear error when there is none. */
  askPerson(questions: readonly PersonQuestion[]): Promise<PersonAnswers>;
  /** Session services that only some tools need (tasks, deferred tools, subagents), by capability. */
  readonly capabilities: ToolCapabilities;
}

/** Capabilities a session may lend to tools; each is absent when the session does not offer it. */
export interface ToolCapabilities {
  readonly tasks?: BackgroundTasks;
  readonly toolSearch?: ToolSearchIndex;
  readonly agents?: AgentLauncher;
}

/** Starts and observes background tasks. A task is terminal only when its process group is gone and its output flushed. */
export interface BackgroundTasks {
  /** Hands a running child over to the session; answers at once with the task's id and output file. */
  adopt(task: BackgroundTaskStart): BackgroundTaskHandle;
  list(): readonly BackgroundTaskInfo[];
  get(id: string): BackgroundTaskInfo | undefined;
  /** Stops a task and resolves when it is terminal. */
  stop(id: string): Promise<BackgroundTaskInfo>;
  /** Resolves when the task is terminal or the signal fires. */
  settled(id: string, signal: AbortSignal): Promise<BackgroundTaskInfo>;
  /** Resolves when any notification waits for the model or the signal fires. */
  nextNotification(signal: AbortSignal): Promise<void>;
}
export interface BackgroundTaskStart {
  /** Given by whoever has named the task already; default a fresh one. */
  readonly id?: string;
  readonly kind: 'bash' | 'powershell' | 'agent';
  readonly title: string;
  readonly callId: string;
  readonly outputFile: string;
  /** Settles when the work has ended and all output is flushed. Never rejects. */
  readonly done: Promise<BackgroundTaskEnd>;
  /** Ends the work and everything it started; `done` settles afterwards. */
  stop(): void;
}
export interface BackgroundTaskEnd {
  readonly status: 'completed' | 'failed' | 'killed';
  readonly exitCode?: number | null;
  readonly summary: string;
}
export interface BackgroundTaskHandle {
  readonly id: string;
  readonly outputFile: string;
}
export interface BackgroundTaskInfo {
  readonly id: string;
  readonly kind: BackgroundTaskStart['kind'];
  readonly title: string;
  readonly callId: string;
  readonly outputFile: string;
  readonly startedAt: number;
  readonly status: 'running' | BackgroundTaskEnd['status'];
  readonly exitCode?: number | null;
  readonly summary?: string;
}

/** Deferred tools by name and keyword. Loading is recorded as session state. */
export interface ToolSearchIndex {
  /** True where the API expands references to deferred tools: a result then names them in `tool_reference` blocks. */
  readonly byReference?: boolean;
  search(query: string, maxResults: number): readonly DeferredToolMatch[];
  load(names: readonly string[]): { readonly loaded: readonly string[]; readonly unknown: readonly string[] };
}
export interface DeferredToolMatch {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** Starts subagents: sessions as children of this one. */
export interface AgentLauncher {
  readonly types: readonly { readonly name: string; readonly description: string }[];
  /** Throws a `ToolFailure` where it refuses: unknown type, no tools, too deep, too many. */
  start(request: AgentRequest): RunningAgent;
}
export interface AgentRequest {
  readonly callId: string;
  readonly description: string;
  readonly prompt: string;
  /** Default `general-purpose`. */
  readonly subagentType?: string;
  readonly model?: string;
  /** Nobody waits for it. */
  readonly background?: boolean;
  /** Ends the agent; its result settles when everything it started has ended. */
  readonly signal: AbortSignal;
  onProgress(progress: ToolProgress): void;
}
export interface RunningAgent {
  readonly agentId: string;
  /** File of the agent's own conversation; null for a session in memory. */
  readonly transcriptPath: string | null;
  /** Settles when the agent and everything it started has ended. Never rejects. */
  readonly result: Promise<AgentResult>;
}
export interface AgentResult {
  readonly agentId: string;
  /** The agent's last words, or why there are none. */
  readonly text: string;
  readonly isError: boolean;
  /** The agent was told to stop. */
  readonly aborted: boolean;
  readonly toolCalls: number;
}

export interface PersonQuestion {
  readonly question: string;
  readonly header: string;
  readonly options: readonly { readonly label: string; readonly description: string }[];
  readonly multiSelect: boolean;
}
/** Answers by question text: a label, several joined by `, `, or what the person typed. */
export type PersonAnswers = Readonly<Record<string, string>>;

/** What the session remembers of a file it has read or written. Decided by content, never by time stamps. */
export interface FileRecord {
  /** Digest of the whole file's bytes at that moment. */
  readonly digest: string;
  /** True when only a part was shown to the model. */
  readonly partial: boolean;
}
export interface FileLedger {
  get(absolutePath: string): FileRecord | undefined;
  set(absolutePath: string, record: FileRecord): void;
  delete(absolutePath: string): void;
  entries(): Iterable<readonly [string, FileRecord]>;
}

/** What a call returns. `modify` changes session state after the batch; see the executor's rule for context modifiers. */
export interface ToolReturn<Output> {
  readonly data: Output;
  readonly modify?: (session: SessionModifier) => void;
}
/** The session state that a context modifier may change. */
export interface SessionModifier {
  setCwd(cwd: string): void;
  loadTools(names: readonly string[]): void;
  updatePermissions(updates: readonly PermissionUpdate[]): void;
}

/** Outcome of a tool's own `validateInput`. */
export type ValidationVerdict = { readonly ok: true } | { readonly ok: false; readonly message: string };

/** A piece of display, as plain data for any UI. */
export interface RenderedMessage {
  readonly title: string;
  readonly body?: string;
  readonly format?: 'text' | 'code' | 'diff' | 'markdown' | 'json';
}

/** What `mapToolResultToToolResultBlockParam` returns: a block without its id and error flag, which the runtime sets. */
export interface MappedToolResult {
  readonly content: ToolResultBlockParam['content'];
  readonly isError?: boolean;
  /** Images that belong to the result; the runtime places them where the API accepts them. */
  readonly images?: readonly ImageBlockParam[];
}

/**
 * A tool. `buildTool` fills what is left out with fail-closed defaults: not concurrency-safe, not read-only,
 * destructiveness undeclared, permission `passthrough`.
 */
export interface Tool<Input extends object = JsonObject, Output = unknown> {
  readonly name: string;
  readonly aliases: readonly string[];
  /** Words a search for tools may use beside name and description. */
  readonly searchHint: string | undefined;
  /** One line for people. */
  description(): string;
  /** The text the model gets as the tool's description. */
  prompt(): string;
  readonly inputSchema: z.ZodType<Input>;
  /**
   * What an input must be that whoever decides about the call (a person, a hook, the embedding program) put in place of the
   * model's, where that may hold more than the model may say. Default: `inputSchema`.
   */
  readonly answeredInputSchema: z.ZodType<Input> | undefined;
  /** The JSON Schema to send, where it is not derived from `inputSchema` (MCP tools). */
  readonly inputJSONSchema: JsonObject | undefined;
  readonly outputSchema: z.ZodType<Output> | undefined;
  call(input: Input, context: ToolContext, onProgress: (progress: ToolProgress) => void): Promise<ToolReturn<Output>>;
  readonly validateInput: ((input: Input, context: ToolContext) => Promise<ValidationVerdict> | ValidationVerdict) | undefined;
  readonly checkPermissions: ((input: Input, context: ToolContext) => Promise<ToolVerdict> | ToolVerdict) | undefined;
  /** A matcher for rule contents over this input, for tools whose rules are not a plain string comparison. */
  readonly preparePermissionMatcher: ((input: Input) => (ruleContent: string) => boolean) | undefined;
  isEnabled(): boolean;
  isConcurrencySafe(input: Input): boolean;
  isReadOnly(input: Input): boolean;
  isDestructive(input: Input): boolean | undefined;
  /** Keys of what this input touches; two safe writers with disjoint keys may overlap, the same key never. */
  readonly resourceKeys: ((input: Input, cwd: string) => readonly string[]) | undefined;
  /** What a new message of the person does to a running call. Default `block`: side effects are not cut mid-way. */
  readonly interruptBehavior: 'block' | 'cancel';
  /** True when only a person may answer, whatever mode or hook. */
  requiresUserInteraction(input: Input): boolean;
  readonly shouldDefer: boolean;
  /** Adds derived fields (absolute paths) for hooks, rules and observers. Must be pure. */
  readonly backfillObservableInput: ((input: Input, cwd: string) => Input) | undefined;
  /** A short text of the input for a classifier; undefined means the JSON of the input. */
  readonly toAutoClassifierInput: ((input: Input) => string) | undefined;
  userFacingName(input?: Input): string;
  /** Characters beyond which a result is persisted to a file. Default 50,000. */
  readonly maxResultSizeChars: number;
  /** True when running the same call twice is harmless: it may be run again after a crash. */
  readonly idempotent: boolean;
  /** True when exact textual forms ("true", "50") must not be repaired into the schema's types. */
  readonly strictInput: boolean;
  readonly onError: 'continue' | 'cancelSiblings';
  /** Hard limit for one call in milliseconds; undefined means the session's default. May depend on the input. */
  readonly timeoutMs: number | ((input: Input) => number | undefined) | undefined;
  /** Limit between two signs of progress in milliseconds; undefined means none. */
  readonly idleTimeoutMs: number | undefined;
  mapToolResultToToolResultBlockParam(output: Output): MappedToolResult;
  renderToolUseMessage(input: Input): RenderedMessage;
  renderToolResultMessage(output: Output): RenderedMessage;
  renderToolUseRejectedMessage(input: Input, reason: string): RenderedMessage;
  renderToolUseErrorMessage(error: string): RenderedMessage;
  /**
   * Set for tools that come from an MCP server: its structured identity, never parsed back out of the name. `alwaysLoad`: the
   * tool is sent in full however many there are.
   */
  readonly mcp: { readonly server: string; readonly tool: string; readonly alwaysLoad?: boolean } | undefined;
}

/** Any tool, with its input and output types forgotten. What pools and registries hold. */
// biome-ignore lint/suspicious/noExplicitAny: a registry of tools with different inputs needs the one existential TypeScript lacks
export type AnyTool = Tool<any, any>;
