import type { JsonObject, JsonValue } from '../../json.js';
import type { PermissionUpdate, TraceEntry } from '../../permissions/types.js';
import type { BodyRef, FlowEvent, FlowHeader } from './flowEvents.js';
import type { MachineGraph } from './graph.js';

/**
 * What page and server say to each other over one WebSocket, as birpc function maps with JSON text frames.
 * Connect to `/socket` with the sub-protocols `[SOCKET_PROTOCOL, TOKEN_PREFIX + token]`; the token comes in the page's
 * URL fragment (`#token=…`). The schemas of everything that comes in are in `rpcSchemas.ts`.
 */
export const SOCKET_PROTOCOL = 'inspector.v1';
export const TOKEN_PREFIX = 'tok.';
export const SOCKET_PATH = '/socket';
/** Most events one `listEvents` returns; ask again from the last `seq` + 1. */
export const MAX_LISTED_EVENTS = 5000;

/** `view` reads; `control` also answers, pauses, sets breakpoints and exports. */
export type Scope = 'view' | 'control';

/** Why a request of a page was refused. */
export type RpcErrorCode =
  | 'forbidden'
  | 'invalidArguments'
  | 'unknownMethod'
  | 'notFound'
  | 'alreadyAnswered'
  | 'stale'
  | 'unsupported'
  | 'refused'
  | 'internal';
/** A refused request of a page. */
export interface RpcError {
  /** Why, for programs. */
  readonly code: RpcErrorCode;
  /** For a person: what is wrong and what to do. */
  readonly message: string;
}
/** Every method answers with a value or a typed error; the socket itself never rejects. */
export type RpcResult<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: RpcError };

/** What every breakpoint has. */
export interface BreakpointBase {
  /** Names it. */
  readonly id: string;
  /** Whether it holds anything. */
  readonly enabled: boolean;
  /** Set in code (`attachInspector({ breakpoints })`) or on a page. A page cannot remove one set in code, only disable it. */
  readonly origin: 'code' | 'page';
  /** Only in this actor or below it. */
  readonly actor?: string;
}
/** A place where a gate holds a flow. */
export type Breakpoint =
  /** `before`: no action of the entering transition has run. `after`: entry actions have run, the next event is held. */
  | (BreakpointBase & { readonly on: 'state'; readonly state: string; readonly when: 'before' | 'after' })
  /** An event type, or a prefix with `*` at its end. */
  | (BreakpointBase & { readonly on: 'event'; readonly event: string })
  | (BreakpointBase & { readonly on: 'tool'; readonly tool: string })
  | (BreakpointBase & { readonly on: 'verdict'; readonly behavior: 'allow' | 'ask' | 'deny' })
  | (BreakpointBase & { readonly on: 'error' });

/** An event that waits at a gate. */
export interface HeldEvent {
  /** Names it, for stepping. */
  readonly id: number;
  /** Path of the actor it waits for. */
  readonly actor: string;
  /** Its type. */
  readonly event: string;
  /** Milliseconds since the flow's start. */
  readonly t: number;
  /** What it holds beside its type. */
  readonly body?: BodyRef;
  /** States the event would lead to, where that can be told without running anything. */
  readonly next?: readonly string[];
}
/** What a gate holds back at the moment, and why. */
export interface HeldState {
  /** Whether events are held. */
  readonly paused: boolean;
  /** Who or what paused; null while nothing is held. */
  readonly why: { readonly kind: 'manual' | 'breakpoint'; readonly by: string; readonly actor?: string; readonly state?: string } | null;
  /** Oldest first. */
  readonly held: readonly HeldEvent[];
  /** Timers that stand still. */
  readonly frozenTimers: number;
  /** Milliseconds until the flow goes on by itself because no controlling page is left; null while one is. */
  readonly resumesInMs: number | null;
}

/** A question that a tool puts to the person, with its choices. */
export interface AskedQuestion {
  /** The question; its text is the key of its answer. */
  readonly question: string;
  /** A word or two. */
  readonly header: string;
  /** What the person can choose from. */
  readonly options: readonly { readonly label: string; readonly description: string }[];
  /** Whether several choices may be taken. */
  readonly multiSelect: boolean;
}
/** What a person chose: positions in `options`, in order, and what she said in her own words. */
export interface QuestionChoice {
  /** Positions in the question's `options`, in order. */
  readonly options: readonly number[];
  /** What the person said in words of her own; empty for nothing. */
  readonly other: string;
}

/** A call that waits for a person. */
export interface PendingApproval {
  /** `ask:<tool_use_id>`. */
  readonly id: string;
  /** The call that waits. */
  readonly toolUseId: string;
  /** Its tool. */
  readonly toolName: string;
  /** The subagent that asks; absent for the main session. */
  readonly agent?: string;
  /** What the call is called, or what it is for. */
  readonly title: string;
  /** Path of the call's actor. */
  readonly actor?: string;
  /** The exact input, redacted for the page; the answer binds to `inputDigest`. */
  readonly input: JsonValue;
  /** Digest of that input, which an answer must carry. */
  readonly inputDigest: string;
  /** The check that asked: which rule of which file, which hook, which safety finding. */
  readonly askedBy?: TraceEntry;
  /** What "allow and remember" would write. */
  readonly suggestions: readonly PermissionUpdate[];
  /** Milliseconds since the flow's start. */
  readonly askedAt: number;
  /** When the question lapses, same scale; absent when it never does. */
  readonly deadline?: number;
  /** Set where the call itself asks the person something: then `answers` are what allows it. */
  readonly questions?: readonly AskedQuestion[];
  /** False when secrets were masked in `input`: then it cannot be edited here, since the mask would be sent. */
  readonly editable: boolean;
}
/** A page's answer to a question. */
export interface ApprovalAnswer {
  /** The question's id. */
  readonly id: string;
  /** From the `PendingApproval` that was shown; another input meanwhile → `stale`. */
  readonly inputDigest: string;
  /** Yes or no. */
  readonly behavior: 'allow' | 'deny';
  /** The input to run in place of the one shown. It walks the gates again. */
  readonly updatedInput?: JsonObject;
  /** One for each of the approval's `questions`, in their order. */
  readonly answers?: readonly QuestionChoice[];
  /** Positions in `suggestions` to write down. */
  readonly remember?: readonly number[];
  /** Words for the model, with a no. */
  readonly message?: string;
  /** With a no: the whole query is to stop. */
  readonly interrupt?: boolean;
}

export interface Counters {
  readonly lastSeq: number;
  /** Oldest event still to be had. */
  readonly firstSeq: number;
  readonly actors: number;
  readonly calls: { readonly running: number; readonly done: number; readonly failed: number; readonly waiting: number };
  readonly errors: number;
  readonly bodyBytes: number;
  readonly clients: number;
  /** Records the inspector could not make; the flow itself is not touched by that. */
  readonly inspectorFaults: number;
}

export type ExportKind = 'recording' | 'html' | 'vitest' | 'nodeTest' | 'chromeTrace' | 'mermaid' | 'scxml';
export interface ExportRequest {
  readonly kind: ExportKind;
  /** Whole flow when absent. */
  readonly range?: { readonly fromSeq: number; readonly toSeq: number };
  /** Actor whose machine or events are wanted: required for mermaid and scxml, optional for tests. */
  readonly actor?: string;
  /** Positions of charts by graph id, of machines that the page does not know by itself: whoever opens the export need not work them out. */
  readonly layouts?: Readonly<Record<string, JsonValue>>;
  /** Write it although the final scan found what looks like a secret. */
  readonly allowFindings?: boolean;
}
export interface ExportReady {
  readonly id: string;
  readonly filename: string;
  readonly mime: string;
  /** How the parts are encoded. */
  readonly encoding: 'utf8' | 'base64';
  readonly bytes: number;
  /** Encoded length; parts are fetched by `exportPart` until `done`. */
  readonly totalChars: number;
  /** What was masked in it, by rule. */
  readonly redacted: readonly { readonly rule: string; readonly count: number }[];
}
export interface TextPart {
  readonly offset: number;
  readonly text: string;
  readonly totalChars: number;
  readonly done: boolean;
}

export interface Welcome {
  readonly scope: Scope;
  readonly clientId: string;
  readonly header: FlowHeader;
  readonly counters: Counters;
  readonly held: HeldState;
  /** True for a flow that was read from a file: nothing will be added to it. */
  readonly isRecorded: boolean;
  /** True when a copy of the session can go on from a step. */
  readonly canRestart: boolean;
  /** False when the actor was attached without a gate: no pausing, no breakpoints. */
  readonly canPause: boolean;
  readonly canAnswer: boolean;
  readonly breakpoints: readonly Breakpoint[];
  readonly approvals: readonly PendingApproval[];
}

/** Page → server. */
export interface ServerFunctions {
  hello(request: { readonly client: string }): Promise<RpcResult<Welcome>>;
  /** Starts `batch`es from this `seq` on (0 = from the oldest still there). Call again after a reconnect with the last seen + 1. */
  subscribe(request: { readonly fromSeq: number }): Promise<RpcResult<{ readonly firstSeq: number; readonly lastSeq: number }>>;
  listEvents(request: { readonly fromSeq: number; readonly toSeq: number }): Promise<RpcResult<{ readonly events: readonly FlowEvent[] }>>;
  body(request: { readonly hash: string; readonly offset: number }): Promise<RpcResult<TextPart>>;
  graphs(): Promise<RpcResult<readonly MachineGraph[]>>;
  pause(): Promise<RpcResult<HeldState>>;
  resume(): Promise<RpcResult<HeldState>>;
  /** Releases the oldest held event, of this actor if given. With nothing held, lets the next one through. */
  step(request: { readonly actor?: string }): Promise<RpcResult<HeldState>>;
  /** Lets this actor and everything below it run to its end; the rest stays paused. */
  runToEnd(request: { readonly actor: string }): Promise<RpcResult<HeldState>>;
  /** Replaces the breakpoints set on pages and the enabled flags of those set in code. */
  setBreakpoints(request: { readonly breakpoints: readonly Breakpoint[] }): Promise<RpcResult<readonly Breakpoint[]>>;
  answer(request: ApprovalAnswer): Promise<RpcResult<{ readonly accepted: true }>>;
  /** Goes on with a copy of the session from the last settled point before an event, with these words. Nothing is run again, nothing undone. */
  restart(request: { readonly seq: number; readonly words: string }): Promise<RpcResult<{ readonly url: string }>>;
  export(request: ExportRequest): Promise<RpcResult<ExportReady>>;
  exportPart(request: { readonly id: string; readonly offset: number }): Promise<RpcResult<TextPart>>;
}
export type ServerMethod = keyof ServerFunctions;

/** Methods that a `view` token may not call. */
export const CONTROL_METHODS: ReadonlySet<ServerMethod> = new Set<ServerMethod>([
  'pause',
  'resume',
  'step',
  'runToEnd',
  'setBreakpoints',
  'answer',
  'restart',
  'export',
  'exportPart',
]);

/** Server → page. All are events: no answer is awaited. */
export interface PageFunctions {
  batch(message: { readonly events: readonly FlowEvent[] }): void;
  counters(counters: Counters): void;
  /** The page was so slow that `from`…`to` left the server's memory before they could be sent. Later events follow in order. */
  gap(range: { readonly from: number; readonly to: number }): void;
  pendingApprovals(approvals: readonly PendingApproval[]): void;
  /** A question this page showed is settled, and by whom. */
  approvalSettled(settled: { readonly id: string; readonly by: string; readonly behavior: 'allow' | 'deny' | 'withdrawn' }): void;
  held(state: HeldState): void;
  breakpoints(breakpoints: readonly Breakpoint[]): void;
}
export const PAGE_EVENTS: readonly (keyof PageFunctions)[] = [
  'batch',
  'counters',
  'gap',
  'pendingApprovals',
  'approvalSettled',
  'held',
  'breakpoints',
];
