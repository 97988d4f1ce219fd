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
  /** The first update that every listener hears. `transcript` is the file, null for a session in memory. */
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
  /** A query begins to answer a prompt; several prompts that waited are joined. */
  | { readonly type: 'query.started'; readonly queryId: string; readonly prompt: string }
  /** A request goes to the model. `turn` counts from 1. */
  | { readonly type: 'turn.started'; readonly queryId: string; readonly turn: number }
  /** Text of the answer as it arrives. The whole comes again in `block`. */
  | { readonly type: 'text.delta'; readonly text: string }
  /** Thinking of the model as it arrives. */
  | { readonly type: 'thinking.delta'; readonly text: string }
  /** Raw JSON of a tool input while it streams in; for previews only. */
  | { readonly type: 'input.delta'; readonly callId: string; readonly partialJson: string }
  /** A block of the answer is complete and on the transcript. */
  | { readonly type: 'block'; readonly queryId: string; readonly block: AssistantBlock }
  /** Blocks of an abandoned generation: what was shown of it does not count. */
  | { readonly type: 'message.discarded'; readonly reason: string }
  /** A request has failed and is sent again after `delayMs` milliseconds; `attempt` is the number of the retry, from 1. */
  | { readonly type: 'model.retry'; readonly attempt: number; readonly delayMs: number; readonly error: ModelError }
  /** The answer has ended. `incomplete`: its stream broke before its end. */
  | { readonly type: 'model.ended'; readonly stopReason: string | null; readonly usage: Usage | null; readonly incomplete: boolean }
  /** A tool call has passed into another state. */
  | {
      readonly type: 'call.state';
      readonly callId: string;
      readonly tool: string;
      readonly state: CallState;
      /** Milliseconds since the call was admitted. */
      readonly ms: number;
    }
  /**
   * A call's input has been accepted; `title` is that of the tool's `renderToolUseMessage`. It comes again when a hook or a person has changed the input.
   */
  | { readonly type: 'call.input'; readonly callId: string; readonly tool: string; readonly title: string; readonly input: JsonObject }
  /** The calls that run now. */
  | { readonly type: 'calls.inProgress'; readonly callIds: readonly string[] }
  /** A running tool tells how far it is. */
  | { readonly type: 'call.progress'; readonly callId: string; readonly progress: ToolProgress }
  /** A call was allowed or denied, with every check that led to it. */
  | { readonly type: 'call.decision'; readonly callId: string; readonly tool: string; readonly decision: PermissionDecision }
  /** The one result of a call, as it goes to the model. */
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
  /** A permission question waits for an answer: `session.answer(prompt.callId, prompt.inputDigest, …)`. */
  | { readonly type: 'permission.requested'; readonly prompt: PermissionPrompt }
  /** A permission question was answered; `by` is where. */
  | { readonly type: 'permission.resolved'; readonly callId: string; readonly behavior: 'allow' | 'deny'; readonly by: string }
  /** A question is open no more, because its call was aborted. */
  | { readonly type: 'permission.withdrawn'; readonly callId: string }
  /** A tool asks the person something: `session.answerQuestion(prompt.callId, …)`. */
  | { readonly type: 'question.asked'; readonly prompt: PersonPrompt }
  /** A tool's questions were answered. */
  | { readonly type: 'question.answered'; readonly callId: string }
  /** A handler of a hook has run, or has been sent to the background. */
  | { readonly type: 'hook.run'; readonly callId?: string; readonly run: HookRun }
  /** Work goes on in the background. */
  | { readonly type: 'task.started'; readonly task: BackgroundTaskInfo }
  /** A background task has ended, with everything it started. */
  | { readonly type: 'task.ended'; readonly task: BackgroundTaskInfo }
  /** Something a subagent said, with the call that started the agent. What streams (text, progress) is left out. */
  | { readonly type: 'agent.update'; readonly agentId: string; readonly callId: string; readonly update: SessionUpdate }
  /** A summary stands in place of older history. */
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
  /** Something a person should know: a setting without effect, a hook that failed, a server that was lost. */
  | { readonly type: 'notice'; readonly level: 'info' | 'warning' | 'error'; readonly message: string }
  /** A query is over. `text` is the model's last answer, `reason` says in words why it ended, `usage` is the session's so far. */
  | {
      readonly type: 'query.ended';
      readonly queryId: string;
      readonly end: QueryEnd;
      readonly reason: string;
      readonly turns: number;
      readonly text: string;
      readonly usage: SessionUsage;
    }
  /** The last update: the session is closed. */
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
