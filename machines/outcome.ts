import type { PermissionDecision } from '../src/permissions/types.js';
import type { AbortReason, CallOutcome, CancelPhase } from '../src/tool/call.js';
import { messageOf } from './errorText.js';
import type { Report, ToolEnd } from './toolCallProtocol.js';

/** How each abort reads in a result and in a log. */
const ABORT_TEXT: Record<AbortReason, string> = {
  userInterrupt: 'cancelled by the user',
  newMessage: 'cancelled because the user sent a new message',
  permissionRejected: 'stopped because the user rejected another call of this turn',
  siblingError: 'stopped because a sibling call failed',
  streamDiscarded: 'stopped because the model’s answer was discarded',
  timeout: 'stopped by a time limit',
  sessionClosed: 'cancelled because the session was closed',
};

/** A person's wish (or the session's end) cancels; everything else stops. */
const CANCELS: readonly AbortReason[] = ['userInterrupt', 'newMessage', 'sessionClosed'];

const PHASE_TEXT: Record<CancelPhase, string> = {
  beforeStart: 'before it started; nothing was run',
  running: 'while it was running; side effects may have happened in part',
  finished: 'but it had already finished; its side effects happened',
};

/** A call that was never run because its name or input was not acceptable. */
export const invalidOutcome = (message: string): CallOutcome => ({ kind: 'invalid', isError: true, summary: firstLine(message), message });

/** A call that the permission gate refused. The model reads the reason. */
export const deniedOutcome = (decision: PermissionDecision): CallOutcome => ({
  kind: 'denied',
  isError: true,
  summary: firstLine(decision.reason),
  message: decision.reason,
});

/** A gate that broke. The call is not run: a guard that cannot decide does not let through. */
export const brokenGateOutcome = (gate: string, error: unknown): CallOutcome => {
  const reason = messageOf(error);
  return failedOutcome(gate, reason, `Not executed: ${gate} failed: ${reason}`);
};

/** The machinery broke while a call was under way, or after it: nobody can say how much of it was done. */
export const brokenRunOutcome = (what: string, error: unknown): CallOutcome => {
  const reason = messageOf(error);
  const message = `Outcome unknown: ${what} failed while this call was under way: ${reason}. Its side effects may have happened, in part or whole.`;
  return failedOutcome(what, reason, message);
};

const failedOutcome = (what: string, reason: string, message: string): CallOutcome => ({
  kind: 'failed',
  isError: true,
  summary: `${what} failed: ${firstLine(reason)}`,
  message,
});

export const abortedOutcome = (reason: AbortReason, phase: CancelPhase): CallOutcome => {
  const text = `${ABORT_TEXT[reason]} ${PHASE_TEXT[phase]}`;
  return {
    kind: CANCELS.includes(reason) ? 'cancelled' : 'stopped',
    isError: phase !== 'finished',
    summary: text,
    message: phase === 'beforeStart' ? `Not executed: ${text}.` : `${text[0]?.toUpperCase()}${text.slice(1)}.`,
    reason,
    phase,
  };
};

/** Joins how the tool ended with what reporting made of it and with an abort that came meanwhile. */
export function outcomeOfRun(end: ToolEnd, report: Report, abort: AbortReason | null): CallOutcome {
  const measured = { durationMs: end.durationMs, resultSize: report.resultSize, preventContinuation: report.preventContinuation };
  switch (end.kind) {
    case 'succeeded': {
      const facts = { ...measured, hasModifier: end.hasModifier };
      if (abort) return { ...abortedOutcome(abort, 'finished'), ...facts };
      return report.isError
        ? { kind: 'failed', isError: true, summary: report.errorLine ?? 'the tool reported an error', ...facts }
        : { kind: 'succeeded', isError: false, summary: 'done', ...facts };
    }
    case 'failed':
      return { kind: 'failed', isError: true, summary: firstLine(end.message), ...measured };
    case 'timedOut':
      return { kind: 'failed', isError: true, summary: firstLine(end.message), reason: 'timeout', ...measured };
    case 'aborted':
      return { ...abortedOutcome(abort ?? 'userInterrupt', end.started ? 'running' : 'beforeStart'), ...measured };
  }
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';
