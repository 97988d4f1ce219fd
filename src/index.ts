/**
 * Sixgates: an actor runtime for the tool calls of LLM agents.
 *
 * `createSession` starts a conversation whose every tool call walks six gates (resolve, schema, validate, hooks, permission, call)
 * as an XState actor and ends in exactly one `tool_result`.
 */

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
export type { HookEvent, HookResult, HookRun } from './hooks/types.js';
export {
  createSdkMcpServer,
  type McpServerConfig,
  type McpServerStatus,
  mcpToolName,
  type SdkMcpServerOptions,
  type SdkMcpToolDefinition,
  tool,
} from './mcp/index.js';
export { checkPairing } from './messages/pairing.js';
export type { PairingProblem } from './messages/pairingProblem.js';
export { repairMessages } from './messages/repair.js';
export { importClaudeTranscript, type SessionSummary } from './messages/sessions.js';
export { type AnthropicClient, type AnthropicClientOptions, createAnthropicClient } from './model/anthropic.js';
export type { ModelClient, ModelDelta, ModelError, ModelRequest, ModelStreamEvent, StreamEnd } from './model/types.js';
export type { CanUseTool, CanUseToolOptions, PermissionResult } from './permissions/canUseTool.js';
export { PermissionEngine, type PermissionEngineOptions } from './permissions/engine.js';
export type {
  PermissionAnswer,
  PermissionDecision,
  PermissionFacts,
  PermissionMode,
  PermissionRule,
  PermissionUpdate,
  RuleMatch,
  ToolVerdict,
  TraceEntry,
} from './permissions/types.js';
export type { AgentDefinition, GivenAgent } from './session/agentDefinitions.js';
export type { ModelOptions, SessionLimitOptions, SessionOptions, SettingsOptions } from './session/options.js';
export type { AnswerReceipt, PermissionPrompt, PersonPrompt } from './session/questions.js';
export type { QueryEnded, Sending } from './session/sending.js';
export { createSession, forkSession, type Session } from './session/session.js';
export type { ModelPrice, Prices } from './session/spend.js';
export { listSessions, readSession, type SessionPlace, type StoredSession } from './session/stored.js';
export type { SessionUpdate, SessionUsage } from './session/updates.js';
export { loadSettings } from './settings/load.js';
export type { LoadedSettings, LoadSettingsOptions, PermissionSettings, SettingsProblem } from './settings/types.js';
export { buildTool, type ToolDefinition } from './tool/build.js';
export type { AbortReason, CallOutcome, OutcomeKind, ToolProgress, ToolUseRequest } from './tool/call.js';
export { ToolAbortedError, ToolFailure } from './tool/errors.js';
export { assembleToolPool, getAllBaseTools, type ToolPool, type ToolPoolOptions } from './tool/pool.js';
export type { AnyTool, MappedToolResult, RenderedMessage, Tool, ToolContext, ToolReturn, ValidationVerdict } from './tool/types.js';
