/**
 * Sixgates: an actor runtime for the tool calls of LLM agents.
 *
 * `createSession` starts a conversation whose every tool call walks six gates (resolve, schema, validate, hooks, permission, call)
 * as an XState actor and ends in exactly one `tool_result`.
 *
 * @packageDocumentation
 */

// The statecharts; their types are in `sixgates/machines`.
export {
  backgroundTaskMachine,
  executorMachine,
  permissionMachine,
  queryMachine,
  sessionMachine,
  toolCallMachine,
  turnMachine,
} from '../machines/index.js';
export type { HookCallback, HookCallbacks } from './hooks/config-types.js';
export { HOOK_EVENTS, type HookEvent, type HookResult, type HookRun, type InputChange } from './hooks/types.js';
export type { JsonObject, JsonValue } from './json.js';
export type {
  McpFileServerConfig,
  McpHttpServerConfig,
  McpInProcessServer,
  McpSdkServerConfig,
  McpServerConfig,
  McpServerConfigBase,
  McpStdioServerConfig,
  McpTransportConfig,
} from './mcp/config.js';
export { mcpToolName } from './mcp/names.js';
export { createSdkMcpServer, type SdkMcpServerOptions, type SdkMcpToolDefinition, type SdkToolExtras, tool } from './mcp/sdk-server.js';
export type { McpServerStatus } from './mcp/servers.js';
export type { McpServerSource } from './mcp/sources.js';
export type { OpenCall } from './messages/assemble.js';
export type { Note as HistoryNote, NoteCode as HistoryNoteCode } from './messages/note.js';
export { checkPairing } from './messages/pairing.js';
export type { PairingProblem, PairingProblemCode } from './messages/pairingProblem.js';
export { type RepairedMessages, type RepairOptions, repairMessages } from './messages/repair.js';
export type { ParkedApproval } from './messages/resume.js';
export type { SessionSummary } from './messages/sessions.js';
export type {
  AssistantBlock,
  ContentBlockParam,
  ImageBlockParam,
  MessageParam,
  StopReason,
  ToolResultBlockParam,
  Usage,
} from './messages/types.js';
export { type AnthropicClient, type AnthropicClientOptions, createAnthropicClient } from './model/anthropic.js';
export type { Clock, MonotonicClock } from './model/clock.js';
export type { RetryPolicy } from './model/retry.js';
export type { ModelSettings, ModelSettingsOptions } from './model/settings.js';
export type { ModelClient, ModelDelta, ModelError, ModelRequest, ModelStreamEvent, StreamEnd } from './model/types.js';
export type { PermissionCall } from './permissions/call.js';
export type { CanUseTool, CanUseToolOptions, PermissionResult } from './permissions/canUseTool.js';
export { PermissionEngine, type PermissionEngineOptions, type RuleSource } from './permissions/engine.js';
export type { McpIdentity } from './permissions/mcpRules.js';
export type { PathFs } from './permissions/paths.js';
export type { RuleWarning } from './permissions/ruleSet.js';
export type {
  HookVerdict,
  PermissionAnswer,
  PermissionDecision,
  PermissionDestination,
  PermissionFacts,
  PermissionMode,
  PermissionRule,
  PermissionRuleValue,
  PermissionUpdate,
  RuleBehavior,
  RuleMatch,
  RuleScope,
  SafetyFinding,
  ToolPermissionContext,
  ToolVerdict,
  TraceEntry,
  VerdictBehavior,
  VerdictSource,
} from './permissions/types.js';
export type { PermissionStore, UpdateResult } from './permissions/updates.js';
export type { AgentDefinition, GivenAgent } from './session/agentDefinitions.js';
export type { AgentSession } from './session/agentSessions.js';
export type { ModelOptions, SessionLimitOptions, SessionOptions, SettingsOptions } from './session/options.js';
export type { AnswerReceipt, PermissionPrompt, PersonPrompt } from './session/questions.js';
export type { QueryEnded, Sending } from './session/sending.js';
export { createSession, forkSession, type Session } from './session/session.js';
export type { ModelPrice, Prices } from './session/spend.js';
export {
  type ImportedSession,
  importClaudeTranscript,
  listSessions,
  readSession,
  type SessionPlace,
  type StoredSession,
} from './session/stored.js';
export type { SessionUpdate, SessionUsage } from './session/updates.js';
export { loadSettings } from './settings/load.js';
export type {
  LoadedSettings,
  LoadSettingsOptions,
  PermissionSettings,
  SettingsFile,
  SettingsHookGroup,
  SettingsProblem,
} from './settings/types.js';
export { buildTool, type ToolDefinition } from './tool/build.js';
export type { AbortReason, CallOutcome, CancelPhase, OutcomeKind, ParsedJson, ToolProgress, ToolUseRequest } from './tool/call.js';
export { ToolAbortedError, ToolFailure } from './tool/errors.js';
export { assembleToolPool, getAllBaseTools, type ToolPool, type ToolPoolOptions } from './tool/pool.js';
export type {
  AgentLauncher,
  AgentRequest,
  AgentResult,
  AgentUsage,
  AnyTool,
  BackgroundTaskEnd,
  BackgroundTaskHandle,
  BackgroundTaskInfo,
  BackgroundTaskStart,
  BackgroundTasks,
  DeferredToolMatch,
  FileLedger,
  FileRecord,
  MappedToolResult,
  PersonAnswers,
  PersonQuestion,
  RenderedMessage,
  RunningAgent,
  SessionModifier,
  Tool,
  ToolCapabilities,
  ToolContext,
  ToolReturn,
  ToolSearchIndex,
  ValidationVerdict,
} from './tool/types.js';
export type { BuiltInToolOptions, LanguageServerConfig, PageSummariser, WebFetchOptions } from './tools/index.js';
