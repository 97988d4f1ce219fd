import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { forkTranscript } from '../messages/fork.js';
import { type LoadedTranscript, loadTranscript } from '../messages/load.js';
import { defaultDataDir, transcriptPath } from '../messages/paths.js';
import { type ResumeState, resumeState } from '../messages/resume.js';
import { listSessions as listUnder, type SessionSummary } from '../messages/sessions.js';
import type { SessionOptions } from './options.js';

/** Where sessions are kept; the same as for `createSession`. */
export type SessionPlace = Pick<SessionOptions, 'store' | 'cwd' | 'env'>;

/** The sessions of a working directory, newest first; with `everywhere`, those of all. */
export function listSessions(place: SessionPlace & { readonly everywhere?: boolean } = {}): readonly SessionSummary[] {
  if (place.store === false) return [];
  return listUnder({ dataDir: dataDirOf(place), ...(place.everywhere === true ? {} : { cwd: cwdOf(place) }) });
}

/** A session as it is stored, read without opening it: also while another process writes it. Nothing is changed or run. */
export interface StoredSession
  extends Pick<ResumeState, 'messages' | 'parkedApprovals' | 'undeliveredNotifications' | 'undeliveredPrompts'> {
  readonly sessionId: string;
  readonly path: string;
  readonly problems: readonly string[];
}

/** Reads a session for looking at. Throws when there is none of this id. */
export function readSession(sessionId: string, place: SessionPlace = {}): StoredSession {
  const { path, loaded } = load(sessionId, place);
  const { messages, parkedApprovals, undeliveredNotifications, undeliveredPrompts } = resumeState(loaded);
  const problems = loaded.problems.map(({ text }) => text);
  return { sessionId, path, messages, parkedApprovals, undeliveredNotifications, undeliveredPrompts, problems };
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
