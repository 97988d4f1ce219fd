/**
 * `sixgates/machines`: the statecharts with the types of their contexts, events and ports, for programs that provide their own
 * ports, test the machines, or draw them. Snapshots and refs follow from a machine, as `SnapshotFrom<typeof toolCallMachine>`; contexts,
 * events and inputs are here by name.
 *
 * @packageDocumentation
 */

export type {
  BackgroundTaskContext,
  BackgroundTaskInput,
  BackgroundTaskMachine,
  StopTaskEvent,
  TaskEnd,
  TaskEndedReport,
} from '../machines/backgroundTask.js';
export type { ExecutorContext, ExecutorEvent, ExecutorInput, ExecutorMachine, ExecutorReport } from '../machines/executor.js';
export {
  backgroundTaskMachine,
  executorMachine,
  permissionMachine,
  queryMachine,
  sessionMachine,
  toolCallMachine,
  turnMachine,
} from '../machines/index.js';
export type { PermissionMachine } from '../machines/permission.js';
export type { PermissionCheck } from '../machines/permissionChecks.js';
export type {
  AddressedAnswer,
  AnswerRefused,
  ClassifierVerdict,
  PermissionContext,
  PermissionEvent,
  PermissionInput,
  PermissionQuestion,
} from '../machines/permissionProtocol.js';
export type { EventPort, Port } from '../machines/port.js';
export type { AbortEvent, CallClass, CallReport, CallRequest, ExecutorOutput, ExecutorRequest, SettledCall } from '../machines/protocol.js';
export type {
  Admission,
  QueryContext,
  QueryEnd,
  QueryEvent,
  QueryInput,
  QueryLimits,
  QueryMachine,
  QueryOutput,
} from '../machines/query.js';
export type { Eagerness, ScheduledCall } from '../machines/schedule.js';
export type {
  OpenQuestion,
  QueryHooks,
  RunningTask,
  SessionContext,
  SessionEvent,
  SessionInput,
  SessionMachine,
  SessionStart,
} from '../machines/session.js';
export type { ToolCallMachine } from '../machines/toolCall.js';
export type {
  CallPortInput,
  CallState,
  GateAnswer,
  Report,
  ResolvedTool,
  RewrittenInput,
  ToolCallContext,
  ToolCallEvent,
  ToolCallInput,
  ToolEnd,
} from '../machines/toolCallProtocol.js';
export type { Received, TurnAddress, TurnContext, TurnEvent, TurnMachine, TurnOutput, TurnPlan } from '../machines/turn.js';
