import type { ActorKind, FlowRecording } from '../protocol/flowEvents.js';

interface TraceEvent {
  readonly ph: 'b' | 'e' | 'M';
  readonly pid: 1;
  readonly tid: number;
  readonly name: string;
  readonly cat?: string;
  readonly id?: string;
  /** Microseconds. */
  readonly ts?: number;
  readonly args?: Readonly<Record<string, unknown>>;
}
/** Kinds that get a row of their own; the rest (promises of a call) would only repeat their parent. */
const ROWS: readonly ActorKind[] = [
  'session',
  'query',
  'turn',
  'executor',
  'toolCall',
  'hooks',
  'permission',
  'model',
  'question',
  'tool',
  'task',
  'actor',
];

/**
 * A recording as Chrome trace JSON (chrome://tracing, Perfetto): one async pair an actor, since calls overlap. What has not ended
 * ends with the recording; no bar is negative.
 */
export function chromeTrace(recording: FlowRecording): string {
  const last = recording.events.at(-1)?.t ?? 0;
  const stops = new Map<string, { t: number; status: string }>();
  const outcomes = new Map<string, string>();
  for (const event of recording.events) {
    if (event.type === 'actor.stopped') stops.set(event.actor, { t: event.t, status: event.status });
    if (event.type === 'result') outcomes.set(event.toolUseId, event.outcome);
  }
  const spans: TraceEvent[] = [];
  for (const event of recording.events) {
    if (event.type !== 'actor.started') continue;
    const stop = stops.get(event.actor);
    const about = { pid: 1, tid: ROWS.indexOf(event.kind) + 1, cat: event.kind, name: event.name, id: event.actor } as const;
    const outcome = event.toolUseId === undefined ? undefined : outcomes.get(event.toolUseId);
    const args = { label: event.label, toolUseId: event.toolUseId, outcome, status: stop?.status ?? 'unfinished' };
    spans.push({ ph: 'b', ...about, ts: micros(event.t), args });
    spans.push({ ph: 'e', ...about, ts: micros(Math.max(event.t, stop?.t ?? last)) });
  }
  // At one instant ends come after their begins, because the sort is stable.
  spans.sort((a, b) => (a.ts ?? 0) - (b.ts ?? 0));
  const names = ROWS.map((kind, index): TraceEvent => ({ ph: 'M', pid: 1, tid: index + 1, name: 'thread_name', args: { name: kind } }));
  const traceEvents = [
    { ph: 'M', pid: 1, tid: 0, name: 'process_name', args: { name: recording.header.name } } as const,
    ...names,
    ...spans,
  ];
  return JSON.stringify({
    traceEvents,
    displayTimeUnit: 'ms',
    otherData: { format: recording.header.format, startedAt: recording.header.startedAt },
  });
}

function micros(t: number): number {
  return Math.round(Math.max(0, t) * 1000);
}
