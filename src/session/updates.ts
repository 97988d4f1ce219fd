import type { QueryEnd } from '../../machines/query.js';
import type { CallState } from '../../machines/toolCall.js';
import type { HookRun } from '../hooks/types.js';
import type { JsonObject } from '../json.js';
import type { McpServerStatus } from '../mcp/servers.js';
import type { AssistantBlock, ToolResultBlockParam, Usage } from '../messages/types.js';
import type { ModelError } from '../model/types.js';
import type { PermissionDecision, PermissionMode } from '../permissions/types.js';
import type { CallOutcome, ToolProgress } from '../tool/call.js';
import type { BackgroundTaskInfo } from '../tool/types.js';
import type { PermissionPrompt, PersonPrompt } from './questions.js';

/**
 * What a session tells whoever watches it, as it happens. Results and outcomes are never dropped; progress is lossy.
 * Plain JSON, one object a line under `--json`.
 */
export type SessionUpdate =
  | {
      readonly type: 'session.started';
      readonly sessionId: string;
      readonly model: string;
      readonly cwd: string;
      readonly mode: PermissionMode;
      readonly tools: readonly string[];
      readonly transcript: string | null;
      readonly servers: readonly McpServerStatus[];
    }
  /** An MCP server has connected, failed, or is connecting again. */
  | { readonly type: 'server.status'; readonly server: McpServerStatus }
  | { readonly type: 'query.started'; readonly queryId: string; readonly prompt: string }
  | { readonly type: 'turn.started'; readonly queryId: string; readonly turn: number }
  | { readonly type: 'text.delta'; readonly text: string }
  | { readonly type: 'thinking.delta'; readonly text: string }
  /** Raw JSON of a tool input while it streams in; for previews only. */
  | { readonly type: 'input.delta'; readonly callId: string; readonly partialJson: string }
  | { readonly type: 'block'; readonly queryId: string; readonly block: AssistantBlock }
  /** Blocks of an abandoned generation: what was shown of it does not count. */
  | { readonly type: 'message.discarded'; readonly reason: string }
  | { readonly type: 'model.retry'; readonly attempt: number; readonly delayMs: number; readonly error: ModelError }
  | { readonly type: 'model.ended'; readonly stopReason: string | null; readonly usage: Usage | null; readonly incomplete: boolean }
  | {
      readonly type: 'call.state';
      readonly callId: string;
      readonly tool: string;
      readonly state: CallState;
      /** Milliseconds since the call was admitted. */
      readonly ms: number;
    }
  | { readonly type: 'call.input'; readonly callId: string; readonly tool: string; readonly title: string; readonly input: JsonObject }
  | { readonly type: 'calls.inProgress'; readonly callIds: readonly string[] }
  | { readonly type: 'call.progress'; readonly callId: string; readonly progress: ToolProgress }
  | { readonly type: 'call.decision'; readonly callId: string; readonly tool: string; readonly decision: PermissionDecision }
  | {
      readonly type: 'call.result';
      readonly callId: string;
      readonly tool: string;
      readonly outcome: CallOutcome;
      readonly result: ToolResultBlockParam;
    }
  /** A tool answered after its call had been settled without it. Nothing of it reaches the model. */
  | {
      readonly type: 'call.late';
      readonly callId: string;
      readonly tool: string;
      readonly outcome: 'resolved' | 'rejected';
      readonly afterMs: number;
    }
  | { readonly type: 'permission.requested'; readonly prompt: PermissionPrompt }
  | { readonly type: 'permission.resolved'; readonly callId: string; readonly behavior: 'allow' | 'deny'; readonly by: string }
  | { readonly type: 'permission.withdrawn'; readonly callId: string }
  | { readonly type: 'question.asked'; readonly prompt: PersonPrompt }
  | { readonly type: 'question.answered'; readonly callId: string }
  | { readonly type: 'hook.run'; readonly callId?: string; readonly run: HookRun }
  | { readonly type: 'task.started'; readonly task: BackgroundTaskInfo }
  | { readonly type: 'task.ended'; readonly task: BackgroundTaskInfo }
  /** Something a subagent said, with the call that started the agent. What streams (text, progress) is left out. */
  | { readonly type: 'agent.update'; readonly agentId: string; readonly callId: string; readonly update: SessionUpdate }
  | {
      readonly type: 'session.compacted';
      readonly trigger: 'auto' | 'manual';
      /** Messages that the summary stands for. */
      readonly summarized: number;
      /** Messages that stay behind it. */
      readonly kept: number;
      /** Size of the conversation before, in tokens; 0 where it is not known. */
      readonly preTokens: number;
    }
  | { readonly type: 'notice'; readonly level: 'info' | 'warning' | 'error'; readonly message: string }
  | {
      readonly type: 'query.ended';
      readonly queryId: string;
      readonly end: QueryEnd;
      readonly reason: string;
      readonly turns: number;
      readonly text: string;
      readonly usage: SessionUsage;
    }
  | { readonly type: 'session.ended'; readonly sessionId: string };

/** Tokens since the session began, summed over requests. */
export interface SessionUsage {
  /** Input tokens that no cache served. */
  readonly inputTokens: number;
  /** Output tokens, thinking included. */
  readonly outputTokens: number;
  /** Input tokens read from the prompt cache. */
  readonly cacheReadTokens: number;
  /** Input tokens written to the prompt cache. */
  readonly cacheCreationTokens: number;
  /** Requests that were answered. */
  readonly requests: number;
}
