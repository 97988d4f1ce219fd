import type { HookResult } from '../../hooks/types.js';
import type { JsonObject } from '../../json.js';
import type { PermissionMode } from '../../permissions/types.js';

/** A call that a model might make. */
export interface CallCase {
  /** The tool's name. */
  readonly tool: string;
  /** The call's input. */
  readonly input: JsonObject;
  /** As a rule would spell it: `Bash(git status && rm -rf build)`. */
  readonly text: string;
  /** The pattern it was derived from, when it was. */
  readonly pattern?: string;
  /** How it is spelled, for a person: `behind timeout`, `after &&`. */
  readonly spelling?: string;
  /** Symbolic links that the call takes for granted, path to target; only the exploration sees them. */
  readonly links?: Readonly<Record<string, string>>;
}

/** A permission mode, or mode `auto` with a classifier at hand. */
export type ModeCase = PermissionMode | 'autoWithClassifier';
/** Every permission mode, `auto` with and without a classifier. */
export const ALL_MODES: readonly ModeCase[] = [
  'default',
  'acceptEdits',
  'plan',
  'auto',
  'autoWithClassifier',
  'dontAsk',
  'bypassPermissions',
];
export const permissionMode = (mode: ModeCase): PermissionMode => (mode === 'autoWithClassifier' ? 'auto' : mode);

/** What PreToolUse hooks may say. `absent`: none is configured. `silent`: they ran and decided nothing (or crashed). */
export type HookOutcome = 'absent' | 'silent' | 'allow' | 'ask' | 'deny' | 'rewrite' | 'rewriteAndAllow' | 'stop';
/** Everything that PreToolUse hooks may say. */
export const ALL_HOOK_OUTCOMES: readonly HookOutcome[] = ['absent', 'silent', 'allow', 'ask', 'deny', 'rewrite', 'rewriteAndAllow', 'stop'];

/** What PermissionRequest hooks may say when a question comes up. `absent`: none is configured. */
export type RequestHookOutcome = 'absent' | 'silent' | 'yes' | 'edited' | 'no' | 'fails';
/** Everything that PermissionRequest hooks may say. */
export const ALL_REQUEST_HOOK_OUTCOMES: readonly RequestHookOutcome[] = ['absent', 'silent', 'yes', 'edited', 'no', 'fails'];

/**
 * How a person may answer. `always`: yes, with a new rule. `edited`: yes, to another input. `stop`: no, and end the query. `stale`: an
 * answer to another input. `unreachable`: the question cannot be put. `nobody`: there is no one to ask.
 */
export type PersonAnswer = 'yes' | 'no' | 'always' | 'edited' | 'stop' | 'stale' | 'unreachable' | 'nobody';
/** Every way in which a person may answer. */
export const ALL_ANSWERS: readonly PersonAnswer[] = ['yes', 'no', 'always', 'edited', 'stop', 'stale', 'unreachable', 'nobody'];

/** One thing that hooks said of a call, real or assumed. */
export interface HookSaying {
  /** `hook.allow` … */
  readonly type: string;
  /** For a person: `the hook ./guard.sh says allow`. */
  readonly say: string;
  readonly result: HookResult;
}
