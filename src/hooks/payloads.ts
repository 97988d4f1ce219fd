import type { JsonObject, JsonValue } from '../json.js';
import type { PermissionUpdate } from '../permissions/types.js';
import { eventTraits } from './events.js';
import type { HookEvent, HookRequest } from './types.js';

/** One call of a turn as PostToolBatch shows it. `toolResponse` is the content of its `tool_result`. */
export interface BatchCall {
  readonly toolName: string;
  readonly toolInput: JsonObject;
  readonly toolUseId: string;
  readonly toolResponse: JsonValue;
}
export interface ToolCallFields {
  readonly toolName: string;
  /** The call's input with paths made absolute. */
  readonly toolInput: JsonObject;
  readonly toolUseId: string;
  /** For tools of MCP servers: which server, and where it was configured. */
  readonly mcpServer?: { readonly name: string; readonly source?: string };
}

/*
 * What each event's hooks get on stdin beside the common fields (Claude Code docs, hooks: hook input). Each builder
 * returns the request for `HookRunner.run`.
 */

export function preToolUsePayload(call: ToolCallFields): HookRequest {
  return hookRequest('PreToolUse', toolFields(call), call.toolUseId);
}

/** `toolResponse` is the tool's structured output, not the text for the model. */
export function postToolUsePayload(call: ToolCallFields & { readonly toolResponse: JsonValue; readonly durationMs: number }): HookRequest {
  return hookRequest(
    'PostToolUse',
    { ...toolFields(call), tool_response: call.toolResponse, duration_ms: call.durationMs },
    call.toolUseId,
  );
}

/** For calls that began to run and failed; never for an unknown tool, refused input, a denial or a cancelled call. */
export function postToolUseFailurePayload(
  call: ToolCallFields & { readonly error: string; readonly isInterrupt?: boolean; readonly durationMs: number },
): HookRequest {
  return hookRequest(
    'PostToolUseFailure',
    { ...toolFields(call), error: call.error, ...optional('is_interrupt', call.isInterrupt), duration_ms: call.durationMs },
    call.toolUseId,
  );
}

/** Once after all calls of a turn, before the next request to the model. */
export function postToolBatchPayload(turnId: string, calls: readonly BatchCall[]): HookRequest {
  const toolCalls = calls.map((call) => ({
    tool_name: call.toolName,
    tool_input: call.toolInput,
    tool_use_id: call.toolUseId,
    tool_response: call.toolResponse,
  }));
  return hookRequest('PostToolBatch', { tool_calls: toolCalls }, undefined, turnId);
}

/** The payload itself carries no `tool_use_id`; the id only addresses the request. */
export function permissionRequestPayload(
  call: Omit<ToolCallFields, 'mcpServer'> & { readonly permissionSuggestions?: readonly PermissionUpdate[] },
): HookRequest {
  const suggestions = call.permissionSuggestions?.map(updateAsJson);
  return hookRequest(
    'PermissionRequest',
    { tool_name: call.toolName, tool_input: call.toolInput, ...optional('permission_suggestions', suggestions) },
    call.toolUseId,
  );
}

export function permissionDeniedPayload(call: ToolCallFields & { readonly reason: string }): HookRequest {
  return hookRequest('PermissionDenied', { ...toolFields(call), reason: call.reason }, call.toolUseId);
}

export function userPromptSubmitPayload(queryId: string, prompt: string): HookRequest {
  return hookRequest('UserPromptSubmit', { prompt }, undefined, queryId);
}

/** `stopHookActive`: the query goes on already because a Stop hook blocked; hooks look at it to avoid an endless round. */
export interface StopFields {
  readonly stopHookActive: boolean;
  readonly lastAssistantMessage?: string;
  readonly backgroundTasks?: readonly JsonObject[];
}
export function stopPayload(queryId: string, stop: StopFields): HookRequest {
  return hookRequest('Stop', stopFields(stop), undefined, queryId);
}
export function subagentStopPayload(agent: StopFields & AgentFields & { readonly agentTranscriptPath: string }): HookRequest {
  return hookRequest(
    'SubagentStop',
    { ...stopFields(agent), ...agentFields(agent), agent_transcript_path: agent.agentTranscriptPath },
    undefined,
    agent.agentId,
  );
}

export interface AgentFields {
  readonly agentId: string;
  readonly agentType: string;
}
export function subagentStartPayload(agent: AgentFields): HookRequest {
  return hookRequest('SubagentStart', agentFields(agent), undefined, agent.agentId);
}

export function stopFailurePayload(
  queryId: string,
  failure: { readonly error: string; readonly errorDetails?: string; readonly lastAssistantMessage?: string },
): HookRequest {
  return hookRequest(
    'StopFailure',
    {
      error: failure.error,
      ...optional('error_details', failure.errorDetails),
      ...optional('last_assistant_message', failure.lastAssistantMessage),
    },
    undefined,
    queryId,
  );
}

export type SessionSource = 'startup' | 'resume' | 'clear' | 'compact' | 'fork';
export function sessionStartPayload(start: {
  readonly source: SessionSource;
  readonly model?: string;
  readonly agentType?: string;
}): HookRequest {
  return hookRequest('SessionStart', {
    source: start.source,
    ...optional('model', start.model),
    ...optional('agent_type', start.agentType),
  });
}

export type SessionEndReason = 'clear' | 'resume' | 'logout' | 'prompt_input_exit' | 'other';
export function sessionEndPayload(reason: SessionEndReason): HookRequest {
  return hookRequest('SessionEnd', { reason });
}

export function notificationPayload(notification: {
  readonly message: string;
  readonly title?: string;
  readonly type: string;
}): HookRequest {
  return hookRequest('Notification', {
    message: notification.message,
    ...optional('title', notification.title),
    notification_type: notification.type,
  });
}

export function preCompactPayload(compact: { readonly trigger: 'manual' | 'auto'; readonly customInstructions?: string }): HookRequest {
  return hookRequest('PreCompact', { trigger: compact.trigger, custom_instructions: compact.customInstructions ?? null });
}
export function postCompactPayload(compact: { readonly trigger: 'manual' | 'auto'; readonly summary: string }): HookRequest {
  return hookRequest('PostCompact', { trigger: compact.trigger, compact_summary: compact.summary });
}

function hookRequest(event: HookEvent, payload: JsonObject, toolUseId?: string, key?: string): HookRequest {
  const field = eventTraits(event).subject;
  const subject = field === null ? undefined : payload[field];
  const of = toolUseId ?? key;
  return {
    id: of === undefined ? `hook:${event}` : `hook:${event}:${of}`,
    event,
    ...(typeof subject === 'string' ? { subject } : {}),
    ...(toolUseId === undefined ? {} : { toolUseId }),
    payload,
  };
}

function toolFields(call: ToolCallFields): JsonObject {
  const { mcpServer } = call;
  const server = mcpServer === undefined ? undefined : { name: mcpServer.name, ...optional('source', mcpServer.source) };
  return { tool_name: call.toolName, tool_input: call.toolInput, tool_use_id: call.toolUseId, ...optional('mcp_server', server) };
}

function stopFields(stop: StopFields): JsonObject {
  return {
    stop_hook_active: stop.stopHookActive,
    ...optional('last_assistant_message', stop.lastAssistantMessage),
    background_tasks: stop.backgroundTasks ?? [],
    session_crons: [],
  };
}

function agentFields(agent: AgentFields): JsonObject {
  return { agent_id: agent.agentId, agent_type: agent.agentType };
}

function updateAsJson(update: PermissionUpdate): JsonObject {
  if (!('rules' in update)) return { ...update };
  return { ...update, rules: update.rules.map((rule) => ({ toolName: rule.toolName, ...optional('ruleContent', rule.ruleContent) })) };
}

function optional(name: string, value: JsonValue | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}
