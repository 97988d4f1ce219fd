import type { FilePlace, FlowRecording, FlowSource } from '../inspect/index.js';

/** A call of a flow in one object. Times are milliseconds since the flow's start. */
interface CallReport {
  readonly id: string;
  readonly tool: string;
  readonly label: string;
  readonly actor: string;
  /** Null where no result was recorded. */
  outcome: string | null;
  isError: boolean | null;
  readonly startMs: number;
  /** Null where its end was not recorded. */
  endMs: number | null;
  /** In a transcript: the lines of the call and of its result. */
  readonly at?: FilePlace;
  resultAt?: FilePlace;
}

export interface FlowReport {
  readonly name: string;
  readonly kind: 'recording' | 'transcript';
  /** ISO 8601; null where the file holds no such time. */
  readonly startedAt: string | null;
  readonly durationMs: number;
  readonly events: number;
  readonly calls: readonly CallReport[];
  readonly source?: FlowSource;
  readonly warnings: readonly string[];
}

/** What a flow comes to, for `sixgates inspect --json`. */
export function flowReport({ header, events, warnings }: FlowRecording): FlowReport {
  const calls = new Map<string, CallReport>();
  const byActor = new Map<string, CallReport>();
  for (const event of events) {
    if (event.type === 'actor.started' && event.kind === 'toolCall') {
      const { actor, name: tool, label, t: startMs, at, toolUseId: id = actor } = event;
      const call = { id, tool, label, actor, outcome: null, isError: null, startMs, endMs: null, ...(at ? { at } : {}) };
      calls.set(id, call);
      byActor.set(actor, call);
    } else if (event.type === 'result') {
      const call = calls.get(event.toolUseId);
      if (!call) continue;
      call.outcome = event.outcome;
      call.isError = event.isError;
      if (event.at) call.resultAt = event.at;
    } else if (event.type === 'actor.stopped' && event.status !== 'unknown') {
      const call = byActor.get(event.actor);
      if (call) call.endMs = event.t;
    }
  }
  return {
    name: header.name,
    kind: header.source?.kind ?? 'recording',
    startedAt: isoOf(header.startedAt),
    durationMs: events.at(-1)?.t ?? 0,
    events: events.length,
    calls: [...calls.values()],
    ...(header.source ? { source: header.source } : {}),
    warnings,
  };
}

/** A damaged header may hold any number. */
function isoOf(time: number): string | null {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** What a transcript held and what was left out, in a few lines for a terminal. */
export function sourceLines({ lines, read, ignored, calls, paired, subagents, files }: FlowSource): string[] {
  const counts = (all: Readonly<Record<string, number>>): string =>
    Object.entries(all)
      .map(([what, count]) => `${count} ${what}`)
      .join(', ');
  return [
    `Transcript: ${calls} calls, ${paired} with their result; ${subagents} ${subagents === 1 ? 'subagent' : 'subagents'}.`,
    `Lines:      ${lines}${files.length > 0 ? ` in ${files.length + 1} files` : ''} (${counts(read)}). Not shown: ${counts(ignored) || 'none'}.`,
    'A transcript does not record gates, hooks and decisions; they are shown as unknown.',
  ];
}
