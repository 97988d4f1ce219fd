import { readFileSync } from 'node:fs';
import { messageOf } from '../tool/errors.js';
import { type Branch, selectBranch, selectSidechains } from './chain.js';
import { type ChainEntry, parseTranscriptLine, type TranscriptLine } from './entries.js';
import { entriesInLine } from './gluedLines.js';
import type { JournalEntry } from './journal.js';
import { jsonLines } from './jsonLines.js';
import { type OpenToolCall, openCallsOf } from './resume.js';

export interface TranscriptProblem {
  readonly code:
    | 'bom'
    | 'half_line'
    | 'corrupt_json'
    | 'malformed_entry'
    | 'duplicate_uuid'
    | 'missing_parent'
    | 'reused_id'
    | 'other_session';
  /** Line number, from 1. */
  readonly line: number;
  readonly text: string;
  /** The beginning of the line as it stands in the file. */
  readonly excerpt: string;
}

export interface ParsedTranscript {
  readonly lines: readonly TranscriptLine[];
  readonly problems: readonly TranscriptProblem[];
  /** False when the file's last line was never finished: the next one must not be glued to it. */
  readonly endsWithNewline: boolean;
}

export interface LoadedTranscript extends ParsedTranscript {
  readonly path: string | undefined;
  readonly sessionId: string | undefined;
  /** The directory the session was last in. */
  readonly cwd: string | undefined;
  /** The current conversation, oldest first. */
  readonly chain: readonly ChainEntry[];
  /** The ids of all calls in the file, also of those that are no part of the current conversation. */
  readonly callIds: ReadonlySet<string>;
  /** The uuid that the next entry follows. */
  readonly tip: string | undefined;
  /** Subagents' conversations that share the file. */
  readonly sidechains: readonly { readonly root: string; readonly entries: readonly ChainEntry[] }[];
  readonly journal: readonly JournalEntry[];
  /** Calls of the current conversation that have no result. */
  readonly openCalls: readonly OpenToolCall[];
}

const EXCERPT = 120;

/**
 * Reads a transcript. Whatever a line holds, loading does not throw and does not touch the file: lines that cannot be read are set
 * aside and counted in `problems`. Throws only when the file itself cannot be read, naming it.
 */
export function loadTranscript(path: string): LoadedTranscript {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new Error(`Cannot read the transcript ${path}: ${messageOf(error)}`, { cause: error });
  }
  return describeTranscript(parseTranscript(bytes), path);
}

/** Splits a transcript's bytes into lines and reads each. */
export function parseTranscript(bytes: Buffer): ParsedTranscript {
  const lines: TranscriptLine[] = [];
  const problems: TranscriptProblem[] = [];
  const uuids = new Set<string>();
  let endsWithNewline = true;
  for (const { number, text, value, hasMark, isFinished } of jsonLines(bytes)) {
    endsWithNewline = isFinished;
    const report = (code: TranscriptProblem['code'], why: string) => {
      problems.push({ code, line: number, text: `line ${number}: ${why}`, excerpt: text.slice(0, EXCERPT) });
    };
    if (hasMark) report('bom', 'begins with a byte order mark; it is ignored');
    if (text.trim() === '') continue;
    const entries = value === undefined ? entriesInLine(text) : [value];
    if (value === undefined) report(isFinished ? 'corrupt_json' : 'half_line', damageTo(isFinished, entries.length));
    for (const entry of entries) {
      const parsed = parseTranscriptLine(entry);
      if (parsed.kind === 'malformed') {
        report('malformed_entry', `${parsed.reason}; it is ignored`);
        continue;
      }
      const { uuid } = parsed.entry;
      if (typeof uuid === 'string' && uuids.has(uuid)) {
        report('duplicate_uuid', `repeats the uuid ${uuid}; the first one counts`);
        continue;
      }
      if (typeof uuid === 'string') uuids.add(uuid);
      lines.push(parsed);
    }
  }
  return { lines, problems, endsWithNewline };
}

/** What is wrong with a line that is not JSON as a whole, and how many entries of it were read. */
function damageTo(isFinished: boolean, read: number): string {
  if (read > 0) return `is not valid JSON; of it, ${read === 1 ? 'one entry' : `${read} entries`} could be read`;
  return isFinished ? 'is not valid JSON; it is ignored' : 'the last line was cut off while it was written; it is ignored';
}

/** Selects the conversation and what is open in it. */
export function describeTranscript(parsed: ParsedTranscript, path: string | undefined): LoadedTranscript {
  const branch = selectBranch(parsed.lines);
  const last = branch.entries.findLast((entry) => entry.sessionId !== undefined);
  return {
    ...parsed,
    path,
    problems: [...parsed.problems, ...relinkProblems(branch), ...reuseProblems(branch)],
    sessionId: last?.sessionId,
    cwd: branch.entries.findLast((entry) => entry.cwd !== undefined)?.cwd,
    chain: branch.entries,
    callIds: branch.callIds,
    tip: branch.tip,
    sidechains: selectSidechains(parsed.lines),
    journal: parsed.lines.flatMap((line) => (line.kind === 'journal' ? [line.entry] : [])),
    openCalls: openCallsOf(branch.entries, parsed.lines),
  };
}

function relinkProblems({ relinked }: Branch): TranscriptProblem[] {
  return relinked.map((uuid) => ({
    code: 'missing_parent',
    line: 0,
    text: `entry ${uuid}: its parent is not in the file; it follows the entry before it`,
    excerpt: '',
  }));
}

function reuseProblems({ renamed }: Branch): TranscriptProblem[] {
  if (renamed.length === 0) return [];
  const where = renamed.length === 1 ? `entry ${renamed[0]}` : `${renamed.length} entries`;
  const text = `${where}: calls under ids that earlier calls had; here they, and their results, have ids of their own`;
  return [{ code: 'reused_id', line: 0, text, excerpt: '' }];
}
