import type { JsonObject, JsonValue } from '../json.js';
import type { HookVerdict, PermissionUpdate } from '../permissions/types.js';

/** Every event that hooks are run for (Claude Code docs, "Hooks reference"). */
export const HOOK_EVENTS = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'PermissionRequest',
  'PermissionDenied',
  'UserPromptSubmit',
  'Stop',
  'StopFailure',
  'SubagentStart',
  'SubagentStop',
  'SessionStart',
  'SessionEnd',
  'Notification',
  'PreCompact',
  'PostCompact',
] as const;
/** The events that hooks are run for. */
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** One run of one handler, for updates, flow events and the Why panel. Output is clipped. */
export interface HookRun {
  /** `<request id>:<n>`, n being the handler's place in configuration order. */
  readonly id?: string;
  /** The event that was told. */
  readonly event: HookEvent;
  /** What the hook is called in messages: its command, URL, tool or function name, clipped. */
  readonly name: string;
  /** What kind of handler ran. */
  readonly handler: 'command' | 'http' | 'mcp_tool' | 'prompt' | 'function';
  /** The command line of a command hook. */
  readonly command?: string;
  /** How long it took, in milliseconds. */
  readonly ms: number;
  /** Exit code of a command hook; null when a signal ended it. */
  readonly exitCode?: number | null;
  /**
   * How the run ended. `blocked`: the hook refused. `error`: it failed to start, exited with a code that means nothing, or answered
   * nonsense.
   */
  readonly status: 'ok' | 'blocked' | 'error' | 'timeout' | 'cancelled';
  /** What it said of the call, where its event may decide. */
  readonly verdict?: HookVerdict['behavior'] | 'defer';
  /** What it printed or returned. */
  readonly output?: string;
  /** A visible notice: what failed and how to mend it. */
  readonly notice?: string;
  /** Where the handler was declared: `<file> hooks.PreToolUse[0].hooks[1]`. */
  readonly origin?: string;
  /** What of the call this run asked to replace. The merge may have chosen another hook's value. */
  readonly wrote?: readonly ('updatedInput' | 'updatedToolOutput' | 'updatedMCPToolOutput')[];
  /** True when the handler was sent to the background: this run only says that it started. */
  readonly async?: boolean;
}

/** The keys in which a rewritten input differs from the model's. A rewrite replaces the whole input, so a key left out is dropped. */
export interface InputChange {
  /** Keys of the model's input that the new one lacks. */
  readonly dropped: readonly string[];
  /** Keys with another value. */
  readonly changed: readonly string[];
  /** Keys that the model's input did not have. */
  readonly added: readonly string[];
}

/** The merge of all handlers that matched one event. Plain JSON; what a machine's guard reads. */
export interface HookResult {
  /** Every handler that ran, in configuration order. */
  readonly runs: readonly HookRun[];
  /**
   * deny > defer > ask > allow > passthrough. `defer` stands beside the strongest of the other verdicts, which holds
   * where a deferral cannot be honoured.
   */
  readonly verdict: HookVerdict & { readonly defer?: boolean };
  /**
   * The rewrite that won (the last in configuration order) and who wrote it. It replaces the whole input and may be any
   * JSON: whoever uses it must parse and validate it again.
   */
  readonly updatedInput?: { readonly value: JsonValue; readonly hookName: string; readonly change?: InputChange };
  /** Texts to put beside the result, or with the prompt. */
  readonly additionalContext: readonly string[];
  /** Texts that hooks want shown to the person (`systemMessage`). */
  readonly systemMessages: readonly string[];
  /** `continue: false`: beats everything (then `block` is absent); the query ends after this turn's results. The reason is for the person. */
  readonly stop?: { readonly reason: string; readonly hookName: string };
  /** `decision: "block"` (or exit 2) on events other than PreToolUse. After PostToolBatch it ends the loop; after a tool it is feedback. */
  readonly block?: { readonly reason: string; readonly hookName: string };
  /** PostToolUse: what replaces the tool's output, and who wrote it. */
  readonly updatedToolOutput?: { readonly value: JsonValue; readonly hookName: string };
  /** PostToolUse: what replaces the output of an MCP tool, and who wrote it. */
  readonly updatedMCPToolOutput?: { readonly value: JsonValue; readonly hookName: string };
  /** A PermissionRequest hook's answer. */
  readonly permission?:
    | {
        readonly behavior: 'allow';
        readonly updatedInput?: JsonObject;
        readonly updatedPermissions?: readonly PermissionUpdate[];
        readonly hookName: string;
      }
    | { readonly behavior: 'deny'; readonly message: string; readonly interrupt?: boolean; readonly hookName: string };
  /** PermissionDenied: the model may try the call again. */
  readonly retry?: boolean;
  /** SessionStart: the first prompt of a session that has none. */
  readonly initialUserMessage?: string;
  /** SessionStart: a title for the session. */
  readonly sessionTitle?: string;
  /** True when the signal fired before every handler had answered. Then the verdict is deny: an abort is never consent. */
  readonly cancelled?: boolean;
  /** Visible notices of failures. */
  readonly notices: readonly string[];
}

/** What a handler that ran in the background said, after the event that started it was over. It can no longer decide anything. */
export interface AsyncHookResult {
  readonly event: HookEvent;
  readonly hookName: string;
  readonly toolUseId?: string;
  readonly additionalContext: readonly string[];
  readonly systemMessages: readonly string[];
  readonly notices: readonly string[];
  /** `asyncRewake` and exit 2: the model is to be woken with this text. */
  readonly wake?: { readonly reason: string };
  readonly run: HookRun;
}

/** What a hook event carries beside the common fields, by event; the runner adds session_id, transcript_path, cwd … */
export interface HookRequest {
  /** `hook:<event>:<tool_use_id>`; each handler's run appends its number. */
  readonly id: string;
  readonly event: HookEvent;
  /** The value that matchers are held against (tool name, source, reason …); undefined where the event has none. */
  readonly subject?: string;
  readonly toolUseId?: string;
  readonly payload: JsonObject;
}

/** The port that runs hooks. `isConfigured` is asked first, so that no actor exists where no hook does. */
export interface HookRunner {
  isConfigured(event: HookEvent, subject?: string): boolean;
  /** Never rejects: whatever goes wrong is a notice in the result. */
  run(
    request: HookRequest,
    options: {
      readonly signal: AbortSignal;
      readonly onRun?: (run: HookRun) => void;
      /** Called as each handler starts; `statusMessage` is what its author wants shown meanwhile. */
      readonly onStart?: (start: {
        readonly id: string;
        readonly event: HookEvent;
        readonly name: string;
        readonly statusMessage?: string;
      }) => void;
    },
  ): Promise<HookResult>;
}
