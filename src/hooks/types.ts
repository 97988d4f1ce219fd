import type { JsonObject, JsonValue } from '../json.js';
import type { HookVerdict, PermissionUpdate } from '../permissions/types.js';

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
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** One run of one handler, for updates, flow events and the Why panel. Output is clipped. */
export interface HookRun {
  readonly event: HookEvent;
  readonly name: string;
  readonly handler: 'command' | 'http' | 'mcp_tool' | 'prompt' | 'function';
  readonly command?: string;
  readonly ms: number;
  readonly exitCode?: number | null;
  readonly status: 'ok' | 'blocked' | 'error' | 'timeout' | 'cancelled';
  readonly verdict?: HookVerdict['behavior'] | 'defer';
  readonly output?: string;
  /** A visible notice: what failed and how to mend it. */
  readonly notice?: string;
}

/** The merge of all handlers that matched one event. Plain JSON; what a machine's guard reads. */
export interface HookResult {
  readonly runs: readonly HookRun[];
  /** deny > defer > ask > allow > passthrough. */
  readonly verdict: HookVerdict & { readonly defer?: boolean };
  /** The rewrite that won (configuration order) and who wrote it. */
  readonly updatedInput?: { readonly value: JsonValue; readonly hookName: string };
  /** Texts to put beside the result, or with the prompt. */
  readonly additionalContext: readonly string[];
  readonly systemMessages: readonly string[];
  /** `continue: false`: beats everything; the query ends after this turn's results. */
  readonly stop?: { readonly reason: string; readonly hookName: string };
  /** `decision: "block"` (or exit 2) on events other than PreToolUse. */
  readonly block?: { readonly reason: string; readonly hookName: string };
  readonly updatedToolOutput?: { readonly value: JsonValue; readonly hookName: string };
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
  /** Visible notices of failures. */
  readonly notices: readonly string[];
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
  run(request: HookRequest, options: { readonly signal: AbortSignal; readonly onRun?: (run: HookRun) => void }): Promise<HookResult>;
}
