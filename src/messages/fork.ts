import { closeSync, existsSync, openSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectorySync } from '../makeDirectory.js';
import { messageOf } from '../tool/errors.js';
import { blocksOf, isClientToolUse, isToolResult, textField } from './blocks.js';
import { type ChainEntry, serializeEntry, type TranscriptLine } from './entries.js';
import type { JournalType } from './journal.js';
import type { LoadedTranscript } from './load.js';
import { transcriptPath } from './paths.js';
import { placeAdvice } from './placeAdvice.js';
import { openTranscript, type Transcript, type TranscriptOptions } from './transcript.js';

export interface ForkOptions extends TranscriptOptions {
  /** The last entry to take over, by its uuid in the source; the whole source when absent. What became of calls taken over comes along. */
  readonly upTo?: string;
}

/** What a fork inherits of the journal: what is known of calls, and session state. Open questions and notifications stay with the source. */
const INHERITED: ReadonlySet<JournalType> = new Set<JournalType>(['call.started', 'call.outcome', 'tools.loaded', 'session.state']);

/**
 * Copies a session under a new id and opens the copy; the source is not touched. All branches come along, subagents' conversations do not.
 * Every uuid is new, entries that only link are bridged, and each entry says what it was forked from.
 */
export function forkTranscript(source: Pick<LoadedTranscript, 'lines' | 'sessionId'>, options: ForkOptions): Transcript {
  const path = transcriptPath(options.dataDir, options.cwd, options.sessionId, options.agentId);
  const text = forkLines(source, options)
    .map(({ entry }) => `${serializeEntry(entry)}\n`)
    .join('');
  createWhole(path, text);
  return openTranscript(options);
}

/** Writes a new file, whole or not at all: half a conversation must not stand there as a session. */
function createWhole(path: string, text: string): void {
  let fd: number;
  try {
    makeDirectorySync(dirname(path), 0o700);
    fd = openSync(path, 'wx', 0o600);
  } catch (error) {
    throw cannotCreate(path, error);
  }
  try {
    writeFileSync(fd, text);
  } catch (error) {
    unlinkSync(path);
    throw cannotCreate(path, error);
  } finally {
    closeSync(fd);
  }
}

function cannotCreate(path: string, cause: unknown): Error {
  const advice = existsSync(path) ? 'A fork needs a session id of its own.' : placeAdvice(cause);
  return new Error(`Cannot create the fork ${path}: ${messageOf(cause)}. ${advice}`, { cause });
}

/** The lines of a fork, without writing them. */
function forkLines(
  source: Pick<LoadedTranscript, 'lines' | 'sessionId'>,
  { sessionId, ids, upTo }: Pick<ForkOptions, 'sessionId' | 'ids' | 'upTo'>,
): TranscriptLine[] {
  const lines = cutAt(source.lines, upTo);
  const parents = new Map<string, string | undefined>();
  for (const { entry } of source.lines) {
    if (typeof entry.uuid !== 'string' || entry.isSidechain === true) continue;
    parents.set(entry.uuid, typeof entry.parentUuid === 'string' ? entry.parentUuid : undefined);
  }
  const renamed = new Map<string, string>();
  for (const { kind, entry } of lines) if (kind === 'chain' && entry.isSidechain !== true) renamed.set(entry.uuid, ids());
  /** The new uuid of the nearest ancestor that is copied. */
  const parentOf = (uuid: string | null | undefined): string | null => {
    const seen = new Set<string>();
    for (let at = uuid ?? undefined; at !== undefined && !seen.has(at); at = parents.get(at)) {
      seen.add(at);
      const copy = renamed.get(at);
      if (copy !== undefined) return copy;
    }
    return null;
  };
  const copies: TranscriptLine[] = [];
  for (const line of lines) {
    if (line.kind === 'journal' && INHERITED.has(line.entry.type)) copies.push({ kind: 'journal', entry: { ...line.entry, sessionId } });
    if (line.kind !== 'chain' || line.entry.isSidechain === true) continue;
    const { entry } = line;
    const forkedFrom = { sessionId: entry.sessionId ?? source.sessionId, messageUuid: entry.uuid };
    const uuid = renamed.get(entry.uuid) ?? ids();
    const moved = { ...entry, uuid, parentUuid: parentOf(entry.parentUuid), sessionId, isSidechain: false, forkedFrom };
    copies.push({ kind: 'chain', entry: moved.type === 'system' ? relinkBoundary(moved, renamed, parentOf) : moved });
  }
  return copies;
}

function cutAt(lines: readonly TranscriptLine[], upTo: string | undefined): readonly TranscriptLine[] {
  if (upTo === undefined) return lines;
  const at = lines.findIndex(({ entry }) => entry.uuid === upTo);
  if (at === -1) throw new Error(`Cannot fork at ${upTo}: no entry of the source has this uuid.`);
  const kept = lines.slice(0, at + 1);
  return [...kept, ...outcomesOf(openIn(kept), lines.slice(at + 1))];
}

/** Calls whose result is not among these lines. */
function openIn(lines: readonly TranscriptLine[]): Set<string> {
  const open = new Set<string>();
  for (const line of lines) {
    if (line.kind !== 'chain' || (line.entry.type !== 'user' && line.entry.type !== 'assistant')) continue;
    for (const block of blocksOf(line.entry.message.content)) {
      if (isClientToolUse(block)) open.add(textField(block, 'id'));
      else if (isToolResult(block)) open.delete(textField(block, 'tool_use_id'));
    }
  }
  return open;
}

/** What later lines say of calls that are taken over: a call that has run must not look as if it had not. */
function outcomesOf(open: Set<string>, later: readonly TranscriptLine[]): TranscriptLine[] {
  return later.flatMap((line): TranscriptLine[] => {
    if (line.kind === 'journal') {
      const { entry } = line;
      return (entry.type === 'call.started' || entry.type === 'call.outcome') && open.has(entry.callId) ? [line] : [];
    }
    if (line.kind !== 'chain' || line.entry.type !== 'user' || typeof line.entry.message.content === 'string') return [];
    const { entry } = line;
    const answers = line.entry.message.content.filter((block) => block.type === 'tool_result' && open.delete(block.tool_use_id));
    if (answers.length === 0) return [];
    const images = line.entry.message.content.filter((block) => block.type === 'image' || block.type === 'document');
    return [{ kind: 'chain', entry: { ...entry, message: { ...line.entry.message, content: [...answers, ...images] } } }];
  });
}

type Boundary = Extract<ChainEntry, { type: 'system' }>;

function relinkBoundary(
  entry: Boundary,
  renamed: ReadonlyMap<string, string>,
  parentOf: (uuid: string | null | undefined) => string | null,
): Boundary {
  const logicalParentUuid = entry.logicalParentUuid === undefined ? {} : { logicalParentUuid: parentOf(entry.logicalParentUuid) };
  const segment = entry.compactMetadata?.preservedSegment;
  if (segment === undefined) return { ...entry, ...logicalParentUuid };
  const name = (uuid: string) => renamed.get(uuid) ?? uuid;
  const preservedSegment = { headUuid: name(segment.headUuid), anchorUuid: name(segment.anchorUuid), tailUuid: name(segment.tailUuid) };
  return { ...entry, ...logicalParentUuid, compactMetadata: { ...entry.compactMetadata, preservedSegment } };
}
