import type { ClassifierVerdict, PermissionQuestion } from '../../machines/permission.js';
import type { Eagerness } from '../../machines/schedule.js';
import type { HookCallbacks } from '../hooks/config-types.js';
import type { DebugGate } from '../inspect/gate/debugGate.js';
import type { JsonObject } from '../json.js';
import type { McpServerConfig } from '../mcp/config.js';
import type { Transcript } from '../messages/transcript.js';
import type { Clock } from '../model/clock.js';
import type { RetryPolicy } from '../model/retry.js';
import type { ModelClient } from '../model/types.js';
import type { CanUseTool } from '../permissions/canUseTool.js';
import type { PermissionMode } from '../permissions/types.js';
import type { PermissionSettings } from '../settings/types.js';
import type { AnyTool, ToolCapabilities } from '../tool/types.js';
import type { GivenAgent } from './agentDefinitions.js';
import type { Prices } from './spend.js';
import type { SessionUpdate } from './updates.js';

/** The model a session talks to. A string is a model id at the Claude API, with key and base URL from the environment. */
export interface ModelOptions {
  /** Model id. Default: `SIXGATES_MODEL`, `ANTHROPIC_MODEL`, else the library's own. */
  readonly id?: string | undefined;
  /**
   * A model port to use in place of the Claude API's: another provider, a gateway, a scripted model. Key and base URL do not count then.
   */
  readonly client?: ModelClient;
  /** Default: `ANTHROPIC_API_KEY`. */
  readonly apiKey?: string | undefined;
  /** Default: `SIXGATES_BASE_URL`, `ANTHROPIC_BASE_URL`, else the Claude API. */
  readonly baseURL?: string | undefined;
  /** Output limit of a request, in tokens. Default: `SIXGATES_MAX_TOKENS`, `CLAUDE_CODE_MAX_OUTPUT_TOKENS`, else 32,000. */
  readonly maxTokens?: number;
  /** System prompt. Default none. */
  readonly system?: string;
  /** The Messages API's `thinking` parameter, sent as it is. Default: not sent. */
  readonly thinking?: JsonObject;
  /** Values of the `anthropic-beta` header. Default none. */
  readonly betas?: readonly string[];
  /** When a failed request is sent again; what is left out keeps its default. */
  readonly retry?: Partial<RetryPolicy>;
  /**
   * Whether the API expands `tool_reference` blocks to deferred tools (`defer_loading`): every request then carries all definitions
   * and stays the same when a tool is loaded. Default false: a loaded tool joins the request.
   */
  readonly apiToolSearch?: boolean;
}

/** Which settings files count, and what stands in for or beside them. */
export interface SettingsOptions {
  /** Home directory whose `.claude/settings.json` is read. Default: the user's, whose `.claude` `CLAUDE_CONFIG_DIR` puts elsewhere. */
  readonly home?: string;
  /** A further file, stronger than the project's (`--settings`). */
  readonly file?: string;
  /** Managed settings, which nothing overrides. Default: the place they have on this system. */
  readonly managedFile?: string;
  /** False reads no settings file at all; only what is given in code counts. Default true. */
  readonly files?: boolean;
  /** Whether the project's own allow rules count. Default false: a project one has just cloned must not grant itself anything. */
  readonly trusted?: boolean;
}

/** What a session is made of. Everything has a default. */
export interface SessionOptions {
  /** The model to ask: its id, or more about it. */
  readonly model?: string | ModelOptions;
  /** Working directory of tools and anchor of project settings. Default: the process's. */
  readonly cwd?: string;
  /** Tools of the embedding program, beside the built-in ones. */
  readonly tools?: readonly AnyTool[];
  /** Kinds of subagents beside the built-in ones and those of `.claude/agents`. */
  readonly agents?: readonly GivenAgent[];
  /** The built-in tools to offer: all (default), none, or these by name. */
  readonly builtInTools?: boolean | readonly string[];
  /** MCP servers by name. They count before those of `.mcp.json` and settings files. */
  readonly mcpServers?: Readonly<Record<string, McpServerConfig>>;
  /** True: no MCP server but those in `mcpServers` is started. */
  readonly strictMcpConfig?: boolean;
  /** How long the session waits for its MCP servers before its first word, in milliseconds. Later ones join at the next request. Default 5,000. */
  readonly mcpStartupWaitMs?: number;
  /** Rules, mode and directories given in code; joined with those of the settings files. */
  readonly permissions?: PermissionSettings & { readonly mode?: PermissionMode };
  /** Which settings files count. */
  readonly settings?: SettingsOptions;
  /** Shell commands that hide what they run: `strict` (default), or `claude-code`, as leniently as Claude Code treats them. */
  readonly opaque?: 'strict' | 'claude-code';
  /** Hooks given in code; they run beside those of the settings files. */
  readonly hooks?: HookCallbacks;
  /** Decides questions by itself (the Agent SDK's callback). Without it they wait in the session's prompt queue. */
  readonly canUseTool?: CanUseTool;
  /** Whether someone answers the prompt queue. Default false: what would ask is denied. */
  readonly interactive?: boolean;
  /** Reviews calls in mode `auto`. Absence or failure means ask. */
  readonly classifier?: (question: PermissionQuestion, input: JsonObject, signal: AbortSignal) => Promise<ClassifierVerdict>;
  /** Where sessions are kept. A directory, or false for memory only. Default: `SIXGATES_DATA_DIR`, else `~/.sixgates`. */
  readonly store?: string | false;
  /** Goes on with an earlier session of this working directory. */
  readonly resume?: string;
  /** Id of a new session. Default: a fresh one of `newId`. */
  readonly sessionId?: string;
  /** Concurrency, turns, times and budgets. */
  readonly limits?: SessionLimitOptions;
  /** Dollars for a million tokens, by model id or the beginning of one; what `limits.maxBudgetUsd` is counted by. */
  readonly prices?: Prices;
  /** Environment of child processes, and where variables are read from. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Called with every update, before any other listener. */
  readonly onUpdate?: (update: SessionUpdate) => void;
  /** Time and ids, for tests and replays. */
  readonly clock?: Clock;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
  /** Makes ids of sessions, prompts, tasks and transcript entries; each must be new. Default `randomUUID`. */
  readonly newId?: () => string;
  /** @internal Capabilities in place of the session's own. */
  readonly capabilities?: ToolCapabilities;
  /**
   * Lets an inspector pause and step this session and its subagents (`new DebugGate()` of `sixgates/inspect`, one for each session).
   * Without one nothing can be stopped, and nothing is paid for it.
   */
  readonly gate?: DebugGate;
  /** @internal Set for a subagent: its name, for prompts and hooks. */
  readonly agentName?: string;
  /** @internal A transcript that is open already: a subagent's, or one that is kept elsewhere. */
  readonly transcript?: Transcript;
}

/** How much a session may do. */
export interface SessionLimitOptions {
  /** Concurrency-safe calls that may run at once. Default 10 (`SIXGATES_MAX_TOOL_USE_CONCURRENCY`, `CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY`). */
  readonly maxConcurrency?: number;
  /** When calls start: as soon as their block is complete (`all`, default), only safe ones during the stream, or none before its end. */
  readonly eager?: Eagerness;
  /** Turns per prompt. Default 1,000. */
  readonly maxTurns?: number;
  /** Grace of an aborted tool in milliseconds. Default 5,000. */
  readonly graceMs?: number;
  /** Hard limit of a call whose tool names none, in milliseconds. Default none. */
  readonly toolTimeoutMs?: number;
  /** Tokens (input, output, cache writes) a session and its subagents may use. Default no limit. */
  readonly maxBudgetTokens?: number;
  /** US dollars a session and its subagents may use, by `prices`. Default no limit. */
  readonly maxBudgetUsd?: number;
  /** Conversation size in tokens beyond which older history is summarised. Default 160,000; 0 means never. */
  readonly compactAtTokens?: number;
  /** Rounds that Stop hooks may add in a row. Default 8 (`CLAUDE_CODE_STOP_HOOK_BLOCK_CAP`). */
  readonly maxStopRounds?: number;
}
