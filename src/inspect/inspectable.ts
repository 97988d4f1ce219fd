import type { Observable } from 'rxjs';
import type { AnyActor } from 'xstate';
import type { PermissionAnswer, PermissionMode } from '../permissions/types.js';
import type { AnswerReceipt, PermissionPrompt, PersonPrompt } from '../session/questions.js';
import type { SessionUpdate } from '../session/updates.js';
import type { PersonAnswers } from '../tool/types.js';
import type { ApprovalDesk } from './approvalDesk.js';
import type { FlowSink } from './flowSink.js';
import type { DebugGate } from './gate/debugGate.js';

/** An actor, a session, or anything that can feed a flow. */
export type InspectionTarget = AnyActor | InspectableSession | Inspectable;

/** Something a session offers to an inspector beside its root actor. */
export interface Inspectable {
  /** The root of what is looked at. */
  readonly actor: AnyActor;
  /** What the flow is called on the page. Default `flow`. */
  readonly name?: string;
  /** The gate the session was created with, for pausing. */
  readonly gate?: DebugGate;
  /** Called once on attach; the session feeds the sink and shows its questions on the desk until the returned function is called. */
  attachInspection?(feeds: { readonly sink: FlowSink; readonly desk: ApprovalDesk }): () => void;
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
  /** Takes a page's answer to a permission question. */
  answer(callId: string, inputDigest: string, answer: PermissionAnswer): AnswerReceipt;
  /** Takes a page's answers to a tool's questions. */
  answerQuestion(callId: string, answers: PersonAnswers): AnswerReceipt;
}
