import type { HookRun } from '../../hooks/types.js';
import type { JsonValue } from '../../json.js';
import type { PermissionDecision, PermissionMode } from '../../permissions/types.js';
import type { OutcomeKind } from '../../tool/call.js';
import type { MachineGraph } from './graph.js';

/**
 * The wire and file format of a flow: what the inspector page, recordings and all exporters read.
 * It stands between XState and everything that watches, so that a new major of XState touches one adapter only.
 * Fields may be added within `flow/2`; readers ignore what they do not know. Files of `flow/1`, which held bodies as text inside
 * text and every preview beside its body, are still read.
 */
export const FLOW_FORMAT = 'flow/2';

/**
 * Id of the element in a one-file HTML export that holds the recording: `<script type="text/plain" id=…>` with the base64 of a
 * gzipped `*.flow.jsonl`. A page that finds it opens it instead of a socket.
 */
export const EMBEDDED_RECORDING_ID = 'sixgates-recording';

/** Longest preview of a body, in characters. */
export const PREVIEW_CHARS = 200;
/** Longest part of a body that one request returns, in characters. */
export const BODY_PART_CHARS = 256 * 1024;

/**
 * A body is stored once under the hash of its redacted text and fetched when someone opens it.
 * Equal content has an equal hash, which is also how a page sees that a context did not change.
 */
export interface BodyRef {
  /** Names the body: `FlowLog.body(hash)`, `FlowRecording.bodies`. */
  readonly hash: string;
  /** UTF-8 bytes of the redacted JSON text. */
  readonly bytes: number;
  /** The first characters of that text, at most `PREVIEW_CHARS`. */
  readonly preview: string;
  /** True when depth, key or size caps cut something; the text says where. */
  readonly clipped?: true;
}

/** What an actor is in the tree. `actor` is anything the adapter has no name for. */
export type ActorKind =
  | 'session'
  | 'query'
  | 'turn'
  | 'executor'
  | 'toolCall'
  | 'permission'
  | 'hooks'
  | 'tool'
  | 'model'
  | 'question'
  | 'task'
  | 'actor';

/** A line of the file that a flow was read from. */
export interface FilePlace {
  /** From 1. */
  readonly line: number;
  /** Which file, when it is not the one that was opened (a subagent's own, say). */
  readonly file?: string;
}

/** Place and time of every event. */
export interface FlowEventBase {
  /** Counts up by one through a flow; holes are announced by a `gap`. */
  readonly seq: number;
  /** Milliseconds since the header's `startedAt`; never negative, never decreasing. */
  readonly t: number;
  /** In a flow made of a transcript: the line that says so. */
  readonly at?: FilePlace;
}

/**
 * What a flow was made of when no inspector recorded it. A transcript holds prompts, answers, calls and results, but neither the
 * gates a call walked nor who decided about it, so readers must show those as unknown.
 */
export interface FlowSource {
  /** What was read. */
  readonly kind: 'transcript';
  /** Name of the file, without its directory. */
  readonly file: string;
  /** Files of subagents that were read with it. */
  readonly files: readonly string[];
  /** Lines in all files, blank ones included. */
  readonly lines: number;
  /** Lines that are shown, by type (`user`, `assistant`, `system`, …). */
  readonly read: Readonly<Record<string, number>>;
  /** Lines that are not shown, by the reason. */
  readonly ignored: Readonly<Record<string, number>>;
  /** Tool calls in all files. */
  readonly calls: number;
  /** Calls that have their result in the file. */
  readonly paired: number;
  /** Conversations of subagents in all files. */
  readonly subagents: number;
}

/** How a call ended; `unknown` where what was read does not surely say so. */
export type RecordedOutcome = OutcomeKind | 'unknown';

/** First event of every flow (`seq` 0) and first line of every recording. */
export interface FlowHeader extends FlowEventBase {
  readonly type: 'header';
  /** The version of this format; readers refuse another. */
  readonly format: typeof FLOW_FORMAT;
  /** What the flow is called on the page. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** What wrote the flow. */
  readonly runtime: { readonly name: string; readonly version: string };
  /** The rules by which secrets were masked, and whether any was the embedding program's own. */
  readonly redaction: { readonly rules: readonly string[]; readonly custom: boolean };
  /** Absent in a flow that an inspector recorded. */
  readonly source?: FlowSource;
  /** Positions of states and wires by graph id, as the page wrote them. Opaque to the runtime. */
  readonly layouts?: Readonly<Record<string, JsonValue>>;
}

/** An actor has started: its logic, its input and its parent. */
export interface ActorStarted extends FlowEventBase {
  readonly type: 'actor.started';
  /**
   * Path of explicit actor ids from the root, e.g. `session/query/turn/executor/call-0`. A path that is used
   * again (slots are) gets a suffix: `…/call-0~2`. Stable between runs, unlike XState's session ids.
   */
  readonly actor: string;
  /** Path of the actor that started it; null for the root. */
  readonly parent: string | null;
  /** What it is in the tree. */
  readonly kind: ActorKind;
  /** Graph id of the actor's machine; null for promises, callbacks and observables. */
  readonly machine: string | null;
  /** Tool name of a tool call, else the actor's own id. */
  readonly name: string;
  /** A short text of what it works on (the command of a shell call …); may be empty. */
  readonly label: string;
  /** The call it belongs to. */
  readonly toolUseId?: string;
  /** Set for the session of a subagent: which one it is, as in `ModelExchange`. */
  readonly agent?: string;
  /** What it was started with. */
  readonly input?: BodyRef;
  /** True when the actor ran before the inspector was attached: what came before is unknown. */
  readonly late?: true;
}

/** An actor has ended, and how. */
export interface ActorStopped extends FlowEventBase {
  readonly type: 'actor.stopped';
  /** Path of the actor. */
  readonly actor: string;
  /** `unknown`: nothing more of it was recorded. */
  readonly status: 'done' | 'error' | 'stopped' | 'unknown';
  /** What it returned. */
  readonly output?: BodyRef;
  /** What it threw, in words. */
  readonly error?: string;
}

/** An event as it reached an actor, before it was processed. */
export interface EventReceived extends FlowEventBase {
  readonly type: 'event';
  /** Path of the actor that received it. */
  readonly actor: string;
  /** The sending actor; null when it came from outside. */
  readonly source: string | null;
  /** The event's type. */
  readonly event: string;
  /** Absent when the event holds nothing but its type. */
  readonly body?: BodyRef;
}

/** One microstep of a machine: what was left, what was entered, along which edges. */
export interface TransitionTaken extends FlowEventBase {
  readonly type: 'transition';
  /** Path of the actor. */
  readonly actor: string;
  /** Type of the event that began the macrostep. */
  readonly event: string;
  /** Ids of the active leaf states before and after. */
  readonly from: readonly string[];
  /** Ids of the active leaf states after. */
  readonly to: readonly string[];
  /** Ids of all active states after, leaves and ancestors. */
  readonly configuration: readonly string[];
  /** Edges of the machine's graph that fired (`MachineEdge.id`), with the guard that let each pass. */
  readonly edges: readonly { readonly id: string; readonly guard?: string }[];
  /** Position within the macrostep: 0 is the transition the event itself chose, later ones are eventless or raised. */
  readonly micro: number;
  /** True on entry into the initial state and where a late inspector met the actor. */
  readonly initial?: true;
}

/** An event that no transition of the actor's state wanted. */
export interface EventIgnored extends FlowEventBase {
  readonly type: 'ignored';
  /** Path of the actor. */
  readonly actor: string;
  /** The event's type. */
  readonly event: string;
}

/** The permission decision of a call with every check that led to it. */
export interface DecisionMade extends FlowEventBase {
  readonly type: 'decision';
  /** The call that was decided. */
  readonly toolUseId: string;
  /** Its tool. */
  readonly toolName: string;
  /** The permission mode that held. */
  readonly mode: PermissionMode;
  /** The decision with its trace. */
  readonly decision: PermissionDecision;
  /** The input it speaks of. */
  readonly input?: BodyRef;
}

/** One handler of a hook has run. */
export interface HookRan extends FlowEventBase {
  readonly type: 'hook';
  /** The call it was run for; absent for events of the session. */
  readonly toolUseId?: string;
  /** What ran, and what it said. */
  readonly run: HookRun;
}

/** A call tells how far it is. */
export interface ProgressReported extends FlowEventBase {
  readonly type: 'progress';
  /** The call at work. */
  readonly toolUseId: string;
  /** One line for a person. */
  readonly message?: string;
  /** Anything more that the tool told. */
  readonly body?: BodyRef;
}

/** The one `tool_result` of a call. */
export interface ResultProduced extends FlowEventBase {
  readonly type: 'result';
  /** The call that has ended. */
  readonly toolUseId: string;
  /** Its tool. */
  readonly toolName: string;
  /** How it ended. */
  readonly outcome: RecordedOutcome;
  /** Whether the result is marked as an error. */
  readonly isError: boolean;
  /** One line for a person: what happened, and why. */
  readonly summary: string;
  /** The result's content, as it goes to the model. */
  readonly body: BodyRef;
}

/** A request to the model, and how its answer ended. */
export interface ModelExchange extends FlowEventBase {
  readonly type: 'model';
  /** Whether the request is being sent, or its answer has ended. */
  readonly phase: 'request' | 'end';
  /** The request's id, the same in both phases. */
  readonly requestId: string;
  /** The subagent that asks, by the ids of the agents above it and its own; absent for the main session. */
  readonly agent?: string;
  /** Model id. */
  readonly model: string;
  /** Why the model stopped. */
  readonly stopReason?: string;
  /** Input tokens of the request. */
  readonly inputTokens?: number;
  /** Output tokens of the answer. */
  readonly outputTokens?: number;
  /** What went wrong, in words. */
  readonly error?: string;
  /** The request as it was sent, or the blocks of the answer. */
  readonly body?: BodyRef;
}

/** The context of an actor after a macrostep that changed it. */
export interface ContextChanged extends FlowEventBase {
  readonly type: 'context';
  /** Path of the actor. */
  readonly actor: string;
  /** The new context. */
  readonly body: BodyRef;
}

/** A question has come up, was answered or was withdrawn. */
export interface ApprovalChanged extends FlowEventBase {
  readonly type: 'approval';
  /** The call that is asked about. */
  readonly toolUseId: string;
  /** Its tool. */
  readonly toolName: string;
  /** What became of the question. */
  readonly phase: 'asked' | 'answered' | 'withdrawn';
  /** Who answered: `inspector`, `terminal`, a hook's name … */
  readonly by?: string;
  /** The answer. */
  readonly behavior?: 'allow' | 'deny';
}

/** What a page or a breakpoint did to the flow. */
export interface ControlApplied extends FlowEventBase {
  readonly type: 'control';
  /** What was done. `held` and `released` speak of single events. */
  readonly action: 'paused' | 'resumed' | 'held' | 'released' | 'breakpoint';
  /** Client id, `code`, `breakpoint` or `grace`. */
  readonly by: string;
  /** Path of the actor concerned. */
  readonly actor?: string;
  /** Type of the event that was held or let go. */
  readonly event?: string;
  /** Id of the breakpoint that was hit. */
  readonly breakpoint?: string;
}

/** Something broke. */
export interface ErrorSeen extends FlowEventBase {
  readonly type: 'error';
  /** Path of the actor that broke. */
  readonly actor: string;
  /** What it threw, in words. */
  readonly message: string;
}

/** A remark of the inspector itself. */
export interface NoteTaken extends FlowEventBase {
  readonly type: 'note';
  /** Whether anything is amiss. */
  readonly level: 'info' | 'warning';
  /** One sentence for a person. */
  readonly text: string;
  /** Path of the actor concerned. */
  readonly actor?: string;
}

/** Events `from`…`to` (inclusive) are not here: dropped from the ring, or not sent to a slow page. */
export interface GapMarked extends FlowEventBase {
  readonly type: 'gap';
  /** First `seq` that is missing. */
  readonly from: number;
  /** Last `seq` that is missing. */
  readonly to: number;
  /** Why, in words. */
  readonly reason: string;
}

/** Everything that a flow consists of, in order of `seq`. Plain JSON. */
export type FlowEvent =
  | FlowHeader
  | ActorStarted
  | ActorStopped
  | EventReceived
  | TransitionTaken
  | EventIgnored
  | DecisionMade
  | HookRan
  | ProgressReported
  | ResultProduced
  | ModelExchange
  | ContextChanged
  | ApprovalChanged
  | ControlApplied
  | ErrorSeen
  | NoteTaken
  | GapMarked;

/** The types of a flow’s events. */
export type FlowEventType = FlowEvent['type'];
/** The events of one type. */
export type FlowEventOf<T extends FlowEventType> = Extract<FlowEvent, { readonly type: T }>;

/** An event before the recorder has given it its place and time. */
export type FlowEventDraft = { [T in FlowEventType]: Omit<FlowEventOf<T>, 'seq' | 't'> }[FlowEventType];

/**
 * A stored body. In a recording it stands before the first event that names its hash. Such a name leaves its `preview` out there: it is
 * how the body begins.
 */
export interface FlowBody {
  readonly type: 'body';
  /** The name by which events refer to it. */
  readonly hash: string;
  /** Redacted; its text, exactly as it stands in the line, is what the hash names. */
  readonly json: unknown;
}

/** A machine's graph. In a recording it stands before the first actor of that machine. */
export interface FlowGraph {
  readonly type: 'graph';
  /** The machine's graph. */
  readonly graph: MachineGraph;
}

/** A line of a `*.flow.jsonl` file. The first is the header. */
export type FlowLine = FlowEvent | FlowBody | FlowGraph;

/** A recording read into memory. */
export interface FlowRecording {
  /** The flow's first event: its name, time and format. */
  readonly header: FlowHeader;
  /** All events in order of `seq`, the header excluded. */
  readonly events: readonly FlowEvent[];
  /** Redacted JSON text by hash. */
  readonly bodies: ReadonlyMap<string, string>;
  /** Graphs of the machines that events speak of. */
  readonly graphs: readonly MachineGraph[];
  /** What was wrong with the file, in words for a person. Empty for a whole one. */
  readonly warnings: readonly string[];
}
