import type { PermissionAnswer, PermissionDecision, TraceEntry } from '../src/permissions/types.js';
import type { AbortReason } from '../src/tool/call.js';
import { messageOf } from './errorText.js';
import type { ClassifierVerdict, PermissionContext, PermissionQuestion } from './permissionProtocol.js';

const nothingChecked: TraceEntry = { check: 'start', behavior: 'passthrough', reason: 'Nothing has been checked yet' };

const lastEntry = (context: PermissionContext): TraceEntry => context.trace.at(-1) ?? nothingChecked;

/** The check that demands the question: the last one that said ask. */
export const demandOf = (context: PermissionContext): TraceEntry =>
  context.cause ?? context.trace.findLast(({ behavior }) => behavior === 'ask') ?? lastEntry(context);

export const questionTo = (port: 'ask' | 'hook:PermissionRequest' | 'classify', context: PermissionContext): PermissionQuestion => ({
  id: `${port}:${context.callId}`,
  callId: context.callId,
  toolName: context.toolName,
  inputDigest: context.inputDigest,
  cause: demandOf(context),
  suggestions: context.facts.suggestions,
  ...(context.facts.blockedPath === undefined ? {} : { blockedPath: context.facts.blockedPath }),
});

export const answerEntry = (check: string, answer: PermissionAnswer): TraceEntry => {
  const spoken = answer.behavior === 'deny' && answer.message !== '' ? answer.message : undefined;
  const plain = answer.behavior === 'allow' ? 'Approved' : 'Refused';
  return { check, behavior: answer.behavior, source: answer.source, reason: spoken ?? plain };
};

export const abortEntry = (reason: AbortReason): TraceEntry => ({
  check: 'abort',
  behavior: 'deny',
  source: { type: 'abort' },
  reason: `Aborted: ${reason}`,
});

export const classifierEntry = ({ behavior, reason }: ClassifierVerdict): TraceEntry => ({
  check: 'classifying',
  behavior,
  source: { type: 'classifier' },
  reason,
});

export const failureEntry = (check: string, who: string, error: unknown): TraceEntry => ({
  check,
  behavior: 'passthrough',
  reason: `${who} failed: ${messageOf(error)}`,
});

export const nobodyEntry = (check: string, reason: string): TraceEntry => ({ check, behavior: 'deny', source: { type: 'nobody' }, reason });

export const modeRefusal = (context: PermissionContext): TraceEntry => ({
  check: 'findingSomeone',
  behavior: 'deny',
  source: { type: 'mode', mode: context.facts.mode },
  reason: `Mode ${context.facts.mode} refuses what would ask. ${demandOf(context).reason}`,
});

/** Whether the yes that came with a rewritten input is enough. A hook's saves only a question that nothing but the lack of a rule asks. */
export const approvalCounts = (context: PermissionContext): boolean => {
  const by = context.facts.approval?.source;
  return by?.type === 'person' || (by?.type === 'hook' && demandOf(context).check === 'findingNothingThatAllows');
};

/** What a decision carries of the answer beyond yes or no. */
const answerExtras = (answer: PermissionAnswer | null): Partial<PermissionDecision> => {
  if (answer === null) return {};
  if (answer.behavior === 'deny') return answer.interrupt === undefined ? {} : { interrupt: answer.interrupt };
  const { updatedInput, updatedPermissions } = answer;
  return { ...(updatedInput === undefined ? {} : { updatedInput }), ...(updatedPermissions === undefined ? {} : { updatedPermissions }) };
};

/** The last entry of the trace decides. */
export const decisionOf = (context: PermissionContext): PermissionDecision => {
  const winner = lastEntry(context);
  const by = winner.source;
  return {
    behavior: winner.behavior === 'allow' ? 'allow' : 'deny',
    reason: winner.reason,
    winner,
    trace: context.trace,
    shadowed: context.facts.shadowed,
    asked: by?.type === 'person' || (by?.type === 'hook' && by.event === 'PermissionRequest'),
    ...answerExtras(context.answer),
  };
};
