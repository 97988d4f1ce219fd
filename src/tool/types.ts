import type { z } from 'zod';
import type { JsonObject } from '../json.js';
import type { ImageBlockParam, ToolResultBlockParam } from '../messages/types.js';
import type { PermissionUpdate, ToolPermissionContext, ToolVerdict } from '../permissions/types.js';
import type { ToolProgress } from './call.js';

/** What a running call may use of the world. Given to `call`, `validateInput` and `checkPermissions`. */
export interface ToolContext {
  /** The session the call belongs to; a subagent's own. */
  readonly sessionId: string;
  /** The `tool_use` id; stable across retries, so it serves as an idempotency key. */
  readonly callId: string;
  /** Working directory of the session when the call started, absolute. */
  readonly cwd: string;
  /** Environment for child processes. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Fires on abort; its `reason` is an `AbortReason` string. */
  readonly signal: AbortSignal;
  /** What the tool may know of the session's permissions. */
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
  /** A script that shell commands read before they run, where it exists: what SessionStart hooks have left. */
  readonly envFile?: string;
  /** Puts questions to the person behind the session; rejects with a clear error when there is none. */
  askPerson(questions: readonly PersonQuestion[]): Promise<PersonAnswers>;
  /** Session services that only some tools need (tasks, deferred tools, subagents), by capability. */
  readonly capabilities: ToolCapabilities;
}

/** Capabilities a session may lend to tools; each is absent when the session does not offer it. */
export interface ToolCapabilities {
  /** Background tasks. */
  readonly tasks?: BackgroundTasks;
  /** Deferred tools, by name and keyword. */
  readonly toolSearch?: ToolSearchIndex;
  /** Subagents. */
  readonly agents?: AgentLauncher;
}

/** Starts and observes background tasks. A task is terminal only when its process group is gone and its output flushed. */
export interface BackgroundTasks {
  /** Hands a running child over to the session; answers at once with the task's id and output file. */
  adopt(task: BackgroundTaskStart): BackgroundTaskHandle;
  /** Tasks of this session, running and ended, oldest first. */
  list(): readonly BackgroundTaskInfo[];
  /** A task by its id; undefined for an unknown one. */
  get(id: string): BackgroundTaskInfo | undefined;
  /** Stops a task and resolves when it is terminal. */
  stop(id: string): Promise<BackgroundTaskInfo>;
  /** Resolves when the task is terminal or the signal fires. */
  settled(id: string, signal: AbortSignal): Promise<BackgroundTaskInfo>;
  /** Resolves when any notification waits for the model or the signal fires. */
  nextNotification(signal: AbortSignal): Promise<void>;
}
/** Work that goes on after its call has answered. */
export interface BackgroundTaskStart {
  /** Given by whoever has named the task already; default a fresh one. */
  readonly id?: string;
  /** What it is, for displays. */
  readonly kind: 'bash' | 'powershell' | 'agent';
  /** One line for a person: the command, the agent's task. */
  readonly title: string;
  /** The `tool_use` id of the call that began it. */
  readonly callId: string;
  /** File that its output is written to, absolute. */
  readonly outputFile: string;
  /** Settles when the work has ended and all output is flushed. Never rejects. */
  readonly done: Promise<BackgroundTaskEnd>;
  /** Ends the work and everything it started; `done` settles afterwards. */
  stop(): void;
}
/** How a task ended. Terminal: nothing follows it. */
export interface BackgroundTaskEnd {
  /** `killed`: it was told to stop, or died of a signal. */
  readonly status: 'completed' | 'failed' | 'killed';
  /** Exit code of a process; null when a signal ended it, undefined where there is none. */
  readonly exitCode?: number | null;
  /** What the model is told, in a sentence. */
  readonly summary: string;
}
/** What the call that began a task tells the model. */
export interface BackgroundTaskHandle {
  /** The task's id, for TaskOutput and TaskStop. */
  readonly id: string;
  /** File that its output is written to, absolute. */
  readonly outputFile: string;
}
/** A task as it stands. */
export interface BackgroundTaskInfo {
  /** The task's id. */
  readonly id: string;
  /** What it is. */
  readonly kind: BackgroundTaskStart['kind'];
  /** One line for a person. */
  readonly title: string;
  /** The `tool_use` id of the call that began it. */
  readonly callId: string;
  /** File that its output is written to, absolute. */
  readonly outputFile: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** `running` until everything it started is gone. */
  readonly status: 'running' | BackgroundTaskEnd['status'];
  /** As in `BackgroundTaskEnd`; undefined while it runs. */
  readonly exitCode?: number | null;
  /** How it ended, in a sentence; undefined while it runs. */
  readonly summary?: string;
}

/** Deferred tools by name and keyword. Loading is recorded as session state. */
export interface ToolSearchIndex {
  /** True where the API expands references to deferred tools: a result then names them in `tool_reference` blocks. */
  readonly byReference?: boolean;
  /** Deferred tools that fit best, at most `maxResults`. `select:Name,Other` names them exactly. */
  search(query: string, maxResults: number): readonly DeferredToolMatch[];
  /** Makes tools part of the session from the next request on. */
  load(names: readonly string[]): { readonly loaded: readonly string[]; readonly unknown: readonly string[] };
}
/** A tool that was found. */
export interface DeferredToolMatch {
  /** What to call it by once it is loaded. */
  readonly name: string;
  /** What the model is told of it. */
  readonly description: string;
  /** JSON Schema of its input. */
  readonly inputSchema: JsonObject;
}

/** Starts subagents: sessions as children of this one. */
export interface AgentLauncher {
  /** The kinds of subagents there are, for the Agent tool's description. */
  readonly types: readonly { readonly name: string; readonly description: string }[];
  /** Throws a `ToolFailure` where it refuses: unknown type, no tools, too deep, too many. */
  start(request: AgentRequest): RunningAgent;
}
/** A subagent that is wanted. */
export interface AgentRequest {
  /** The `tool_use` id of the call that wants it. */
  readonly callId: string;
  /** The task in three to five words, for displays. */
  readonly description: string;
  /** The task, for the agent. */
  readonly prompt: string;
  /** Default `general-purpose`. */
  readonly subagentType?: string;
  /** A model id in place of the one its kind names. */
  readonly model?: string;
  /** Nobody waits for it. */
  readonly background?: boolean;
  /** Ends the agent; its result settles when everything it started has ended. */
  readonly signal: AbortSignal;
  /** Hears what the agent is doing, a line at a time. */
  onProgress(progress: ToolProgress): void;
}
/** A subagent at work. */
export interface RunningAgent {
  /** Its id: names its transcript and its updates. */
  readonly agentId: string;
  /** File of the agent's own conversation; null for a session in memory. */
  readonly transcriptPath: string | null;
  /** Settles when the agent and everything it started has ended. Never rejects. */
  readonly result: Promise<AgentResult>;
}
/** What became of a subagent. */
export interface AgentResult {
  /** The agent's id. */
  readonly agentId: string;
  /** The agent's last words, or why there are none. */
  readonly text: string;
  /** It could not do its task: its query ended otherwise than with an answer. */
  readonly isError: boolean;
  /** The agent was told to stop. */
  readonly aborted: boolean;
  /** Calls it made, those of its own subagents not counted. */
  readonly toolCalls: number;
}

/** One question of AskUserQuestion. */
export interface PersonQuestion {
  /** The question; its text is the key of its answer. */
  readonly question: string;
  /** A label of at most 12 characters. */
  readonly header: string;
  /** What the person can choose from; they may also type something else. */
  readonly options: readonly { readonly label: string; readonly description: string }[];
  /** Whether several options may be chosen. */
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
/** The files that a session has read or written, by absolute path. */
export interface FileLedger {
  /** What is remembered of a file; undefined when the session has not touched it. */
  get(absolutePath: string): FileRecord | undefined;
  /** Remembers a file as it is now. */
  set(absolutePath: string, record: FileRecord): void;
  /** Forgets a file: it must be read again before it is changed. */
  delete(absolutePath: string): void;
  /** All that is remembered. */
  entries(): Iterable<readonly [string, FileRecord]>;
}

/** What a call returns. `modify` changes session state after the batch; see the executor's rule for context modifiers. */
export interface ToolReturn<Output> {
  /** The output: what is mapped to the result. */
  readonly data: Output;
  /** A context modifier: changes session state once every call of its batch has completed, in block order. */
  readonly modify?: (session: SessionModifier) => void;
}
/** The session state that a context modifier may change. */
export interface SessionModifier {
  /** Changes the working directory of later calls; absolute. */
  setCwd(cwd: string): void;
  /** Makes deferred tools part of the session from the next request on. */
  loadTools(names: readonly string[]): void;
  /** Changes rules, mode or directories for later calls. */
  updatePermissions(updates: readonly PermissionUpdate[]): void;
}

/** Outcome of a tool's own `validateInput`. */
export type ValidationVerdict = { readonly ok: true } | { readonly ok: false; readonly message: string };

/** A piece of display, as plain data for any UI. */
export interface RenderedMessage {
  /** One line: what is done, or what came of it. */
  readonly title: string;
  /** What a display may show below it. */
  readonly body?: string;
  /** How to show the body. Default `text`. */
  readonly format?: 'text' | 'code' | 'diff' | 'markdown' | 'json';
}

/** What `mapToolResultToToolResultBlockParam` returns: a block without its id and error flag, which the runtime sets. */
export interface MappedToolResult {
  /** The result's content; undefined for an empty one. */
  readonly content: ToolResultBlockParam['content'];
  /** Marks the result as an error though the call did not throw. Default false. */
  readonly isError?: boolean;
  /** Images that belong to the result; the runtime places them where the API accepts them. */
  readonly images?: readonly ImageBlockParam[];
}

/**
 * A tool. `buildTool` fills what is left out with fail-closed defaults: not concurrency-safe, not read-only,
 * destructiveness undeclared, permission `passthrough`.
 */
export interface Tool<Input extends object = JsonObject, Output = unknown> {
  /** What the model calls it by: 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  /** Former names, under which it is still found. Default none. */
  readonly aliases: readonly string[];
  /** Words a search for tools may use beside name and description. */
  readonly searchHint: string | undefined;
  /** One line for people. */
  description(): string;
  /** The text the model gets as the tool's description. */
  prompt(): string;
  /** What the input must be. It is parsed to the type that `call` gets, defaults filled in. */
  readonly inputSchema: z.ZodType<Input>;
  /**
   * What an input must be that whoever decides about the call (a person, a hook, the embedding program) put in place of the
   * model's, where that may hold more than the model may say. Default: `inputSchema`.
   */
  readonly answeredInputSchema: z.ZodType<Input> | undefined;
  /** The JSON Schema to send, where it is not derived from `inputSchema` (MCP tools). */
  readonly inputJSONSchema: JsonObject | undefined;
  /** What `call` returns, for programs that read results; undefined where nothing is promised. */
  readonly outputSchema: z.ZodType<Output> | undefined;
  /** Does the work, behind all gates. It should heed `context.signal`; what it throws becomes an error result. */
  call(input: Input, context: ToolContext, onProgress: (progress: ToolProgress) => void): Promise<ToolReturn<Output>>;
  /** The third gate: what no schema can say (the file exists, the text occurs once). The message is for the model. Default none. */
  readonly validateInput: ((input: Input, context: ToolContext) => Promise<ValidationVerdict> | ValidationVerdict) | undefined;
  /** The tool's own word on a call, weighed with rules, hooks and mode. Default `passthrough`. */
  readonly checkPermissions: ((input: Input, context: ToolContext) => Promise<ToolVerdict> | ToolVerdict) | undefined;
  /** A matcher for rule contents over this input, for tools whose rules are not a plain string comparison. */
  readonly preparePermissionMatcher: ((input: Input) => (ruleContent: string) => boolean) | undefined;
  /** Whether it can work on this machine. Asked when pools are assembled. Default true. */
  isEnabled(): boolean;
  /** Whether calls with this input may overlap others. Default false. */
  isConcurrencySafe(input: Input): boolean;
  /** Whether this input changes nothing: mode plan lets it pass. Default false. */
  isReadOnly(input: Input): boolean;
  /** Whether this input may lose something for good. Default undefined: nobody has said. */
  isDestructive(input: Input): boolean | undefined;
  /** Keys of what this input touches; two safe writers with disjoint keys may overlap, the same key never. */
  readonly resourceKeys: ((input: Input, cwd: string) => readonly string[]) | undefined;
  /** What a new message of the person does to a running call. Default `block`: side effects are not cut mid-way. */
  readonly interruptBehavior: 'block' | 'cancel';
  /** True when only a person may answer, whatever mode or hook. */
  requiresUserInteraction(input: Input): boolean;
  /** Whether the model first learns only its name, and must search for it to call it. Default false. */
  readonly shouldDefer: boolean;
  /** Adds derived fields (absolute paths) for hooks, rules and observers. Must be pure. */
  readonly backfillObservableInput: ((input: Input, cwd: string) => Input) | undefined;
  /** A short text of the input for a classifier; undefined means the JSON of the input. */
  readonly toAutoClassifierInput: ((input: Input) => string) | undefined;
  /** What people call it. Default: `name`. */
  userFacingName(input?: Input): string;
  /** Characters beyond which a result is persisted to a file. Default 50,000. */
  readonly maxResultSizeChars: number;
  /** True when running the same call twice is harmless: it may be run again after a crash. */
  readonly idempotent: boolean;
  /** True when exact textual forms ("true", "50") must not be repaired into the schema's types. */
  readonly strictInput: boolean;
  /** What an error of this tool does to the other calls of its turn. Default `continue`. */
  readonly onError: 'continue' | 'cancelSiblings';
  /** Hard limit for one call in milliseconds; undefined means the session's default. May depend on the input. */
  readonly timeoutMs: number | ((input: Input) => number | undefined) | undefined;
  /** Limit between two signs of progress in milliseconds; undefined means none. */
  readonly idleTimeoutMs: number | undefined;
  /** Makes the output a result for the model. Default: text as it is, anything else as JSON. */
  mapToolResultToToolResultBlockParam(output: Output): MappedToolResult;
  /** The call, for a person who is asked about it or watches it. */
  renderToolUseMessage(input: Input): RenderedMessage;
  /** The output, for a person. */
  renderToolResultMessage(output: Output): RenderedMessage;
  /** A call that was denied, for a person. */
  renderToolUseRejectedMessage(input: Input, reason: string): RenderedMessage;
  /** A call that failed, for a person. */
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
