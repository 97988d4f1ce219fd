import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, lstat, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory } from '../../makeDirectory.js';
import { headWithin } from '../../results/text.js';
import { errorCode, ToolFailure } from '../../tool/errors.js';
import { confirmUnmoved, explainFileError, type Target } from './access.js';

/** The moments of a write, in order; observed by tests that end the process at each of them. */
export type WriteStep = 'temporaryCreated' | 'temporaryWritten' | 'beforeReplace' | 'replaced' | 'overwriting' | 'overwritten';
export type WriteObserver = (step: WriteStep) => void | Promise<void>;

export interface WriteRequest {
  readonly target: Target;
  readonly bytes: Buffer;
  /** The bytes on which the change is based, or undefined for a file that must not exist yet. Anything else there is a conflict. */
  readonly expected: Buffer | undefined;
  readonly observe?: WriteObserver | undefined;
}

export interface WriteReport {
  /** What a person should know about how it was written. */
  readonly notes: readonly string[];
}

/**
 * Writes a file so that at any moment its path holds the whole old or the whole new content, with its mode and owner kept.
 * Links are never replaced: the caller resolves them and `target.real` is written. A file with several names (hard links) or in
 * a directory that takes no new files is overwritten in place, after the new content is safe beside it or in the temporary
 * directory; the report says so. A read-only file is refused, not chmod-ed. Reports success only after reading the new content back.
 * Access control lists and extended attributes of the old file are not carried over.
 */
export async function writeFileSafely(request: WriteRequest): Promise<WriteReport> {
  const { target, bytes } = request;
  try {
    const stats = await statTarget(target);
    if ((stats === undefined) !== (request.expected === undefined)) throw new ToolFailure(conflict(target.asked, stats));
    if (stats === undefined) await makeDirectory(path.dirname(target.real));
    const report = await write(request, stats);
    const written = await readFile(target.real);
    if (!written.equals(bytes))
      throw new ToolFailure(`${target.asked} does not hold the new content after the write; something else writes it too.`);
    return report;
  } catch (error) {
    throw explainFileError(error, target.asked);
  }
}

function conflict(asked: string, stats: Stats | undefined): string {
  return stats === undefined
    ? `${asked} was removed by someone else meanwhile.`
    : `${asked} was created by someone else meanwhile. Read it before writing it.`;
}

async function statTarget(target: Target): Promise<Stats | undefined> {
  const stats = await lstat(target.real).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (stats === undefined) return undefined;
  if (stats.isDirectory()) throw new ToolFailure(`${target.asked} is a directory, not a file.`);
  if (!stats.isFile()) throw new ToolFailure(`${target.asked} is not a regular file.`);
  // Also for root, for whom the system would let it pass.
  if ((stats.mode & 0o222) === 0) {
    throw new ToolFailure(
      `${target.asked} is read-only (mode ${(stats.mode & 0o777).toString(8)}). It was not changed; ask the person to make it writable.`,
    );
  }
  return stats;
}

/** Of the target's name in the temporary one: file systems take names of 255 bytes. */
const MAX_NAME_BYTES = 100;

async function write(request: WriteRequest, stats: Stats | undefined): Promise<WriteReport> {
  const { target, bytes, observe } = request;
  const temporary = path.join(path.dirname(target.real), `.${headWithin(path.basename(target.real), MAX_NAME_BYTES)}.${randomUUID()}.tmp`);
  const mode = stats === undefined ? 0o666 & ~process.umask() : stats.mode & 0o7777;
  let staged: boolean;
  try {
    staged = await stage(temporary, bytes, mode, stats, observe);
  } catch (error) {
    await rm(temporary, { force: true });
    const code = errorCode(error);
    if (stats === undefined || (code !== 'EACCES' && code !== 'EPERM' && code !== 'EROFS' && code !== 'ENAMETOOLONG')) throw error;
    await confirm(request, stats);
    await overwrite(target.real, bytes, observe);
    return { notes: ['Its directory takes no new files, so the file was overwritten in place.'] };
  }
  try {
    await confirm(request, stats);
    await observe?.('beforeReplace');
    if (stats !== undefined && (stats.nlink > 1 || !staged)) {
      await overwrite(target.real, bytes, observe);
      await rm(temporary, { force: true });
      return {
        notes: [
          stats.nlink > 1
            ? `The file has ${stats.nlink} names (hard links); it was overwritten in place, so all of them show the change.`
            : 'Its owner could not be kept by replacing it, so the file was overwritten in place.',
        ],
      };
    }
    await rename(temporary, target.real);
    await observe?.('replaced');
    await syncDirectory(path.dirname(target.real));
    return { notes: [] };
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Puts the complete new content beside the target. False when the old file's owner could not be given to it. */
async function stage(temporary: string, bytes: Buffer, mode: number, stats: Stats | undefined, observe?: WriteObserver): Promise<boolean> {
  // Never more open than the final mode, not even while it is being written.
  const file = await open(temporary, 'wx', mode & 0o700);
  try {
    await observe?.('temporaryCreated');
    await file.writeFile(bytes);
    const ownerKept = stats === undefined || (await keepOwner(file, stats));
    // After the owner: a change of owner clears the set-user-id bit.
    await file.chmod(mode);
    await file.sync();
    await observe?.('temporaryWritten');
    return ownerKept;
  } finally {
    await file.close();
  }
}

async function keepOwner(file: FileHandle, stats: Stats): Promise<boolean> {
  const mine = await file.stat();
  if (mine.uid === stats.uid && mine.gid === stats.gid) return true;
  try {
    await file.chown(stats.uid, stats.gid);
    return true;
  } catch {
    return false;
  }
}

/** The last look before the change: the path leads to the same file, and the file holds what the change is based on. */
async function confirm(request: WriteRequest, stats: Stats | undefined): Promise<void> {
  const { target, expected } = request;
  await confirmUnmoved(target);
  const now = await lstat(target.real).catch(() => undefined);
  if (stats === undefined) {
    if (now !== undefined) throw new ToolFailure(conflict(target.asked, now));
    return;
  }
  if (now === undefined || now.ino !== stats.ino || now.dev !== stats.dev) {
    throw new ToolFailure(`${target.asked} was replaced by someone else meanwhile. Read it again before changing it.`);
  }
  if (expected !== undefined && !(await readFile(target.real)).equals(expected)) {
    throw new ToolFailure(`${target.asked} was changed by someone else meanwhile. Read it again before changing it.`);
  }
}

async function overwrite(real: string, bytes: Buffer, observe?: WriteObserver): Promise<void> {
  const file = await open(real, 'r+');
  try {
    await observe?.('overwriting');
    let offset = 0;
    while (offset < bytes.length) {
      const { bytesWritten } = await file.write(bytes, offset, bytes.length - offset, offset);
      offset += bytesWritten;
    }
    await file.truncate(bytes.length);
    await file.sync();
    await observe?.('overwritten');
  } finally {
    await file.close();
  }
}

/** Makes a rename survive a power cut, where the platform can. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r').catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
