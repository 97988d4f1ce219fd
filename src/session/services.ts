import type { AddressedAnswer, ClassifierVerdict, PermissionQuestion } from '../../machines/permission.js';
import type { Eagerness } from '../../machines/schedule.js';
import type { GateAnswer, ToolEnd } from '../../machines/toolCall.js';
import type { HookRequest, HookResult, HookRunner } from '../hooks/types.js';
import type { JsonObject } from '../json.js';
import type { JournalEntry } from '../messages/journal.js';
import type { Usage } from '../messages/types.js';
import type { Clock } from '../model/clock.js';
import type { RetryPolicy } from '../model/retry.js';
import type { ModelClient } from '../model/types.js';
import type {
  HookVerdict,
  PermissionFacts,
  PermissionMode,
  PermissionRule,
  PermissionUpdate,
  ToolPermissionContext,
  ToolVerdict,
} from '../permissions/types.js';
import type { FinishedResult, ResultStore } from '../results/index.js';
import type { SessionTasks } from '../tasks/tasks.js';
import type { AnyTool, FileLedger, ToolCapabilities } from '../tool/types.js';
import type { AgentSessions } from './agentSessions.js';
import type { CallBook, CallRecord } from './callBook.js';
import type { Conversation } from './conversation.js';
import type { Questions } from './forwarding.js';
import type { Inbox, InboxItem } from './inbox.js';
import type { AgentIdentity } from './lineage.js';
import type { QuestionQueue } from './questions.js';
import type { Resumption } from './resumption.js';
import type { Spend } from './spend.js';
import type { CompactionTrigger } from './summarize.js';
import type { Offer } from './toolbox.js';
import type { SessionUpdate, SessionUsage } from './updates.js';

/** The permission side of a session: rules, mode and directories as they are now. */
export interface SessionPermissions {
  /** All rules in force, each with its origin. */
  readonly rules: readonly PermissionRule[];
  readonly mode: PermissionMode;
  readonly warnings: readonly string[];
  facts(call: PermissionCall): PermissionFacts;
  toolContext(): ToolPermissionContext;
  /** True when a bare deny rule (or a name glob) takes the tool out of the model's view. */
  isHidden(toolName: string, mcp?: AnyTool['mcp']): boolean;
  /** Applies changes and says what could not be applied. */
  apply(updates: readonly PermissionUpdate[]): readonly string[];
  /** Calls back after every change until the returned function is called. */
  onChange(listener: () => void): () => void;
}
export interface PermissionCall {
  readonly tool: AnyTool;
  /** With derived fields. */
  readonly input: JsonObject;
  /** As the model (or a hook) wrote it. */
  readonly rawInput: JsonObject;
  readonly cwd: string;
  readonly hook: HookVerdict | null;
  readonly hookSuppliedInput: boolean;
  readonly toolVerdict: ToolVerdict;
}

export interface SessionLimits {
  readonly maxConcurrency: number;
  readonly eager: Eagerness;
  /** How long an aborted tool may take to end before its call is settled without it, in milliseconds. */
  readonly graceMs: number;
  /** Hard limit of a call whose tool names none, in milliseconds; undefined means none. */
  readonly toolTimeoutMs: number | undefined;
  readonly maxBudgetTokens: number | undefined;
  readonly maxBudgetUsd: number | undefined;
  /** Input tokens beyond which older history is summarised; undefined means never. */
  readonly compactAtTokens: number | undefined;
}

/** Everything the ports of one session work with. Lives outside the machines; found by actor system. */
export interface Services {
  readonly sessionId: string;
  readonly model: {
    readonly client: ModelClient;
    readonly id: string;
    readonly maxTokens: number;
    readonly system: string | undefined;
    readonly thinking: JsonObject | undefined;
    readonly betas: readonly string[];
    readonly retry: RetryPolicy;
  };
  readonly limits: SessionLimits;
  readonly clock: Clock;
  readonly now: () => number;
  readonly newId: () => string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly permissions: SessionPermissions;
  readonly hooks: HookRunner;
  readonly conversation: Conversation;
  readonly inbox: Inbox;
  /** Where this session's calls put their questions: its own queue, or that of the session it works for. */
  readonly questions: Questions;
  /** Questions of this session and its subagents; what a person answers. */
  readonly queue: QuestionQueue;
  readonly tasks: SessionTasks;
  /** Its subagents that are at work. */
  readonly agentSessions: AgentSessions;
  /** Set for a subagent. */
  readonly agent: AgentIdentity | undefined;
  /** What this session and all that belong to it have used. */
  readonly spend: Spend;
  readonly results: ResultStore;
  readonly resultsDir: string;
  /** What SessionStart hooks leave for shell commands; the same for all of a session's subagents. */
  readonly envFile: string;
  readonly files: FileLedger;
  readonly capabilities: ToolCapabilities;
  readonly calls: CallBook;
  /** Asked before the prompt queue, when the embedding program decides by itself. */
  readonly decide: ((question: PermissionQuestion, input: JsonObject, signal: AbortSignal) => Promise<AddressedAnswer | null>) | undefined;
  readonly classify: ((question: PermissionQuestion, input: JsonObject, signal: AbortSignal) => Promise<ClassifierVerdict>) | undefined;
  /** Whether anyone listens for questions. */
  readonly canAsk: () => boolean;
  readonly agentName: string | undefined;
  cwd: string;
  /** The answer that is streaming in. */
  answering: { readonly messageId: string; readonly model: string } | undefined;
  /** Calls that an earlier process left, until the first query takes them up. */
  resumption: Resumption | undefined;
  /** What a person wants of the summary they asked for. */
  compactionWish: string | undefined;
  /** Automatic compactions that failed in a row. */
  failedCompactions: number;
  runningQuery: string | undefined;
  /** What the running query was opened with, until it enters the conversation. */
  opened: readonly InboxItem[] | undefined;
  /** What UserPromptSubmit hooks add to it. */
  promptContext: readonly string[];
  usage: SessionUsage;
  /** Size of the conversation as of the last answer, in tokens; 0 before the first. */
  contextTokens: number;
  /** The pool as it is now, in sending order. */
  pool(): readonly AnyTool[];
  /** The same without deferred tools that are not loaded: what the model is shown in full. */
  shownTools(): readonly AnyTool[];
  /** The `tools` of a request. What is in it the model counts as having. */
  toolDefinitions(): readonly JsonObject[];
  /** Whether the model has the tool's schema, only its name, or a schema that is no longer the tool's. */
  offerOf(tool: AnyTool): Offer;
  /** True for a tool that a server offered and has taken away. */
  isToolGone(name: string): boolean;
  /** Brings the model up to date about deferred tools and servers, in reminders beside the conversation. */
  announceTools(): void;
  loadTools(names: readonly string[]): void;
  update(update: SessionUpdate): void;
  /** Writes a journal line: what a restart must know and the model must not see. */
  journal(entry: JournalLine): void;
  /** Tells the model something when it next speaks. Written down at once and told once, also across restarts. Returns the id. */
  notify(text: string, id?: string): string;
  /** Counts a request of this session. */
  spendOn(usage: Usage): void;
  /** Counts what a subagent has used; its requests have been spent already. */
  addUsage(usage: SessionUsage): void;
  runHooks(request: HookRequest, signal: AbortSignal): Promise<HookResult>;
  /** Puts a summary in place of older history; see `compactHistory`. */
  summarize(trigger: CompactionTrigger, signal: AbortSignal): Promise<boolean>;
  lifecycle: SessionLifecycle;
  /** Set where somebody else than this process's memory answers for the calls (durable execution). */
  provider?: CallProvider;
}

/**
 * Who asks the world on behalf of the gates. Without one they ask it themselves; a durable one writes each answer down before it
 * counts, and gives it again when the session is rebuilt elsewhere.
 */
export interface CallProvider {
  /** The answer of `work`, under an id that is the same whenever the session is rebuilt. */
  ask<T>(id: string, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** The permission facts of a call; `answer` is called once, now or later. */
  gather(callId: string, work: () => GateAnswer, answer: (facts: GateAnswer) => void): void;
  /** Gate 6. Leaves output and context change on the record, as `runTool` does. */
  call(record: CallRecord, signal: AbortSignal): Promise<ToolEnd>;
  /** Told of every port that answers later. */
  watch(answer: Promise<unknown>): void;
}

export interface SessionLifecycle {
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Journal entries of `messages/journal.ts`, without the fields that every line has. */
export type JournalLine = JournalEntry;

/** A result with what stands beside it in the next user message. */
export interface StoredResult extends FinishedResult {
  readonly reminders: readonly string[];
}
