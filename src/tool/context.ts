import type { JsonObject } from '../json.js';
import type { ToolPermissionContext } from '../permissions/types.js';
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
  /** Given by whoever has named the task already; a fresh one by default, and where another task of the session has it. */
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
  /** The tool of this name, or once of this name, that can be called without being loaded. */
  callable?(name: string): string | undefined;
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
  /** How long it worked, in milliseconds. */
  readonly durationMs?: number;
  /** Tokens of all its requests, those of its own subagents included, by the names of the Messages API. */
  readonly usage?: AgentUsage;
}
/** Tokens that a subagent used. */
export interface AgentUsage {
  /** Those that no cache served. */
  readonly input_tokens: number;
  /** Thinking included. */
  readonly output_tokens: number;
  /** Those that a cache served. */
  readonly cache_read_input_tokens: number;
  /** Those that were put into a cache. */
  readonly cache_creation_input_tokens: number;
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
  /** Of a text shown in parts: which lines, from 1, first and last of each stretch, ascending and apart. */
  readonly seen?: readonly (readonly [first: number, last: number])[];
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
