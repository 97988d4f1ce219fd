import { countWhile } from '../protocol/countWhile.js';
import { isMessage, type Line } from './lines.js';

/** When each line was written, in milliseconds since the flow's start. */
export interface LineTimes {
  /** Milliseconds since the epoch; 0 when no line has a time. */
  readonly startedAt: number;
  of(line: Line): number;
  /** Messages without a time that can be read, and lines whose time cannot be: both stand at the time of the line before. */
  readonly missing: number;
  readonly impossible: number;
}

/**
 * Times of conversations that ran side by side. Lines of one conversation are written as they happen, so a time that lies outside of
 * all that agree with the order of the lines (a clock that jumped) counts as none. Small disorder, as between parallel results, stays.
 */
export function lineTimes(conversations: readonly (readonly Line[])[]): LineTimes {
  const ranges = conversations.map(trustedRange);
  const known = ranges.filter((range) => range !== undefined);
  const startedAt = Math.min(...(known.length > 0 ? known.map(({ from }) => from) : [0]));
  const times = new Map<Line, number>();
  let missing = 0;
  let impossible = 0;
  for (const [index, lines] of conversations.entries()) {
    const range = ranges[index];
    let last = range?.from ?? startedAt;
    for (const line of lines) {
      if (line.time === undefined || range === undefined) missing += isMessage(line) ? 1 : 0;
      else if (line.time < range.from || line.time > range.to) impossible++;
      else last = line.time;
      times.set(line, last - startedAt);
    }
  }
  return { startedAt, of: (line) => times.get(line) ?? 0, missing, impossible };
}

/** From the first to the last time of the longest run of lines whose times never decrease. */
function trustedRange(lines: readonly Line[]): { readonly from: number; readonly to: number } | undefined {
  const times = lines.flatMap(({ time }) => (time === undefined ? [] : [time]));
  // Patience sorting: `ends[k]` is where the best run of length k + 1 ends.
  const ends: number[] = [];
  const before: number[] = [];
  for (const [index, time] of times.entries()) {
    const length = countWhile(ends, (end) => (times[end] ?? 0) <= time);
    before[index] = ends[length - 1] ?? -1;
    ends[length] = index;
  }
  const last = ends.at(-1);
  if (last === undefined) return undefined;
  let first = last;
  for (let at = before[first] ?? -1; at >= 0; at = before[at] ?? -1) first = at;
  return { from: times[first] ?? 0, to: times[last] ?? 0 };
}
