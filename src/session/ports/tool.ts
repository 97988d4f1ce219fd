import type { CallPortInput, ToolEnd } from '../../../machines/toolCall.js';
import type { ToolProgress } from '../../tool/call.js';
import { messageOf, throwIfAborted } from '../../tool/errors.js';
import type { ToolReturn } from '../../tool/types.js';
import type { CallRecord } from '../callBook.js';
import { asyncPort } from '../port.js';
import type { Services } from '../services.js';
import { toolContext } from '../toolContext.js';
import { inputOf, toolOf } from './gates.js';

/** Progress closer together than this is dropped: it is for people, and lossy by design. */
const PROGRESS_INTERVAL_MS = 100;
/** The machines hear of a running call no more often than this. */
const MACHINE_INTERVAL_MS = 1_000;

/**
 * Gate 6: the side effect. Journals the start, runs the tool under a hard and an idle limit, and on abort waits for it no longer
 * than the grace. Always answers; what the tool does after the answer is announced as late and reaches nobody else.
 */
export const callTool = asyncPort<CallPortInput, ToolEnd>(({ callId }, { services, signal, tell }) => {
  const record = services.calls.get(callId);
  return services.provider
    ? services.provider.call(record, signal)
    : runTool(record, services, signal, (progress) => tell({ type: 'tool.progressed', progress }));
});

/** Runs a call's tool in this process, under its limits. Leaves what it returned or threw on the record. */
export const runTool = (
  record: CallRecord,
  services: Services,
  signal: AbortSignal,
  tellMachine: (progress: ToolProgress) => void = () => {},
): Promise<ToolEnd> => new Run(record, services, signal, tellMachine).settle();

type Settled = ({ readonly kind: 'returned' } & ToolReturn<unknown>) | { readonly kind: 'threw'; readonly error: unknown };

class Run {
  private readonly controller = new AbortController();
  private readonly startedAt: number;
  private readonly timers = new Map<string, unknown>();
  private timedOut: { readonly limitMs: number; readonly what: string } | undefined;
  private settled = false;
  private lastToldAt = Number.NEGATIVE_INFINITY;
  /** The side effect is possible from here on. */
  private started = false;

  constructor(
    private readonly record: CallRecord,
    private readonly services: Services,
    private readonly signal: AbortSignal,
    private readonly tellMachine: (progress: ToolProgress) => void,
  ) {
    this.startedAt = services.now();
  }

  settle(): Promise<ToolEnd> {
    return new Promise((resolve) => {
      const answer = (end: ToolEnd) => {
        if (this.settled) return;
        this.settled = true;
        for (const timer of this.timers.values()) this.services.clock.clearTimeout(timer);
        this.signal.removeEventListener('abort', stop);
        resolve(end);
      };
      /** Tells the tool to stop and gives it the grace to obey. */
      const cut = (reason: unknown) => {
        if (this.settled || this.controller.signal.aborted) return;
        this.controller.abort(reason);
        this.arm('grace', this.services.limits.graceMs, () => answer(this.abandoned()));
      };
      const stop = () => cut(this.signal.reason);
      if (this.signal.aborted) stop();
      else this.signal.addEventListener('abort', stop, { once: true });

      const timeOut = (limitMs: number, what: string) => {
        this.timedOut = { limitMs, what };
        cut('timeout');
      };
      const hard = this.hardLimit();
      if (hard !== undefined) this.arm('hard', hard, () => timeOut(hard, 'time limit'));
      const idle = toolOf(this.record).idleTimeoutMs;
      const rearmIdle = () => {
        if (idle !== undefined) this.arm('idle', idle, () => timeOut(idle, 'limit without a sign of progress'));
      };
      rearmIdle();

      void this.call(rearmIdle).then((result) => {
        if (this.settled) this.announceLate(result);
        else answer(this.end(result));
      });
    });
  }

  private async call(onSign: () => void): Promise<Settled> {
    try {
      const resolvedPaths = await this.record.resolvedPaths;
      throwIfAborted(this.controller.signal);
      this.services.journal({ type: 'call.started', callId: this.record.call.id, tool: toolOf(this.record).name });
      this.started = true;
      const context = { resolvedPaths, ...toolContext(this.record, this.services, this.controller.signal) };
      const value: unknown = await toolOf(this.record).call(inputOf(this.record), context, (progress) => {
        if (this.settled) return;
        onSign();
        this.announceProgress(progress);
      });
      return { kind: 'returned', ...readReturn(value) };
    } catch (error) {
      return { kind: 'threw', error };
    }
  }

  private end(result: Settled): ToolEnd {
    const durationMs = this.elapsed();
    const { record } = this;
    if (result.kind === 'returned') {
      record.output = { data: result.data };
      record.modify = result.modify;
      return { kind: 'succeeded', durationMs, hasModifier: result.modify !== undefined };
    }
    record.output = { error: result.error };
    if (this.timedOut) return this.timeoutEnd();
    if (this.controller.signal.aborted) return { kind: 'aborted', durationMs, started: this.started, abandoned: false };
    return { kind: 'failed', durationMs, message: messageOf(result.error) };
  }

  private abandoned(): ToolEnd {
    return this.timedOut ? this.timeoutEnd() : { kind: 'aborted', durationMs: this.elapsed(), started: this.started, abandoned: true };
  }

  private timeoutEnd(): ToolEnd {
    const { limitMs, what } = this.timedOut ?? { limitMs: 0, what: 'time limit' };
    const name = toolOf(this.record).name;
    return { kind: 'timedOut', durationMs: this.elapsed(), limitMs, message: `${name} timed out after ${limitMs} ms (${what})` };
  }

  private hardLimit(): number | undefined {
    const { timeoutMs } = toolOf(this.record);
    const own = typeof timeoutMs === 'function' ? timeoutMs(inputOf(this.record), this.services.env) : timeoutMs;
    return own ?? this.services.limits.toolTimeoutMs;
  }

  private arm(name: string, ms: number, fire: () => void): void {
    const { clock } = this.services;
    if (this.timers.has(name)) clock.clearTimeout(this.timers.get(name));
    if (Number.isFinite(ms)) this.timers.set(name, clock.setTimeout(fire, ms));
  }

  private announceProgress(progress: ToolProgress): void {
    const now = this.services.now();
    const since = now - this.record.lastProgressAt;
    if (since >= 0 && since < PROGRESS_INTERVAL_MS) return;
    this.record.lastProgressAt = now;
    this.services.update({ type: 'call.progress', callId: this.record.call.id, progress });
    if (now - this.lastToldAt < MACHINE_INTERVAL_MS) return;
    this.lastToldAt = now;
    this.tellMachine(progress);
  }

  private announceLate(result: Settled): void {
    const outcome = result.kind === 'returned' ? 'resolved' : 'rejected';
    this.services.update({
      type: 'call.late',
      callId: this.record.call.id,
      tool: toolOf(this.record).name,
      outcome,
      afterMs: this.elapsed(),
    });
  }

  /** Clocks are set back at times; no call takes less than no time. */
  private elapsed(): number {
    return Math.max(0, this.services.now() - this.startedAt);
  }
}

/** What a tool returned. Tools without types may return nothing at all, which is no output and no reason to fail. */
function readReturn(value: unknown): ToolReturn<unknown> {
  if (typeof value !== 'object' || value === null) return { data: undefined };
  const data = 'data' in value ? value.data : undefined;
  const modify = 'modify' in value ? value.modify : undefined;
  return isModifier(modify) ? { data, modify } : { data };
}
const isModifier = (value: unknown): value is NonNullable<ToolReturn<unknown>['modify']> => typeof value === 'function';
