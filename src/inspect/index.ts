/**
 * `sixgates/inspect`: what a flow did and does. The page that shows and steps it, recordings, redaction, and ways out to other tools.
 *
 * @packageDocumentation
 */

export type { ActorFacts, ActorNaming } from './actorNames.js';
export { tellClassic } from './adapters/classic.js';
export { type TraceFlowOptions, traceFlow } from './adapters/openTelemetry.js';
export { tellStately } from './adapters/stately.js';
export { serveWire, type WireServer, type WireServerOptions } from './adapters/wireServer.js';
export { type AnswerTaker, ApprovalDesk, type OpenQuestion, type Settlement } from './approvalDesk.js';
export { type AttachedInspector, type AttachOptions, attachInspector } from './attachInspector.js';
export { chromeTrace } from './exports/chromeTrace.js';
export { type MachineModule, type RegressionTestOptions, regressionTest } from './exports/regressionTest.js';
export { type FlowListener, FlowLog, type FlowLogOptions } from './flowLog.js';
export { createFlowSink, type FlowSink } from './flowSink.js';
export { DebugGate, type DebugGateOptions } from './gate/debugGate.js';
export type { Inspectable, InspectableSession, InspectionFeeds, InspectionTarget, Placement } from './inspectable.js';
export { type FlowOptions, type InspectedSystem, inspectFlow } from './inspectFlow.js';
export { type OpenedRecording, openRecording } from './openRecording.js';
export type * from './protocol/flowEvents.js';
export { type ActorMoment, FlowIndex } from './protocol/flowIndex.js';
export { isFlowEvent, NotAFlowError, parseFlowText } from './protocol/flowText.js';
export { type EdgeKind, type MachineEdge, type MachineGraph, type MachineNode, machineGraph } from './protocol/graph.js';
export { toMermaid } from './protocol/mermaid.js';
export type {
  ApprovalAnswer,
  AskedQuestion,
  Breakpoint,
  BreakpointBase,
  HeldEvent,
  HeldState,
  PendingApproval,
  QuestionChoice,
  RpcError,
  RpcErrorCode,
} from './protocol/rpc.js';
export { toScxml } from './protocol/scxml.js';
export {
  encodeRecording,
  type Recorder,
  readRecording,
  snapshotRecording,
  startRecorder,
} from './recording.js';
export { type CustomRule, type RedactionOptions, Redactor } from './redact.js';
export { type Mismatch, type ReplayReport, replayRecording } from './replay.js';
export type { Restart, RestartedSession, RestartPoint } from './restart.js';
export { type ServeOptions, startInspectorServer } from './serveFlow.js';
export type { AuditEntry } from './server/client.js';
export type { InspectorServer, InspectorServerOptions } from './server/inspectorServer.js';
export type { Tokens as InspectorTokens } from './server/security.js';
export { StreamRedactor } from './streamRedactor.js';
export { readFlow } from './transcript/readFlow.js';
