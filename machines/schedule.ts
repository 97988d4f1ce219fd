import type { CallOutcome, ToolUseRequest } from '../src/tool/call.js';

/** A call as its executor keeps it. Plain JSON, in block order. */
export interface ScheduledCall {
  /** The child's id, re-used once a call has yielded. */
  readonly slot: string;
  /** The `tool_use` id. */
  readonly callId: string;
  /** The tool's name as the model wrote it. */
  readonly name: string;
  /** Position of its block in the assistant message. */
  readonly index: number;
  /** `new` until the call has said whether it is safe; `yielding` once it has been told to hand over its result. */
  readonly stage: 'new' | 'queued' | 'running' | 'completed' | 'yielding' | 'yielded';
  /** Whether it may overlap others; false until it has said so. */
  readonly safe: boolean;
  /** Two calls that share a key never overlap, safe or not. */
  readonly resourceKeys: readonly string[];
  /** How it ended; null before that. */
  readonly outcome: CallOutcome | null;
  /** Its context modifier has been applied, or it has none. */
  readonly modified: boolean;
}

/** When calls may start while the stream is open: as soon as their block is complete, only concurrency-safe ones, or none. */
export type Eagerness = 'all' | 'safe' | 'never';

export interface Schedule {
  readonly calls: readonly ScheduledCall[];
  readonly maxConcurrency: number;
  readonly eager: Eagerness;
  /** True while the model's stream is open. */
  readonly streaming: boolean;
}

const isOver = (call: ScheduledCall): boolean => call.outcome !== null;

const sharesAKey = (a: ScheduledCall, b: ScheduledCall): boolean => a.resourceKeys.some((key) => b.resourceKeys.includes(key));

const mayStartNow = (call: ScheduledCall, { eager, streaming }: Schedule): boolean =>
  !streaming || eager === 'all' || (eager === 'safe' && call.safe);

/**
 * The calls that get a slot now, in block order. A call may start when every earlier call is completed, or when it and all
 * running calls are safe, share no resource key, and fewer than `maxConcurrency` run. No call overtakes one that must wait.
 */
export function callsToStart(schedule: Schedule): readonly ScheduledCall[] {
  const running = schedule.calls.filter((call) => call.stage === 'running');
  const started: ScheduledCall[] = [];
  for (const call of schedule.calls) {
    if (isOver(call) || call.stage === 'running') continue;
    const beside = [...running, ...started];
    const fits =
      beside.length === 0 ||
      (call.safe && beside.length < schedule.maxConcurrency && beside.every((other) => other.safe && !sharesAKey(call, other)));
    if (call.stage === 'new' || !fits || !mayStartNow(call, schedule)) break;
    started.push(call);
  }
  return started;
}

/**
 * The call whose result may be handed over now: completed, with every predecessor handed over. One at a time, because a call
 * that was told to yield may still be finishing the step in which it completed.
 */
export function callToYield(calls: readonly ScheduledCall[]): ScheduledCall | undefined {
  const next = calls.find((call) => call.stage !== 'yielded');
  return next?.stage === 'completed' ? next : undefined;
}

/** Calls with a context modifier to apply: at once for a serial call, in block order at the end of a concurrent batch. */
export function callsToModify(calls: readonly ScheduledCall[]): readonly ScheduledCall[] {
  if (calls.some((call) => call.stage === 'running')) return [];
  return calls.filter((call) => isOver(call) && !call.modified);
}

/** What follows from the calls' stages. */
export interface Advance {
  /** The calls with the stages that they have then. */
  readonly calls: readonly ScheduledCall[];
  /** Ids of those whose context modifier is applied, in block order. */
  readonly modified: readonly string[];
  /** The slot of the one that hands over its result. */
  readonly yielding: string | undefined;
  /** The slots of those that start, in block order. */
  readonly starting: readonly string[];
}

export function advance(schedule: Schedule): Advance {
  const { calls } = schedule;
  const modified = callsToModify(calls);
  const starting = callsToStart(schedule);
  const yielding = callToYield(calls);
  const next = (call: ScheduledCall): ScheduledCall => {
    if (starting.includes(call)) return { ...call, stage: 'running' };
    const applied = modified.includes(call);
    if (call === yielding) return { ...call, stage: 'yielding', modified: call.modified || applied };
    return applied ? { ...call, modified: true } : call;
  };
  const moves = modified.length + starting.length > 0 || yielding !== undefined;
  return {
    calls: moves ? calls.map(next) : calls,
    modified: modified.map(({ callId }) => callId),
    yielding: yielding?.slot,
    starting: starting.map(({ slot }) => slot),
  };
}

/** The lowest slot that no living call holds. Few distinct ids, so that nothing keyed by a child's id grows for ever. */
export function freeSlot(calls: readonly ScheduledCall[]): string {
  const taken = new Set(calls.filter((call) => call.stage !== 'yielded').map((call) => call.slot));
  for (let n = 0; ; n++) if (!taken.has(`call-${n}`)) return `call-${n}`;
}

export const scheduled = (call: ToolUseRequest, slot: string): ScheduledCall => ({
  slot,
  callId: call.id,
  name: call.name,
  index: call.index,
  stage: 'new',
  safe: false,
  resourceKeys: [],
  outcome: null,
  modified: true,
});
