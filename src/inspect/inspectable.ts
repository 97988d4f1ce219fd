import type { Observable } from 'rxjs';
import type { AnyActor, AnyActorRef } from 'xstate';
import type { PermissionAnswer, PermissionMode } from '../permissions/types.js';
import type { AgentSession } from '../session/agentSessions.js';
import type { AnswerReceipt, PermissionPrompt, PersonPrompt } from '../session/questions.js';
import type { SessionUpdate } from '../session/updates.js';
import type { PersonAnswers } from '../tool/types.js';
import type { ApprovalDesk } from './approvalDesk.js';
import type { FlowSink } from './flowSink.js';
import type { DebugGate } from './gate/debugGate.js';

/** An actor, a session, or anything that can feed a flow. */
export type InspectionTarget = AnyActor | InspectableSession | Inspectable;

/** Where another actor system belongs: a subagent's session below the call that it works for. */
export interface Placement {
  /** The actor it is shown below; the top where that is not known. */
  readonly actor: AnyActorRef | undefined;
  /** What its root is called. */
  readonly name: string;
  /** Stands before the ids of its calls, which are unique within one conversation only. */
  readonly callPrefix: string;
}

/** Where an inspected thing tells what its actors do not. */
export interface InspectionFeeds {
  /** Takes facts of the domain beside actors' transitions. */
  readonly sink: FlowSink;
  /** Questions that wait for a person. */
  readonly desk: ApprovalDesk;
  /** Takes in another actor system, shown below an actor of this one. Returns how to let go of it. */
  attach(root: AnyActor, host: Placement): () => void;
}

/** Something a session offers to an inspector beside its root actor. */
export interface Inspectable {
  /** The root of what is looked at. */
  readonly actor: AnyActor;
  /** What the flow is called on the page. Default `flow`. */
  readonly name?: string;
  /** The gate the session was created with, for pausing. */
  readonly gate?: DebugGate;
  /** Called once on attach; the session feeds the sink and shows its questions on the desk until the returned function is called. */
  attachInspection?(feeds: InspectionFeeds): () => void;
}

/** What the inspector uses of a session. */
export interface InspectableSession {
  /** Names the flow. */
  readonly id: string;
  /** The root of everything that runs for the session. */
  readonly actor: AnyActor;
  /** Where decisions, results and requests are heard. */
  readonly updates$: Observable<SessionUpdate>;
  /** The permission mode, for the account of a decision. */
  readonly mode: PermissionMode;
  /** Permission questions that were open when the inspector came. */
  readonly openPermissions: readonly PermissionPrompt[];
  /** Questions of tools that were open when the inspector came. */
  readonly openQuestions: readonly PersonPrompt[];
  /** The gate it was created with, if any. */
  readonly gate?: DebugGate;
  /** File of its conversation; null or left out where it is not stored here. */
  readonly transcriptPath?: string | null;
  /** Takes a page's answer to a permission question. */
  answer(callId: string, inputDigest: string, answer: PermissionAnswer): AnswerReceipt;
  /** Takes a page's answers to a tool's questions. */
  answerQuestion(callId: string, answers: PersonAnswers): AnswerReceipt;
  /** Tells of its subagents, at work and to come; left out where they work elsewhere. */
  onAgent?(listener: (agent: AgentSession) => void): () => void;
}
