import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory } from '../makeDirectory.js';
import { messageOf } from '../tool/errors.js';

/** A file that is being written: its path is fixed at once, `done` settles when it is complete on disk. */
export interface StoredFile {
  readonly path: string;
  /** Resolves to undefined when the file is there, to the reason when it could not be written. Never rejects. */
  readonly done: Promise<string | undefined>;
}

/** Where outputs go that are too large for the model. */
export interface ResultStore {
  readonly dir: string;
  /** Writes behind: returns at once. The same name written twice keeps the later data. */
  put(name: string, data: string | Uint8Array): StoredFile;
  /** Resolves when everything that was put is on disk or has failed. */
  flush(): Promise<void>;
}

/**
 * A store in a directory that is made on first use. A file appears under its name only when it is complete; files are
 * readable by their owner alone, since tool output may hold secrets.
 */
export function createResultStore(dir: string): ResultStore {
  const pending = new Map<string, Promise<string | undefined>>();
  return {
    dir,
    put(name, data) {
      const target = path.join(dir, safeFileName(name));
      const before = pending.get(target) ?? Promise.resolve(undefined);
      const done = before
        .then(() => writeComplete(target, data))
        .then(
          () => undefined,
          (error: unknown) => messageOf(error),
        );
      pending.set(target, done);
      void done.then(() => {
        if (pending.get(target) === done) pending.delete(target);
      });
      return { path: target, done };
    },
    async flush() {
      await Promise.all(pending.values());
    },
  };
}

async function writeComplete(target: string, data: string | Uint8Array): Promise<void> {
  await makeDirectory(path.dirname(target), 0o700);
  const temporary = `${target}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(data);
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** An id from a model or a server as a file name: no separators, no dots at the start, bounded. */
export function safeFileName(name: string): string {
  const safe = name.replaceAll(/[^A-Za-z0-9._-]/g, '_').replace(/^\.+/, '_');
  return safe === '' ? '_' : safe.slice(-200);
}
