import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { blocksOf, isClientToolUse, isToolResult, textField } from './blocks.js';
import { type ChainEntry, serializeEntry, type TranscriptLine } from './entries.js';
import { type LoadedTranscript, loadTranscript, parseTranscript } from './load.js';
import { normalizeWithNotes } from './normalize.js';
import type { Note } from './note.js';
import { projectDir } from './paths.js';
import { type ResumeState, resumeState } from './resume.js';
import type { MessageParam } from './types.js';

/** A stored session, as a list of sessions shows it. */
export interface SessionSummary {
  /** Its id: `createSession({ resume: sessionId })` goes on with it. */
  readonly sessionId: string;
  /** File of its transcript. */
  readonly path: string;
  /** The working directory it was begun in; undefined where the transcript does not say. */
  readonly cwd: string | undefined;
  /** The first thing the person said, clipped. */
  readonly firstPrompt: string | undefined;
  /** When it was last written, in milliseconds since the epoch. */
  readonly modifiedMs: number;
  /** Size of its transcript. */
  readonly sizeBytes: number;
}

const HEAD_BYTES = 64 * 1024;
/** A first prompt may bring a file or a picture along; beyond this its session is listed without it. */
const MOST_HEAD_BYTES = 16 * 1024 * 1024;
const PROMPT_CHARS = 200;

/** The sessions under a data directory, newest first; those of one working directory, or all. Reads only the head of each file. */
export function listSessions({ dataDir, cwd }: { readonly dataDir: string; readonly cwd?: string }): SessionSummary[] {
  const dirs =
    cwd === undefined ? namesIn(join(dataDir, 'projects')).map((name) => join(dataDir, 'projects', name)) : [projectDir(dataDir, cwd)];
  const found = dirs.flatMap((dir) =>
    namesIn(dir)
      .filter((name) => name.endsWith('.jsonl'))
      .flatMap((name) => summarize(join(dir, name)) ?? []),
  );
  return found.sort((a, b) => b.modifiedMs - a.modifiedMs || (a.sessionId < b.sessionId ? -1 : 1));
}

/** A directory that is not there has no sessions. */
function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

function summarize(path: string): SessionSummary | undefined {
  let stat: ReturnType<typeof statSync>;
  let head: Pick<SessionSummary, 'cwd' | 'firstPrompt'>;
  try {
    stat = statSync(path);
    head = beginningOf(path, stat.size);
  } catch {
    // Gone or unreadable since it was listed.
    return undefined;
  }
  return {
    sessionId: basename(path, '.jsonl'),
    path,
    ...head,
    modifiedMs: stat.mtimeMs,
    sizeBytes: stat.size,
  };
}

/** How a session began. Most say it in their first lines; of one that does not, more is read. */
function beginningOf(path: string, size: number): Pick<SessionSummary, 'cwd' | 'firstPrompt'> {
  for (let bytes = HEAD_BYTES; ; bytes *= 8) {
    const entries = parseTranscript(readHead(path, bytes)).lines.flatMap((line) => (line.kind === 'chain' ? [line.entry] : []));
    const prompt = firstPrompt(entries);
    if (prompt !== undefined || bytes >= size || bytes >= MOST_HEAD_BYTES)
      return { cwd: entries.find((entry) => entry.cwd !== undefined)?.cwd, firstPrompt: prompt };
  }
}

function readHead(path: string, bytes: number): Buffer {
  const fd = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(bytes);
    return buffer.subarray(0, readSync(fd, buffer, 0, bytes, 0));
  } finally {
    closeSync(fd);
  }
}

function firstPrompt(entries: readonly ChainEntry[]): string | undefined {
  for (const entry of entries) {
    if (entry.type !== 'user' || entry.isMeta === true || entry.isSidechain === true) continue;
    const text = blocksOf(entry.message.content).find((block) => block.type === 'text');
    if (text !== undefined) return textField(text, 'text').slice(0, PROMPT_CHARS);
  }
  return undefined;
}

/** The lines as a transcript file's text. Loading it again gives the same lines. */
export function serializeTranscript(lines: readonly TranscriptLine[]): string {
  return lines.map(({ entry }) => `${serializeEntry(entry)}\n`).join('');
}

/** A transcript of Claude Code, read and judged. */
export interface ClaudeTranscript {
  readonly loaded: LoadedTranscript;
  readonly resume: ResumeState;
  /** Subagents' conversations, each a history of its own. */
  readonly sidechains: readonly { readonly root: string; readonly messages: readonly MessageParam[]; readonly notes: readonly Note[] }[];
  /** Client calls and results in the file, over all its conversations. */
  readonly counts: { readonly calls: number; readonly results: number };
}

/** Reads a transcript of Claude Code. To go on from it, fork it: the file stays as it is. */
export function readClaudeTranscript(path: string): ClaudeTranscript {
  const loaded = loadTranscript(path);
  const blocks = loaded.lines.flatMap((line) =>
    line.kind === 'chain' && (line.entry.type === 'user' || line.entry.type === 'assistant') ? blocksOf(line.entry.message.content) : [],
  );
  return {
    loaded,
    resume: resumeState(loaded),
    sidechains: loaded.sidechains.map(({ root, entries }) => {
      const { messages, notes } = normalizeWithNotes(entries);
      return { root, messages, notes };
    }),
    counts: { calls: blocks.filter(isClientToolUse).length, results: blocks.filter(isToolResult).length },
  };
}
