import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { isJsonObject } from '../json.js';

/** The transcript has a writer already. */
export class TranscriptLockedError extends Error {
  override readonly name = 'TranscriptLockedError';
  constructor(
    readonly path: string,
    readonly owner: LockOwner,
  ) {
    super(
      `${path} is being written by process ${owner.pid} on ${owner.host}, since ${owner.since}. ` +
        `Close that session, open this one read-only, or fork it. If that process is gone for certain, delete ${path}.lock.`,
    );
  }
}

export interface LockOwner {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
  readonly token: string;
}

/** Locks held by this process. A lock file with our own pid that is not among them is a leftover of an earlier life of that pid. */
const held = new Set<string>();

/** Takes the single-writer lock of a transcript and returns its release. Throws {@link TranscriptLockedError} when another writer lives. */
export function acquireLock(path: string, now: () => number): () => void {
  const lockPath = `${path}.lock`;
  const mine: LockOwner = { pid: process.pid, host: hostname(), since: new Date(now()).toISOString(), token: randomUUID() };
  // A second round is needed only after a leftover has been moved away; bounded, so that two takers cannot chase each other for ever.
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      writeFileSync(lockPath, JSON.stringify(mine), { flag: 'wx', mode: 0o600 });
      held.add(lockPath);
      return () => release(lockPath, mine);
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error;
    }
    const owner = readOwner(lockPath);
    if (owner === 'gone') continue;
    if (owner !== undefined && isAlive(owner, lockPath)) throw new TranscriptLockedError(path, owner);
    moveAway(lockPath, owner);
  }
  throw new TranscriptLockedError(path, { pid: 0, host: 'unknown', since: 'just now', token: '' });
}

function release(lockPath: string, mine: LockOwner): void {
  if (!held.delete(lockPath)) return;
  const owner = readOwner(lockPath);
  if (owner !== 'gone' && owner?.token === mine.token) unlinkSync(lockPath);
}

/** Undefined for a lock file that says nothing readable: its writer died while writing it. */
function readOwner(lockPath: string): LockOwner | 'gone' | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(lockPath, 'utf8'));
    if (!isJsonObject(value)) return undefined;
    const { pid, host, since, token } = value;
    if (typeof pid !== 'number' || typeof host !== 'string') return undefined;
    return { pid, host, since: typeof since === 'string' ? since : 'unknown', token: typeof token === 'string' ? token : '' };
  } catch (error) {
    if (isCode(error, 'ENOENT')) return 'gone';
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A process of another host cannot be asked; it counts as alive. */
function isAlive(owner: LockOwner, lockPath: string): boolean {
  if (owner.host !== hostname()) return true;
  if (owner.pid === process.pid) return held.has(lockPath);
  try {
    process.kill(owner.pid, 0);
    return true;
  } catch (error) {
    return isCode(error, 'EPERM');
  }
}

/** Moves a leftover aside. If another taker was faster, what was moved is its fresh lock: it goes back. */
function moveAway(lockPath: string, leftover: LockOwner | undefined): void {
  const aside = `${lockPath}.${randomUUID()}`;
  try {
    renameSync(lockPath, aside);
  } catch (error) {
    if (isCode(error, 'ENOENT')) return;
    throw error;
  }
  const moved = readOwner(aside);
  if (moved !== 'gone' && moved?.token !== leftover?.token) renameSync(aside, lockPath);
  else unlinkSync(aside);
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
