import type { OutcomeKind } from '../../tool/call.js';
import { FlowLog } from '../flowLog.js';
import type { FilePlace, FlowRecording, FlowSource } from '../protocol/flowEvents.js';
import { snapshotRecording } from '../recording.js';
import type { RedactionOptions } from '../redact.js';
import { linesWithCallsApart } from './callsApart.js';
import { type Conversations, partConversations } from './conversations.js';
import { isMessage, type Line, placeOf, type ReadLines, readLines, stringAt, type TranscriptFile } from './lines.js';
import { type Pairing, pairCalls } from './pairing.js';
import { TranscriptTeller } from './tell.js';
import { type LineTimes, lineTimes } from './times.js';

export interface TranscriptOptions {
  /** Name of the opened file, without its directory. */
  readonly name: string;
  readonly redaction?: RedactionOptions;
  /** What was wrong with the file before its lines could be read. */
  readonly warnings?: readonly string[];
}

/** Problems that are told one by one; of more, only their number. */
const MOST_WARNINGS = 100;

/**
 * A Claude Code transcript as a flow: every call once, paired with its result by id. Gates, hooks and decisions are not in it and none is
 * made up. Undefined when no line of the files holds a message.
 */
export function transcriptFlow(files: readonly TranscriptFile[], options: TranscriptOptions): FlowRecording | undefined {
  const raw = readLines(files);
  const { lines, renamed } = linesWithCallsApart(raw.lines);
  const read = { ...raw, lines };
  if (!lines.some(isMessage)) return undefined;
  const pairing = pairCalls(lines);
  const conversations = partConversations(lines, pairing.calls);
  const times = lineTimes([conversations.main, ...conversations.subagents].map((one) => one.lines));
  let clock = times.startedAt;
  const log = new FlowLog({
    name: options.name,
    now: () => clock,
    maxEvents: Number.POSITIVE_INFINITY,
    maxBodyBytes: Number.POSITIVE_INFINITY,
    ...(options.redaction ? { redaction: options.redaction } : {}),
    source: sourceOf(read, pairing, conversations, options.name),
  });
  const told = [
    ...(options.warnings ?? []).map((text): Warning => ({ text })),
    ...warningsOf(read, pairing, conversations, times, renamed),
  ];
  const warnings = told.map((one) => ({ ...one, text: log.text(one.text, 2000) }));
  for (const warning of warnings) log.put({ type: 'note', level: 'warning', ...warning });
  new TranscriptTeller(log, times, pairing, outcomesIn(lines)).tell(conversations, (t) => {
    clock = times.startedAt + t;
  });
  return { ...snapshotRecording(log), warnings: warnings.map(({ text }) => text) };
}

function sourceOf({ lines, problems, total, blank }: ReadLines, pairing: Pairing, conversations: Conversations, file: string): FlowSource {
  const used = new Set<Line>();
  for (const call of pairing.calls.values()) {
    used.add(call.line);
    if (call.result) used.add(call.result.line);
  }
  const read = new Map<string, number>();
  let repeated = 0;
  for (const line of lines) {
    if (line.repeated && !used.has(line)) repeated++;
    else read.set(line.type, (read.get(line.type) ?? 0) + 1);
  }
  const ignored = { blank, unreadable: problems.length, repeated };
  const files = new Set(lines.flatMap((line) => line.file.name ?? []));
  return {
    kind: 'transcript',
    file,
    files: [...files],
    lines: total,
    read: Object.fromEntries(read),
    ignored: Object.fromEntries(Object.entries(ignored).filter(([, count]) => count > 0)),
    calls: pairing.calls.size,
    paired: [...pairing.calls.values()].filter(({ result }) => result).length,
    subagents: conversations.subagents.length,
  };
}

interface Warning {
  readonly text: string;
  readonly at?: FilePlace;
}

function warningsOf({ problems }: ReadLines, pairing: Pairing, { subagents }: Conversations, times: LineTimes, renamed: number): Warning[] {
  const { orphans, repeatedCalls, repeatedResults } = pairing;
  const lost = subagents.filter(({ call }) => call === undefined).length;
  const repeated = repeatedCalls + repeatedResults;
  const counted: readonly (readonly [number, string, string])[] = [
    [problems.length - MOST_WARNINGS, 'more line could not be read.', 'more lines could not be read.'],
    [orphans.length, 'result names a call that is not in the file.', 'results name calls that are not in the file.'],
    [
      renamed,
      'call has an id that another had before it; here it has one of its own.',
      'calls have ids that others had before them; here each has one of its own.',
    ],
    [repeated, 'block repeats a call or a result; the first counts.', 'blocks repeat a call or a result; the first of each counts.'],
    [
      lost,
      "subagent's conversation does not tell its call; it stands below the session.",
      "subagents' conversations do not tell their calls; they stand below the session.",
    ],
    [
      times.missing,
      'message has no time; it stands at the time of the line before.',
      'messages have no time; they stand at the time of the line before.',
    ],
    [
      times.impossible,
      'line has a time that its place in the file rules out; it stands at the time of the line before.',
      'lines have a time that their place in the file rules out; they stand at the time of the line before.',
    ],
  ];
  return [
    ...problems.slice(0, MOST_WARNINGS).map(({ text, line, file }) => ({ text, at: placeOf(file, line) })),
    ...counted.flatMap(([count, one, many]) => (count > 0 ? [{ text: `${count} ${count === 1 ? one : many}` }] : [])),
  ];
}

const OUTCOMES: readonly OutcomeKind[] = ['succeeded', 'failed', 'invalid', 'denied', 'cancelled', 'stopped'];

/** Sixgates' own transcripts hold the outcome of each call. */
function outcomesIn(lines: readonly Line[]): ReadonlyMap<string, OutcomeKind> {
  return new Map(
    lines.flatMap(({ type, entry }) => {
      const id = type === 'call.outcome' ? stringAt(entry, 'callId') : undefined;
      const kind = OUTCOMES.find((one) => one === stringAt(entry, 'outcome', 'kind'));
      return id === undefined || kind === undefined ? [] : [[id, kind] as const];
    }),
  );
}
