import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { isJsonObject } from '../json.js';
import { isProcessAlive, processLife } from '../processLife.js';
import { errorCode } from '../tool/errors.js';

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
  /** Tells the process from others that had or will have its pid; undefined where the system does not say. */
  readonly life?: string;
}

/** Locks held by this module. Where lives cannot be told apart, a lock of our own pid that is not among them is of an earlier one. */
const held = new Set<string>();

/** Takes the single-writer lock of a transcript and returns its release. Throws {@link TranscriptLockedError} when another writer lives. */
export function acquireLock(path: string, now: () => number): () => void {
  const lockPath = `${path}.lock`;
  const life = processLife(process.pid);
  const mine: LockOwner = {
    pid: process.pid,
    host: hostname(),
    since: new Date(now()).toISOString(),
    token: randomUUID(),
    ...(life === undefined ? {} : { life }),
  };
  // A second round is needed only after a leftover has been moved away; bounded, so that two takers cannot chase each other for ever.
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      create(lockPath, mine);
      held.add(lockPath);
      return () => release(lockPath, mine);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    const owner = readOwner(lockPath);
    if (owner === 'gone') continue;
    if (owner !== undefined && isAlive(owner, lockPath)) throw new TranscriptLockedError(path, owner);
    moveAway(lockPath, owner);
  }
  throw new TranscriptLockedError(path, { pid: 0, host: 'unknown', since: 'just now', token: '' });
}

/**
 * Makes the lock file with all that it says in one step: nobody may see it empty and take it for the leftover of a writer that died, and a
 * disk that is full leaves none. Throws EEXIST where one is.
 */
function create(lockPath: string, mine: LockOwner): void {
  const text = JSON.stringify(mine);
  const draft = `${lockPath}.${mine.token}`;
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600 });
    linkSync(draft, lockPath);
  } catch (error) {
    if (!NO_LINKS.has(errorCode(error))) throw error;
    // A file system without hard links.
    writeFileSync(lockPath, text, { flag: 'wx', mode: 0o600 });
  } finally {
    rmSync(draft, { force: true });
  }
}
const NO_LINKS: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

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
    const { pid, host, since, token, life } = value;
    if (typeof pid !== 'number' || typeof host !== 'string') return undefined;
    return {
      pid,
      host,
      since: typeof since === 'string' ? since : 'unknown',
      token: typeof token === 'string' ? token : '',
      ...(typeof life === 'string' ? { life } : {}),
    };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'gone';
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A process of another host cannot be asked; it counts as alive. */
function isAlive(owner: LockOwner, lockPath: string): boolean {
  if (owner.host !== hostname()) return true;
  // Our own life without a lock of ours is another thread, or another copy of this module.
  if (owner.life === undefined && owner.pid === process.pid) return held.has(lockPath);
  return isProcessAlive(owner.pid, owner.life);
}

/** Moves a leftover aside. If another taker was faster, what was moved is its fresh lock: it goes back. */
function moveAway(lockPath: string, leftover: LockOwner | undefined): void {
  const aside = `${lockPath}.${randomUUID()}`;
  try {
    renameSync(lockPath, aside);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  const moved = readOwner(aside);
  if (moved !== 'gone' && moved?.token !== leftover?.token) renameSync(aside, lockPath);
  else unlinkSync(aside);
}
