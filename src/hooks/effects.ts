import type { JsonObject, JsonValue } from '../json.js';
import type { PermissionUpdate } from '../permissions/types.js';
import type { ConfiguredHook } from './config-types.js';
import { eventTraits } from './events.js';
import type { HookRun } from './types.js';

/** How a handler ended, before its answer is understood. */
export type RawOutcome =
  | { readonly kind: 'exit'; readonly code: number | null; readonly stdout: string; readonly stderr: string; readonly overflow: boolean }
  /** A 2xx response or an MCP tool's text. */
  | { readonly kind: 'text'; readonly text: string; readonly overflow: boolean }
  /** A function's return value. */
  | { readonly kind: 'value'; readonly value: unknown }
  /** A model's judgement. */
  | { readonly kind: 'judgement'; readonly ok: boolean; readonly reason: string | undefined; readonly impossible: boolean }
  | { readonly kind: 'timeout'; readonly ms: number }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly message: string; readonly output?: string }
  /** Sent to the background: says nothing now. */
  | { readonly kind: 'background' };

export type PermissionEffect =
  | { readonly behavior: 'allow'; readonly updatedInput?: JsonObject; readonly updatedPermissions?: readonly PermissionUpdate[] }
  | { readonly behavior: 'deny'; readonly message: string; readonly interrupt?: boolean };

/** What one handler wants to happen. The merge reads nothing else. */
export interface HookEffects {
  readonly status: HookRun['status'];
  readonly decision?: {
    readonly behavior: 'deny' | 'defer' | 'ask' | 'allow';
    readonly reason?: string;
    /** True when the refusal comes from a failure: an explicit deny of another hook gives the reason instead. */
    readonly byFailure?: boolean;
  };
  readonly updatedInput?: { readonly value: JsonValue };
  readonly context: readonly string[];
  readonly systemMessage?: string;
  readonly stop?: { readonly reason: string };
  readonly block?: { readonly reason: string };
  readonly updatedToolOutput?: { readonly value: JsonValue };
  readonly updatedMCPToolOutput?: { readonly value: JsonValue };
  readonly permission?: PermissionEffect;
  readonly retry?: boolean;
  readonly initialUserMessage?: string;
  readonly sessionTitle?: string;
  readonly notices: readonly string[];
}

export const NO_EFFECTS: HookEffects = { status: 'ok', context: [], notices: [] };

/** `PreToolUse hook [./guard.sh]`: how messages call a hook. */
export function hookLabel(hook: ConfiguredHook): string {
  return `${hook.event} hook [${hook.name}]`;
}

/** The refusal that an event knows: what exit code 2 and `onFailure: "block"` come to. Undefined where nothing can be refused. */
export function refusal(hook: ConfiguredHook, reason: string, byFailure: boolean): Partial<HookEffects> | undefined {
  switch (eventTraits(hook.event).blocking) {
    case 'deny':
      return { status: 'blocked', decision: { behavior: 'deny', reason, ...(byFailure ? { byFailure } : {}) } };
    case 'block':
    case 'feedback':
      return { status: 'blocked', block: { reason } };
    case 'decision':
      return { status: 'blocked', permission: { behavior: 'deny', message: reason } };
    case 'none':
      return undefined;
  }
}

/**
 * A handler that did not do its job. By default that decides nothing and leaves a notice; with `onFailure: "block"` it
 * refuses what the event can refuse (never on Stop and SubagentStop, where it would trap the model).
 */
export function failure(
  hook: ConfiguredHook,
  status: 'error' | 'timeout',
  problem: string,
  closed = hook.handler.onFailure === 'block',
): HookEffects {
  const canClose = hook.event !== 'Stop' && hook.event !== 'SubagentStop';
  const refused =
    closed && canClose ? refusal(hook, `${hookLabel(hook)} failed, and without its answer nothing may go on: ${problem}`, true) : undefined;
  if (refused !== undefined) {
    return {
      ...NO_EFFECTS,
      ...refused,
      status: status === 'timeout' ? 'timeout' : 'blocked',
      notices: [`${hookLabel(hook)} error: ${problem} It counts as a refusal.`],
    };
  }
  return { ...NO_EFFECTS, status, notices: [`${hookLabel(hook)} error: ${problem} ${consequence(hook)}`] };
}

/** What happens next although the hook failed, and how its author can have it otherwise. */
function consequence(hook: ConfiguredHook): string {
  switch (eventTraits(hook.event).blocking) {
    case 'deny':
      return 'It decided nothing; the call goes on through normal permissions. To refuse the call instead, set "onFailure": "block".';
    case 'decision':
      return 'It decided nothing; the question goes on to the person.';
    case 'feedback':
      return "The tool's result is delivered unchanged.";
    default:
      return 'It decided nothing.';
  }
}
