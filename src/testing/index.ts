/**
 * `sixgates/testing`: for people who test their own agents. Permission paths as models, settings against properties, recorded sessions as
 * tests, scripted models, fake tools and simulated time.
 *
 * @packageDocumentation
 */

export {
  type AuditOptions,
  type AuditReport,
  auditSettings,
  describeFinding,
  type Finding,
  type FindingKind,
  type Severity,
  type Witness,
} from './audit/index.js';
export { type SimulatedTime, simulatedClock } from './clock.js';
export { describePaths, type TestRunner } from './describePaths.js';
export { expectFlow, type FlowExpectation } from './expectFlow.js';
export { Coverage, type CoverageFile, type MachineCoverage, type Unreached } from './explore/coverage.js';
export { type CallLike, type ExploredHooks, type ExploreOptions, explorePermissions } from './explore/index.js';
export type { ExplorationCounts, ModelMachines, PermissionModel } from './explore/model.js';
export type { PathAccount, PermissionPath } from './explore/path.js';
export type { Microstep } from './explore/stepper.js';
export {
  ALL_ANSWERS,
  ALL_HOOK_OUTCOMES,
  ALL_MODES,
  ALL_REQUEST_HOOK_OUTCOMES,
  type CallCase,
  type HookOutcome,
  type ModeCase,
  type PersonAnswer,
  type RequestHookOutcome,
} from './explore/types.js';
export type { WorldEvent } from './explore/walk.js';
export { type FakeAnswer, type FakeTool, fakeTool } from './fakes.js';
export { type DeterministicPorts, deterministicMachines, quietFacts, type RunningCall, startCall } from './machines.js';
export { type Expectation, type ExpectedCheck, expectThat, type MatcherVerdict, pathMatchers } from './matchers.js';
export { checkPolicy, definePolicy, loadPolicy, type Policy, type PolicyReport } from './policy/index.js';
export {
  always,
  type Circumstances,
  checkProperties,
  describeViolation,
  type Exceptions,
  never,
  type Property,
  type PropertyResult,
  property,
  type Violation,
} from './properties.js';
export type { RecordedCall, RecordedConversation, RecordedQuery, RecordedResult } from './replay/conversation.js';
export { fromRecording } from './replay/fromRecording.js';
export { fromMessages, fromTranscript, type RecordedTranscript } from './replay/fromTranscript.js';
export { type ReplayedConversation, replayConversation } from './replay/replay.js';
export { ScriptError } from './script/errors.js';
export { type ScriptedModel, type ScriptedModelOptions, scriptedModel } from './script/model.js';
export type { RefusedRequest, Script, ScriptedRequest, UnplayedStep } from './script/script.js';
export {
  apiError,
  type BlockOptions,
  block,
  cutOff,
  delay,
  errorEvent,
  event,
  type Gate,
  gate,
  message,
  ping,
  raw,
  rawToolUse,
  recording,
  type Step,
  stop,
  type ToolUseOptions,
  type Turn,
  text,
  thinking,
  toolUse,
  usage,
} from './script/steps.js';
export type { AnswerEnd } from './server/answer.js';
export { type ScriptedServer, type ScriptedServerOptions, scriptedServer } from './server/server.js';
export { type SpellingOptions, spell } from './spelling/index.js';
export type { PathPlaces } from './spelling/paths.js';
export type { Thoroughness } from './spelling/shell.js';
