import { messageOf } from '../tool/errors.js';
import { selectBranch } from './chain.js';
import { type ChainDraft, type ChainEntry, serializeEntry, type TranscriptLine, WRITER } from './entries.js';
import type { JournalEntry } from './journal.js';
import { describeTranscript, type LoadedTranscript, parseTranscript } from './load.js';
import { acquireLock, TranscriptLockedError } from './lock.js';
import { transcriptPath } from './paths.js';
import { placeAdvice } from './placeAdvice.js';
import { openFileSink, type TranscriptFs, type TranscriptSink } from './sink.js';

/** A session's memory: append-only lines, and the conversation they make. */
export interface Transcript {
  readonly sessionId: string;
  /** Undefined for a transcript in memory. */
  readonly path: string | undefined;
  readonly readOnly: boolean;
  /** All lines, in order. */
  readonly lines: readonly TranscriptLine[];
  /** The current conversation, oldest first: what `normalizeMessagesForAPI` takes. */
  readonly chain: readonly ChainEntry[];
  /** What the file held when it was opened; undefined for a new session. */
  readonly loaded: LoadedTranscript | undefined;
  /** The directory that later entries are stamped with. */
  cwd: string;
  /**
   * Adds a line. It has reached the operating system when this returns, so it survives the process. The cost does not depend on the
   * transcript's length. Without `parentUuid` a chain entry follows the newest one. Throws {@link TranscriptWriteError} when the line
   * could not be written; nothing was added then.
   */
  append(entry: ChainDraft): ChainEntry;
  append(entry: JournalEntry): JournalEntry;
  /**
   * Ends the conversation so far and begins anew with a summary, in one write. The entries from `keepFromUuid` on stay, behind the summary.
   * Both lines count or neither: a boundary without its summary is not in force.
   */
  appendCompaction(compaction: Compaction): void;
  /** Resolves when everything appended so far is on the disk. */
  flush(): Promise<void>;
  /** Releases the file and its lock. Appending afterwards throws. */
  close(): void;
}

export interface Compaction {
  readonly summary: string;
  readonly keepFromUuid?: string;
  readonly trigger: 'manual' | 'auto';
  readonly preTokens?: number;
}

export interface TranscriptOptions {
  readonly dataDir: string;
  readonly cwd: string;
  readonly sessionId: string;
  /** Opens a subagent's transcript instead: `<session-id>/subagents/agent-<agent-id>.jsonl`, beside the session's own. */
  readonly agentId?: string;
  /** New uuids. */
  readonly ids: () => string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** When another process writes this session: refuse (default), or open it without the right to append. */
  readonly whenLocked?: 'refuse' | 'readOnly';
  readonly fs?: TranscriptFs;
}

/** The transcript could not take a line; whatever depends on it must not happen. */
export class TranscriptWriteError extends Error {
  override readonly name = 'TranscriptWriteError';
}

/**
 * Opens a session's transcript for writing, or creates it: `<dataDir>/projects/<cwd-slug>/<session-id>.jsonl`. One writer at a time
 * ({@link TranscriptLockedError}). What the file holds is never rewritten; an unfinished last line stays and is stepped over.
 */
export function openTranscript(options: TranscriptOptions): Transcript {
  const path = transcriptPath(options.dataDir, options.cwd, options.sessionId, options.agentId);
  const sink = openSink(path, options.fs);
  let release: (() => void) | undefined;
  try {
    release = acquireLock(path, options.now);
  } catch (error) {
    const isTaken = error instanceof TranscriptLockedError;
    if (!isTaken || options.whenLocked !== 'readOnly') {
      sink.close();
      throw isTaken ? error : cannotOpen(path, error);
    }
  }
  const parsed = parseTranscript(sink.read());
  const loaded = parsed.lines.length + parsed.problems.length === 0 ? undefined : describeTranscript(parsed, path);
  if (!parsed.endsWithNewline) sink.tear();
  return createTranscript(options, { path, sink, loaded, release, readOnly: release === undefined });
}

/** A place that takes no transcript is a setting to be changed, not a bug. */
function openSink(path: string, fs: TranscriptFs | undefined): TranscriptSink {
  try {
    return openFileSink(path, fs);
  } catch (error) {
    throw cannotOpen(path, error);
  }
}

const cannotOpen = (path: string, cause: unknown): TranscriptWriteError =>
  new TranscriptWriteError(`Cannot open the transcript ${path}: ${messageOf(cause)}. ${placeAdvice(cause)}`, { cause });

/** The same in memory: for tests, exploration and sessions that leave nothing behind. */
export function createMemoryTranscript(options: Omit<TranscriptOptions, 'dataDir' | 'fs' | 'whenLocked'>): Transcript {
  const sink: TranscriptSink = {
    keepsNothing: true,
    read: () => Buffer.alloc(0),
    write: () => {},
    tear: () => {},
    sync: async () => {},
    close: () => {},
  };
  return createTranscript(options, { path: undefined, sink, loaded: undefined, release: undefined, readOnly: false });
}

/**
 * A transcript that is kept elsewhere: `text` is what it holds so far, and `write` gets every line that is added, before anything
 * that depends on it happens.
 */
export function createTextTranscript(
  options: Omit<TranscriptOptions, 'dataDir' | 'fs' | 'whenLocked'>,
  { text, write }: { readonly text: string; readonly write: (lines: string) => void },
): Transcript {
  const parsed = parseTranscript(Buffer.from(text));
  const loaded = text === '' ? undefined : describeTranscript(parsed, undefined);
  const sink: TranscriptSink = {
    read: () => Buffer.from(text),
    write,
    tear: () => {},
    sync: async () => {},
    close: () => {},
  };
  return createTranscript(options, { path: undefined, sink, loaded, release: undefined, readOnly: false });
}

interface Backing {
  readonly path: string | undefined;
  readonly sink: TranscriptSink;
  readonly loaded: LoadedTranscript | undefined;
  readonly release: (() => void) | undefined;
  readonly readOnly: boolean;
}

function createTranscript(options: Pick<TranscriptOptions, 'cwd' | 'sessionId' | 'agentId' | 'ids' | 'now'>, backing: Backing): Transcript {
  const { path, sink, loaded, release, readOnly } = backing;
  const { sessionId, agentId, ids, now } = options;
  const lines: TranscriptLine[] = [...(loaded?.lines ?? [])];
  let chain: ChainEntry[] = [...(loaded?.chain ?? [])];
  /** The entry that the next one follows. */
  let tip = loaded?.tip ?? null;
  let closed = false;

  const write = (entries: readonly object[]) => {
    if (closed) throw new TranscriptWriteError(`The transcript of session ${sessionId} is closed.`);
    if (readOnly)
      throw new TranscriptWriteError(`${path} is open read-only: another process writes it. Fork the session to go on from here.`);
    // What is kept nowhere need not be made into text.
    if (sink.keepsNothing) return;
    try {
      sink.write(entries.map((entry) => `${serializeEntry(entry)}\n`).join(''));
    } catch (error) {
      const why = messageOf(error);
      throw new TranscriptWriteError(`Cannot write to the transcript ${path}: ${why}. Free the disk or change SIXGATES_DATA_DIR.`, {
        cause: error,
      });
    }
  };
  const stamp = (draft: ChainDraft, parentUuid: string | null): ChainEntry => {
    const uuid = typeof draft.uuid === 'string' ? draft.uuid : ids();
    const entry = {
      parentUuid,
      isSidechain: false,
      cwd: transcript.cwd,
      sessionId,
      ...(agentId === undefined ? {} : { agentId }),
      writer: WRITER,
      ...draft,
    };
    return Object.assign(entry, { uuid, parentUuid, timestamp: new Date(now()).toISOString() });
  };
  const add = (entry: ChainEntry) => {
    lines.push({ kind: 'chain', entry });
    if (entry.isSidechain === true) return;
    if ((entry.parentUuid ?? null) === tip && tip !== null) {
      chain.push(entry);
      tip = entry.uuid;
      return;
    }
    const branch = selectBranch(lines);
    chain = [...branch.entries];
    tip = branch.tip ?? null;
  };

  function append(entry: ChainDraft): ChainEntry;
  function append(entry: JournalEntry): JournalEntry;
  function append(entry: ChainDraft | JournalEntry): ChainEntry | JournalEntry {
    if (!isChainDraft(entry)) {
      const stored = { sessionId, timestamp: new Date(now()).toISOString(), ...entry };
      write([stored]);
      lines.push({ kind: 'journal', entry: stored });
      return stored;
    }
    const parent = entry.parentUuid === undefined ? tip : entry.parentUuid;
    const stored = stamp(entry, parent);
    write([stored]);
    add(stored);
    return stored;
  }

  const transcript: Transcript = {
    sessionId,
    path,
    readOnly,
    loaded,
    cwd: options.cwd,
    get lines() {
      return lines;
    },
    get chain() {
      return chain;
    },
    append,
    appendCompaction({ summary, keepFromUuid, trigger, preTokens }) {
      const anchorUuid = ids();
      const kept = keepFromUuid !== undefined &&
        tip !== null && { preservedSegment: { headUuid: keepFromUuid, anchorUuid, tailUuid: tip } };
      const compactMetadata = { trigger, ...(preTokens === undefined ? {} : { preTokens }), ...(kept || {}) };
      const content = 'Conversation compacted';
      const boundary = stamp({ type: 'system', subtype: 'compact_boundary', content, logicalParentUuid: tip, compactMetadata }, null);
      const message = { role: 'user' as const, content: summary };
      const opening = stamp({ type: 'user', message, isCompactSummary: true, uuid: anchorUuid }, boundary.uuid);
      write([boundary, opening]);
      lines.push({ kind: 'chain', entry: boundary });
      add(opening);
    },
    flush: () => sink.sync(),
    close() {
      if (closed) return;
      closed = true;
      sink.close();
      release?.();
    },
  };
  return transcript;
}

function isChainDraft(entry: ChainDraft | JournalEntry): entry is ChainDraft {
  return entry.type === 'user' || entry.type === 'assistant' || entry.type === 'system' || entry.type === 'attachment';
}
