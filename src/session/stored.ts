import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { forkTranscript } from '../messages/fork.js';
import { type LoadedTranscript, loadTranscript } from '../messages/load.js';
import type { Note } from '../messages/note.js';
import { defaultDataDir, transcriptPath } from '../messages/paths.js';
import { type ParkedApproval, resumeState } from '../messages/resume.js';
import { listSessions as listUnder, readClaudeTranscript, type SessionSummary } from '../messages/sessions.js';
import type { MessageParam } from '../messages/types.js';
import type { SessionOptions } from './options.js';

/** Where sessions are kept; the same as for `createSession`. */
export type SessionPlace = Pick<SessionOptions, 'store' | 'cwd' | 'env'>;

/** The sessions of a working directory, newest first; with `everywhere`, those of all. */
export function listSessions(place: SessionPlace & { readonly everywhere?: boolean } = {}): readonly SessionSummary[] {
  if (place.store === false) return [];
  return listUnder({ dataDir: dataDirOf(place), ...(place.everywhere === true ? {} : { cwd: cwdOf(place) }) });
}

/** A session as it is stored, read without opening it: also while another process writes it. Nothing is changed or run. */
export interface StoredSession {
  /** `createSession({ resume: sessionId })` goes on with it. */
  readonly sessionId: string;
  /** File of its transcript. */
  readonly path: string;
  /** The history, sendable as it is once a prompt follows: calls that were open are closed in it. */
  readonly messages: readonly MessageParam[];
  /** Permission questions that were open when it was last written. A session that resumes it puts them again. */
  readonly parkedApprovals: readonly ParkedApproval[];
  /** Notifications that the model has not been told. */
  readonly undeliveredNotifications: readonly { readonly id: string; readonly text: string }[];
  /** Prompts that no request has carried. */
  readonly undeliveredPrompts: readonly { readonly id: string; readonly content: string | readonly unknown[] }[];
  /** What of the file could not be read, in words. */
  readonly problems: readonly string[];
}

/** Reads a session for looking at. Throws when there is none of this id. */
export function readSession(sessionId: string, place: SessionPlace = {}): StoredSession {
  const { path, loaded } = load(sessionId, place);
  const { messages, parkedApprovals, undeliveredNotifications, undeliveredPrompts } = resumeState(loaded);
  const problems = loaded.problems.map(({ text }) => text);
  return { sessionId, path, messages, parkedApprovals, undeliveredNotifications, undeliveredPrompts, problems };
}

/** A session that was made of a transcript of Claude Code, and what its reader should know. */
export interface ImportedSession {
  /** The new session's id: `createSession({ resume: sessionId })` goes on with it. */
  readonly sessionId: string;
  /** File of the new session's transcript. */
  readonly path: string;
  /** The history as the next request would carry it. */
  readonly messages: readonly MessageParam[];
  /** Tool calls in the file, those of subagents included. */
  readonly calls: number;
  /** Results in the file, those of subagents included. */
  readonly results: number;
  /** Calls without a result. Each is closed when the session goes on; none is run again. */
  readonly openCalls: readonly { readonly id: string; readonly name: string }[];
  /** How many conversations of subagents the file holds; they stay there. */
  readonly subagents: number;
  /** What of the conversation is not sent as it was, and why. */
  readonly notes: readonly Note[];
  /** What of the file could not be read, in words. */
  readonly problems: readonly string[];
}

/**
 * Makes a session of a Claude Code transcript (`~/.claude/projects/<project>/<session>.jsonl`), which stays as it is.
 *
 * @throws when the file cannot be read or holds no conversation, naming it.
 */
export function importClaudeTranscript(path: string, place: SessionPlace = {}): ImportedSession {
  if (place.store === false) throw new Error(`${path} cannot be imported: sessions in memory are not stored.`);
  const { loaded, resume, sidechains, counts } = readClaudeTranscript(path);
  const problems = loaded.problems.map(({ text }) => text);
  if (resume.messages.length === 0) {
    const why = problems[0] ?? (sidechains.length > 0 ? "it holds subagents' conversations only" : 'it holds no messages');
    throw new Error(`${path} cannot be imported: there is no conversation in it (${why}).`);
  }
  const sessionId = randomUUID();
  const transcript = forkTranscript(loaded, { dataDir: dataDirOf(place), cwd: cwdOf(place), sessionId, ids: randomUUID, now: Date.now });
  transcript.close();
  return {
    sessionId,
    path: transcriptPath(dataDirOf(place), cwdOf(place), sessionId),
    messages: resume.messages,
    ...counts,
    openCalls: resume.openCalls.map(({ id, name }) => ({ id, name })),
    subagents: sidechains.length,
    notes: resume.notes,
    problems,
  };
}

/** Copies a stored session under a new id and returns the id; the source is not touched and may be open elsewhere. */
export function copySession(
  from: string,
  options: SessionPlace & Pick<SessionOptions, 'sessionId' | 'newId' | 'now'> & { readonly upTo?: string },
): string {
  const { newId = randomUUID, now = Date.now, upTo } = options;
  const sessionId = options.sessionId ?? newId();
  const { loaded } = load(from, options);
  const place = { dataDir: dataDirOf(options), cwd: cwdOf(options), sessionId, ids: newId, now };
  forkTranscript(loaded, { ...place, ...(upTo === undefined ? {} : { upTo }) }).close();
  return sessionId;
}

function load(sessionId: string, place: SessionPlace): { readonly path: string; readonly loaded: LoadedTranscript } {
  if (place.store === false) throw new Error(`Session ${sessionId} cannot be read: sessions in memory are not stored.`);
  const path = transcriptPath(dataDirOf(place), cwdOf(place), sessionId);
  return { path, loaded: loadTranscript(path) };
}

const dataDirOf = ({ store, env }: SessionPlace): string => (typeof store === 'string' ? store : defaultDataDir(env ?? process.env));
const cwdOf = ({ cwd }: SessionPlace): string => resolve(cwd ?? process.cwd());
