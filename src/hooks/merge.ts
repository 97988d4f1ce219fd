import type { JsonObject, JsonValue } from '../json.js';
import type { HookEffects } from './effects.js';
import { describeInputChange } from './input-change.js';
import type { HookEvent, HookResult, HookRun } from './types.js';

/** One handler's share in the merge. */
export interface HookShare {
  readonly hookName: string;
  readonly effects: HookEffects;
  readonly run: HookRun;
}

/**
 * Joins what all handlers of one event want. `shares` are in configuration order, whatever order they finished in, so the
 * result is a function of the configuration and the answers alone.
 *
 * - deny > defer > ask > allow; no handler can lower another's verdict.
 * - `continue: false` stands above all.
 * - Each handler saw the original input; of several rewrites the last in configuration order is used, whole.
 */
export function mergeEffects(event: HookEvent, shares: readonly HookShare[], originalInput?: JsonValue): HookResult {
  const notices = shares.flatMap((share) => share.effects.notices);
  const stop = named(shares, (effects) => effects.stop)[0];
  const block = named(shares, (effects) => effects.block)[0];
  const updatedInput = lastWritten('updatedInput', shares, notices);
  const updatedToolOutput = lastWritten('updatedToolOutput', shares, notices);
  const updatedMCPToolOutput = lastWritten('updatedMCPToolOutput', shares, notices);
  const change =
    updatedInput !== undefined && originalInput !== undefined ? describeInputChange(originalInput, updatedInput.value) : undefined;
  if (change !== undefined && change.dropped.length > 0 && updatedInput !== undefined) {
    notices.push(
      `${event} hook [${updatedInput.hookName}]: "updatedInput" replaces the whole input; left out and therefore dropped: ${change.dropped.join(', ')}.`,
    );
  }
  const cancelled = shares.some((share) => share.effects.status === 'cancelled');
  const permission = mergePermission(shares);
  const initialUserMessage = named(shares, (effects) => wrap(effects.initialUserMessage)).at(-1)?.value;
  const sessionTitle = named(shares, (effects) => wrap(effects.sessionTitle)).at(-1)?.value;
  return {
    runs: shares.map((share) => share.run),
    verdict: mergeVerdict(shares, cancelled),
    ...(updatedInput === undefined ? {} : { updatedInput: change === undefined ? updatedInput : { ...updatedInput, change } }),
    additionalContext: shares.flatMap((share) => share.effects.context),
    systemMessages: shares.flatMap((share) => share.effects.systemMessage ?? []),
    ...(stop === undefined ? {} : { stop }),
    ...(block === undefined || stop !== undefined ? {} : { block }),
    ...(updatedToolOutput === undefined ? {} : { updatedToolOutput }),
    ...(updatedMCPToolOutput === undefined ? {} : { updatedMCPToolOutput }),
    ...(permission === undefined ? {} : { permission }),
    ...(shares.some((share) => share.effects.retry) ? { retry: true } : {}),
    ...(initialUserMessage === undefined ? {} : { initialUserMessage }),
    ...(sessionTitle === undefined ? {} : { sessionTitle }),
    ...(cancelled ? { cancelled } : {}),
    notices,
  };
}

function mergeVerdict(shares: readonly HookShare[], cancelled: boolean): HookResult['verdict'] {
  const decisions = named(shares, (effects) => effects.decision);
  const first = (behavior: 'deny' | 'defer' | 'ask' | 'allow') => decisions.find((decision) => decision.behavior === behavior);
  const deny = decisions.find((decision) => decision.behavior === 'deny' && decision.byFailure !== true) ?? first('deny');
  if (deny !== undefined) return verdictOf('deny', deny);
  if (cancelled) return { behavior: 'deny', reason: 'Interrupted before every hook had answered.' };
  const deferral = first('defer');
  const rest = first('ask') ?? first('allow');
  const verdict: HookResult['verdict'] =
    rest === undefined || rest.behavior === 'defer' ? { behavior: 'passthrough' } : verdictOf(rest.behavior, rest);
  return deferral === undefined ? verdict : { ...verdict, defer: true };
}

function verdictOf(behavior: 'deny' | 'ask' | 'allow', by: { readonly hookName: string; readonly reason?: string }): HookResult['verdict'] {
  return { behavior, hookName: by.hookName, ...(by.reason === undefined ? {} : { reason: by.reason }) };
}

/** Any deny wins; else the last allow that rewrites the input, else the first allow. Permission updates of all allows are kept. */
function mergePermission(shares: readonly HookShare[]): HookResult['permission'] {
  const answers = named(shares, (effects) => effects.permission);
  const denies = answers.flatMap((answer) => (answer.behavior === 'deny' ? [answer] : []));
  const deny = denies[0];
  if (deny !== undefined) {
    const { interrupt: _, ...rest } = deny;
    return denies.some((answer) => answer.interrupt) ? { ...rest, interrupt: true } : rest;
  }
  const allows = answers.flatMap((answer) => (answer.behavior === 'allow' ? [answer] : []));
  const chosen = allows.findLast((answer) => answer.updatedInput !== undefined) ?? allows[0];
  if (chosen === undefined) return undefined;
  const updates = allows.flatMap((answer) => answer.updatedPermissions ?? []);
  return updates.length > 0 ? { ...chosen, updatedPermissions: updates } : chosen;
}

type Written = 'updatedInput' | 'updatedToolOutput' | 'updatedMCPToolOutput';
function lastWritten(
  field: Written,
  shares: readonly HookShare[],
  notices: string[],
): { readonly value: JsonValue; readonly hookName: string } | undefined {
  const written = named(shares, (effects) => effects[field]);
  const winner = written.at(-1);
  if (winner !== undefined && written.length > 1) {
    const values = written.map((entry) => `[${entry.hookName}] wrote ${JSON.stringify(entry.value).slice(0, 200)}`);
    notices.push(
      `${written.length} hooks set "${field}": ${values.join('; ')}. The last in configuration order, [${winner.hookName}], is used.`,
    );
  }
  return winner;
}

/** The parts that handlers gave, in configuration order, each with its handler's name. */
function named<T extends object>(
  shares: readonly HookShare[],
  pick: (effects: HookEffects) => T | undefined,
): (T & { readonly hookName: string })[] {
  return shares.flatMap((share) => {
    const part = pick(share.effects);
    return part === undefined ? [] : [{ ...part, hookName: share.hookName }];
  });
}

function wrap<T>(value: T | undefined): { readonly value: T } | undefined {
  return value === undefined ? undefined : { value };
}

/** The input that rewrites are compared with, where the event has one. */
export function originalInputOf(payload: JsonObject): JsonValue | undefined {
  return payload.tool_input;
}
