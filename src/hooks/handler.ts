import type { JsonObject } from '../json.js';
import { after, type MonotonicClock } from '../model/clock.js';
import { messageOf } from '../tool/errors.js';
import type { ConfiguredHook, HookConfig, HookHandler } from './config-types.js';
import type { RawOutcome } from './effects.js';
import type { HookContext, HookPorts } from './runner-types.js';

/** One run of one handler. */
export interface HandlerCall<Handler extends HookHandler = HookHandler> {
  readonly hook: ConfiguredHook;
  readonly handler: Handler;
  readonly payload: JsonObject;
  readonly toolUseId: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly config: HookConfig;
  readonly context: HookContext;
  readonly ports: HookPorts;
  readonly clock: MonotonicClock;
  /** Called at most once, when the handler goes on in the background; `done` never rejects. */
  readonly toBackground: (background: { readonly done: Promise<RawOutcome>; cancel(): void }) => void;
}

/**
 * Runs work that heeds a signal under the call's time limit and signal. Settles as soon as either fires, whether the work
 * listens or not; what it answers later is dropped.
 */
export function bounded(call: HandlerCall, work: (signal: AbortSignal) => Promise<RawOutcome>): Promise<RawOutcome> {
  return new Promise((resolve) => {
    const controller = new AbortController();
    let settled = false;
    const settle = (outcome: RawOutcome) => {
      if (settled) return;
      settled = true;
      offTimer();
      call.signal.removeEventListener('abort', onAbort);
      resolve(outcome);
      controller.abort();
    };
    const onAbort = () => settle({ kind: 'cancelled' });
    const offTimer = after(call.clock, call.timeoutMs, () => settle({ kind: 'timeout', ms: call.timeoutMs }));
    call.signal.addEventListener('abort', onAbort, { once: true });
    if (call.signal.aborted) return onAbort();
    work(controller.signal).then(settle, (error: unknown) => settle({ kind: 'failed', message: failureSentence(error) }));
  });
}

/** What was thrown, and its cause, as one sentence with its full stop. */
export function failureSentence(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${messageOf(error.cause)})` : '';
  return /[.!?]$/.test(text) ? `${text}${cause}` : `${text}${cause}.`;
}
