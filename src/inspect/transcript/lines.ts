import { isJsonObject, type JsonObject } from '../../json.js';
import { blocksOf, type LooseBlock } from '../../messages/blocks.js';
import { jsonLines } from '../../messages/jsonLines.js';
import type { FilePlace } from '../protocol/flowEvents.js';

/** A file of a transcript: the session's own, or one that holds a subagent's conversation. */
export interface TranscriptFile {
  /** Name for people; undefined for the file that was opened. */
  readonly name: string | undefined;
  readonly bytes: Buffer;
  /** For a subagent's file: the agent's id, and the call that started it where a sidecar says so. */
  readonly agentId?: string;
  readonly toolUseId?: string;
}

/** One line that could be read. */
export interface Line {
  readonly file: TranscriptFile;
  /** From 1. */
  readonly number: number;
  readonly type: string;
  readonly entry: JsonObject;
  /** The blocks of its message; empty for a line without one. */
  readonly blocks: readonly LooseBlock[];
  /** Milliseconds since the epoch; undefined when the line has no time that can be read. */
  readonly time: number | undefined;
  /** Its uuid has occurred before, as after a fork or a resume. */
  readonly repeated: boolean;
}

/** A line that could not be read, in words for a person. */
export interface LineProblem {
  readonly file: TranscriptFile;
  readonly line: number;
  readonly text: string;
}

/** What the lines of all files are. */
export interface ReadLines {
  readonly lines: readonly Line[];
  readonly problems: readonly LineProblem[];
  readonly total: number;
  readonly blank: number;
}

/**
 * Reads the lines of a transcript and its subagents' files, in that order. Looser than loading a session to go on with: whatever holds
 * a call is read, for here nothing is sent on. Never throws; what is no line of a transcript becomes a problem that names it.
 */
export function readLines(files: readonly TranscriptFile[]): ReadLines {
  const lines: Line[] = [];
  const problems: LineProblem[] = [];
  const uuids = new Set<string>();
  let total = 0;
  let blank = 0;
  for (const file of files) {
    for (const { number, text, value, isFinished } of jsonLines(file.bytes)) {
      total++;
      if (text.trim() === '') {
        blank++;
        continue;
      }
      if (!isJsonObject(value) || typeof value.type !== 'string') {
        const why =
          value === undefined ? (isFinished ? 'is not valid JSON' : 'was cut off while it was written') : 'is no entry of a transcript';
        problems.push({ file, line: number, text: `${file.name === undefined ? 'Line' : `${file.name}, line`} ${number} ${why}.` });
        continue;
      }
      const { uuid } = value;
      lines.push({
        file,
        number,
        type: value.type,
        entry: value,
        blocks: isJsonObject(value.message) ? blocksOf(value.message.content) : [],
        time: timeOf(value.timestamp),
        repeated: typeof uuid === 'string' && uuids.has(uuid),
      });
      if (typeof uuid === 'string') uuids.add(uuid);
    }
  }
  return { lines, problems, total, blank };
}

/** True for a line that holds something said in a conversation. */
export const isMessage = (line: Line): boolean => (line.type === 'user' || line.type === 'assistant') && isJsonObject(line.entry.message);

/** What a message's line says, as it stands there; the empty string for a line without. */
export const contentOf = ({ entry }: Line): unknown => (isJsonObject(entry.message) ? (entry.message.content ?? '') : '');

/** The place of a line as events carry it. */
export const placeOf = ({ name }: TranscriptFile, line: number): FilePlace => (name === undefined ? { line } : { line, file: name });

/** The string at a path of keys; undefined when there is none. */
export function stringAt(value: unknown, ...path: readonly string[]): string | undefined {
  let at = value;
  for (const key of path) at = isJsonObject(at) ? at[key] : undefined;
  return typeof at === 'string' ? at : undefined;
}

/** The times that a date can hold; anything else would break arithmetic further on. */
function timeOf(timestamp: unknown): number | undefined {
  if (typeof timestamp !== 'string') return undefined;
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? undefined : time;
}
