import type { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { BLOCKABLE, IDLE_FIELDS, SPECIFIC, SPECIFIC_FIELDS, TOP } from './answer-schema.js';
import type { ConfiguredHook } from './config-types.js';
import { type HookEffects, hookLabel, NO_EFFECTS } from './effects.js';
import { isToolEvent } from './events.js';
import { issuesOf } from './schema.js';
import type { HookEvent } from './types.js';

export type ReadAnswer =
  | { readonly ok: true; readonly effects: HookEffects }
  /** The object does not have the shape of an answer: none of it may be used. */
  | { readonly ok: false; readonly problem: string };

/**
 * Understands the JSON object that a handler answered. A field of the wrong type makes the whole answer void. An unknown or
 * misplaced field makes its author's intent doubtful: what restricts (deny, ask, block, stop) and what informs is used, what
 * loosens or replaces (allow, new input, new output) is not, and a notice says so.
 */
export function readAnswer(hook: ConfiguredHook, answer: JsonObject): ReadAnswer {
  const event = hook.event;
  const parsed = TOP.safeParse(withOwnFields(event, answer));
  if (!parsed.success) return { ok: false, problem: `The JSON output is not valid: ${complaints(parsed.error)}.` };
  const top = parsed.data;
  const specific = top.hookSpecificOutput ?? undefined;
  if (specific !== undefined && specific.hookEventName !== event) {
    return {
      ok: false,
      problem: `The JSON output is not valid: hookSpecificOutput.hookEventName must be "${event}", not "${specific.hookEventName}".`,
    };
  }
  if (event === 'StopFailure') return { ok: true, effects: NO_EFFECTS };

  const { doubts, idle } = foreignFields(event, answer);
  const notices: string[] = [];
  if (idle.length > 0) notices.push(`${hookLabel(hook)}: ${quoted(idle)} has no effect here.`);
  const effects: { -readonly [K in keyof HookEffects]: HookEffects[K] } = {
    status: 'ok',
    context: specific?.additionalContext ? [specific.additionalContext] : [],
    notices,
  };
  const doubtful = doubts.length > 0;
  if (top.systemMessage) effects.systemMessage = top.systemMessage;
  if (top.continue === false) effects.stop = { reason: top.stopReason || `${hookLabel(hook)} asked to stop.` };

  const decision = event === 'PreToolUse' ? toolDecision(top, specific) : undefined;
  if (decision !== undefined && !(doubtful && decision.behavior === 'allow')) effects.decision = decision;
  if (decision?.behavior === 'defer')
    notices.push(
      `${hookLabel(hook)}: "defer" has no effect here, since no call waits for a later process; it goes on through normal permissions.`,
    );
  if (top.decision === 'block' && event !== 'PreToolUse') {
    if (BLOCKABLE.has(event)) effects.block = { reason: top.reason || `Blocked by ${hookLabel(hook)}.` };
    else notices.push(`${hookLabel(hook)}: "decision": "block" has no effect on ${event}.`);
  }
  const answered = specific?.decision;
  if (answered?.behavior === 'deny') {
    effects.permission = {
      behavior: 'deny',
      message: answered.message || `Denied by ${hookLabel(hook)}.`,
      ...(answered.interrupt ? { interrupt: true } : {}),
    };
  }
  if (!doubtful) {
    if (isGiven(specific?.updatedInput)) {
      if (decision?.behavior === 'defer') notices.push(`${hookLabel(hook)}: "updatedInput" is ignored together with "defer".`);
      else effects.updatedInput = { value: specific.updatedInput };
    }
    if (isGiven(specific?.updatedToolOutput)) effects.updatedToolOutput = { value: specific.updatedToolOutput };
    else if (specific?.updatedToolOutput === null)
      notices.push(`${hookLabel(hook)}: "updatedToolOutput": null puts nothing in place of the output. The real output is delivered.`);
    if (isGiven(specific?.updatedMCPToolOutput)) effects.updatedMCPToolOutput = { value: specific.updatedMCPToolOutput };
    if (answered?.behavior === 'allow') {
      effects.permission = {
        behavior: 'allow',
        ...(answered.updatedInput ? { updatedInput: answered.updatedInput } : {}),
        ...(answered.updatedPermissions ? { updatedPermissions: answered.updatedPermissions } : {}),
      };
    }
    if (specific?.retry) effects.retry = true;
    if (specific?.initialUserMessage) effects.initialUserMessage = specific.initialUserMessage;
    if (specific?.sessionTitle) effects.sessionTitle = specific.sessionTitle;
  } else {
    notices.push(`${hookLabel(hook)} error: ${doubts.join(' ')} Nothing in this answer that allows or replaces is used.`);
    effects.status = 'error';
  }
  if (
    effects.decision?.behavior === 'deny' ||
    effects.block !== undefined ||
    effects.permission?.behavior === 'deny' ||
    effects.stop !== undefined
  ) {
    effects.status = 'blocked';
  }
  return { ok: true, effects };
}

/** Null is how some languages write "nothing": it says nothing about an input, and takes no output away. */
function isGiven(value: JsonValue | undefined): value is Exclude<JsonValue, null> {
  return value !== undefined && value !== null;
}

/** `permissionDecision`, else the older top-level `approve` and `block`. Where both stand and one refuses, the answer refuses. */
function toolDecision(top: z.infer<typeof TOP>, specific: z.infer<typeof SPECIFIC> | undefined): HookEffects['decision'] {
  const reasoned = (behavior: 'deny' | 'defer' | 'ask' | 'allow', reason: string | null | undefined) => ({
    behavior,
    ...(reason ? { reason } : {}),
  });
  if (top.decision === 'block' && specific?.permissionDecision !== 'deny') return reasoned('deny', top.reason);
  if (specific?.permissionDecision) return reasoned(specific.permissionDecision, specific.permissionDecisionReason ?? top.reason);
  if (top.decision === 'approve') return reasoned('allow', top.reason);
  return undefined;
}

/** The answer with only those fields of `hookSpecificOutput` that the event has: a misplaced one is a doubt, not a type error. */
function withOwnFields(event: HookEvent, answer: JsonObject): JsonObject {
  const { hookSpecificOutput: specific, ...others } = answer;
  if (!isJsonObject(specific)) return answer;
  // Some hooks print an empty one so as to have printed something; it says nothing of any event.
  if (Object.keys(specific).length === 0) return others;
  const fields: readonly string[] = ['hookEventName', ...SPECIFIC_FIELDS[event]];
  return { ...answer, hookSpecificOutput: Object.fromEntries(Object.entries(specific).filter(([key]) => fields.includes(key))) };
}

function foreignFields(event: HookEvent, answer: JsonObject): { readonly doubts: readonly string[]; readonly idle: readonly string[] } {
  const allowed: readonly string[] = ['hookEventName', ...SPECIFIC_FIELDS[event]];
  const doubts: string[] = [];
  const idle: string[] = [];
  for (const key of Object.keys(answer)) {
    if (Object.hasOwn(TOP.shape, key)) continue;
    doubts.push(
      Object.hasOwn(SPECIFIC.shape, key)
        ? `"${key}" has no effect at the top level; it belongs inside "hookSpecificOutput".`
        : `Unknown field "${key}".`,
    );
  }
  const specific = answer.hookSpecificOutput;
  for (const key of Object.keys(isJsonObject(specific) ? specific : {})) {
    if (allowed.includes(key)) continue;
    if (IDLE_FIELDS.has(key)) idle.push(key);
    else if (Object.hasOwn(TOP.shape, key)) doubts.push(`"${key}" has no effect inside "hookSpecificOutput"; it belongs at the top level.`);
    else doubts.push(`Unknown field "hookSpecificOutput.${key}" for ${event}.`);
  }
  return { doubts, idle };
}

function complaints(error: z.ZodError): string {
  return issuesOf(error)
    .map((issue) => `${issue.path.replace(/^\./, '') || 'the answer'}: ${issue.message}`)
    .join('; ');
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

/** Tells whether plain text holds what was evidently meant as an answer, printed after something else. */
export function looksLikeBuriedAnswer(event: HookEvent, text: string): boolean {
  // UTF-16, as some shells write it, has a zero byte beside each letter.
  return (
    /\{\s*"(hookSpecificOutput|decision|continue|permissionDecision)"\s*:/.test(text.replaceAll('\0', '')) &&
    (isToolEvent(event) || BLOCKABLE.has(event))
  );
}
