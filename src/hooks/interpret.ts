import { isJsonObject, type JsonObject } from '../json.js';
import { messageOf } from '../tool/errors.js';
import { looksLikeBuriedAnswer, readAnswer } from './answer.js';
import type { ConfiguredHook } from './config-types.js';
import { failure, type HookEffects, hookLabel, NO_EFFECTS, type RawOutcome, refusal } from './effects.js';
import { eventTraits, isToolEvent } from './events.js';
import { clip, OUTPUT_CAP_BYTES } from './limits.js';

/** Turns the way a handler ended into what it wants to happen (Claude Code docs, hooks: exit codes and JSON output). */
export function interpret(hook: ConfiguredHook, raw: RawOutcome): HookEffects {
  switch (raw.kind) {
    case 'exit':
      return interpretExit(hook, raw);
    case 'text':
      return interpretText(hook, raw);
    case 'value':
      return interpretValue(hook, raw.value);
    case 'judgement':
      return interpretJudgement(hook, raw);
    case 'timeout':
      return failure(hook, 'timeout', `It was stopped after ${seconds(raw.ms)}.`, timeoutCloses(hook));
    case 'failed':
      return failure(hook, 'error', raw.message);
    case 'cancelled':
      return { ...NO_EFFECTS, status: 'cancelled' };
    case 'background':
      return NO_EFFECTS;
  }
}

/** A callback that hangs in front of something it could refuse refuses it; every other handler only does when told so. */
function timeoutCloses(hook: ConfiguredHook): boolean {
  const { handler, event } = hook;
  if (handler.onFailure !== undefined) return handler.onFailure === 'block';
  return handler.type === 'function' && (event === 'PreToolUse' || event === 'UserPromptSubmit');
}

type ReadStdout =
  | { readonly kind: 'object'; readonly value: JsonObject }
  | { readonly kind: 'plain' }
  | { readonly kind: 'broken'; readonly problem: string };

/** Only a text whose first non-space character is `{` is JSON; anything else, a JSON array included, is plain text. */
function readStdout(stdout: string): ReadStdout {
  const text = stdout.trim();
  if (!text.startsWith('{')) return { kind: 'plain' };
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return { kind: 'object', value };
  } catch (error) {
    return {
      kind: 'broken',
      problem: `Its output starts like JSON and cannot be parsed: ${messageOf(error)}.`,
    };
  }
  return { kind: 'plain' };
}

function interpretExit(hook: ConfiguredHook, raw: Extract<RawOutcome, { readonly kind: 'exit' }>): HookEffects {
  const overflow = `Its output is larger than ${OUTPUT_CAP_BYTES / 1024} KiB and was not read.`;
  const read: ReadStdout = raw.overflow ? { kind: 'broken', problem: overflow } : readStdout(raw.stdout);
  const answer = read.kind === 'object' ? readAnswer(hook, read.value) : undefined;
  if (raw.code === 2) return blockedByExit(hook, raw.stderr, answer?.ok ? answer.effects : undefined);
  if (answer?.ok) return settled(hook, answer.effects);
  const status = raw.code === 0 ? '' : ` ${exitText(raw.code, raw.stderr)}`;
  if (answer !== undefined) return failure(hook, 'error', `${answer.problem}${status}`);
  if (raw.code !== 0) return failure(hook, 'error', exitText(raw.code, raw.stderr));
  if (read.kind === 'broken') return failure(hook, 'error', read.problem);

  const text = raw.stdout.trim();
  if (eventTraits(hook.event).plainStdout && text !== '') return { ...NO_EFFECTS, context: [text] };
  if (looksLikeBuriedAnswer(hook.event, text)) {
    return {
      ...NO_EFFECTS,
      notices: [
        `${hookLabel(hook)}: its output is plain text, because it does not start with "{"; the JSON in it decided nothing. Print nothing before the JSON.`,
      ],
    };
  }
  return NO_EFFECTS;
}

/** Exit code 2 refuses, whatever the JSON says; of the JSON only its reason, context and messages are kept. */
function blockedByExit(hook: ConfiguredHook, stderr: string, answer: HookEffects | undefined): HookEffects {
  const said = answer?.decision?.behavior === 'deny' ? answer.decision.reason : answer?.block?.reason;
  const reason = said || stderr.trim() || `${hookLabel(hook)} refused (exit code 2) and gave no reason on stderr.`;
  const blocking = eventTraits(hook.event).blocking;
  const refused = blocking === 'decision' ? undefined : refusal(hook, reason, false);
  const kept: HookEffects = {
    ...NO_EFFECTS,
    context: answer?.context ?? [],
    notices: answer?.notices ?? [],
    ...(answer?.systemMessage === undefined ? {} : { systemMessage: answer.systemMessage }),
    ...(answer?.stop === undefined ? {} : { stop: answer.stop }),
  };
  if (refused !== undefined) return { ...kept, ...refused };
  const way =
    blocking === 'decision'
      ? 'Answer with {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny"}}}.'
      : reason;
  const denied = answer?.permission?.behavior === 'deny' ? { permission: answer.permission } : {};
  return {
    ...kept,
    ...denied,
    status: 'error',
    notices: [...kept.notices, `${hookLabel(hook)}: exit code 2 has no effect on ${hook.event}. ${way}`],
  };
}

function exitText(code: number | null, stderr: string): string {
  const said = stderr.trim();
  const hint = code === 127 ? ' (command not found)' : code === 126 ? ' (not executable)' : '';
  return `Failed with non-blocking status code: ${code ?? 'none, it was killed by a signal'}${hint}.${said === '' ? '' : ` stderr: ${clip(said, 500)}`}`;
}

function interpretText(hook: ConfiguredHook, raw: Extract<RawOutcome, { readonly kind: 'text' }>): HookEffects {
  if (raw.overflow) return failure(hook, 'error', `Its answer is larger than ${OUTPUT_CAP_BYTES / 1024} KiB and was not read.`);
  if (raw.text.trim() === '') return NO_EFFECTS;
  const read = readStdout(raw.text);
  if (read.kind === 'object') return answered(hook, read.value);
  if (read.kind === 'broken') return failure(hook, 'error', read.problem);
  if (hook.handler.type === 'mcp_tool')
    return eventTraits(hook.event).plainStdout ? { ...NO_EFFECTS, context: [raw.text.trim()] } : NO_EFFECTS;
  return failure(hook, 'error', 'Its answer is not a JSON object.');
}

function interpretValue(hook: ConfiguredHook, value: unknown): HookEffects {
  if (value === undefined || value === null) return NO_EFFECTS;
  let plain: unknown;
  try {
    plain = JSON.parse(JSON.stringify(value) ?? 'null');
  } catch (error) {
    return failure(hook, 'error', `Its answer is not plain JSON: ${messageOf(error)}.`);
  }
  if (!isJsonObject(plain)) return failure(hook, 'error', 'Its answer is not an object.');
  return answered(hook, plain);
}

function answered(hook: ConfiguredHook, value: JsonObject): HookEffects {
  const answer = readAnswer(hook, value);
  return answer.ok ? settled(hook, answer.effects) : failure(hook, 'error', answer.problem);
}

/** A doubtful answer of a handler that must succeed is a failure. */
function settled(hook: ConfiguredHook, effects: HookEffects): HookEffects {
  if (effects.status !== 'error' || hook.handler.onFailure !== 'block') return effects;
  return failure(hook, 'error', 'Its answer has fields that are not known where they stand.');
}

/** A model's no refuses; on tool events it also ends the turn unless `continueOnBlock`. "Impossible" lets a Stop hook give up. */
function interpretJudgement(hook: ConfiguredHook, raw: Extract<RawOutcome, { readonly kind: 'judgement' }>): HookEffects {
  if (raw.ok) return NO_EFFECTS;
  const reason = raw.reason || `${hookLabel(hook)} said no.`;
  const stopping = hook.event === 'Stop' || hook.event === 'SubagentStop';
  if (raw.impossible && stopping) return { ...NO_EFFECTS, systemMessage: reason };
  const endsTurn =
    isToolEvent(hook.event) &&
    hook.event !== 'PermissionRequest' &&
    hook.handler.type === 'prompt' &&
    hook.handler.continueOnBlock !== true;
  return { ...NO_EFFECTS, ...refusal(hook, reason, false), ...(endsTurn ? { stop: { reason } } : {}) };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
