import type { Plan } from './plan.js';

/** What an agent is asked to do and measure. */
export type Job =
  /** Conversations one after the other, from opening to closing. */
  | { readonly kind: 'converse'; readonly plan: Plan; readonly conversations: number; readonly callMs?: number }
  /** One conversation, with the processor time between each call and the next. */
  | { readonly kind: 'timeline'; readonly plan: Plan }
  /** Open conversations, kept; with a plan, each has done it. */
  | { readonly kind: 'hold'; readonly conversations: number; readonly plan?: Plan }
  /** One conversation given the plan once to warm up and once more under measurement. */
  | { readonly kind: 'heap'; readonly warmUp: Plan; readonly plan: Plan };

export interface Measure {
  /** Processor time, user and system, in microseconds. */
  readonly cpuUs: number;
  readonly wallMs: number;
  readonly calls: number;
  /** `Date.now()` of the last call's end. */
  readonly lastCallAt: number;
  /** `timeline`: processor time from one call to the next, in microseconds. */
  readonly perTurnUs: readonly number[];
  /** `hold`, `heap`. */
  readonly bytes: Bytes;
}

/** Bytes in use before the work, after it, and after closing; and what the history has grown by, where the contestant keeps one. */
export interface Bytes {
  readonly before: number;
  readonly after: number;
  readonly released: number;
  readonly history: number;
  readonly historyMessages: number;
}
