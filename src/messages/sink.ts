import * as nodeFs from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectorySync } from '../makeDirectory.js';

/** The part of `node:fs` a transcript needs, to be replaced in tests. */
export type TranscriptFs = Pick<typeof nodeFs, 'mkdirSync' | 'openSync' | 'readFileSync' | 'writeSync' | 'closeSync'> & {
  readonly fsync: (fd: number, done: (error: NodeJS.ErrnoException | null) => void) => void;
};

/** Where a transcript's lines go. */
export interface TranscriptSink {
  /** True for a transcript in memory: lines are kept as objects only. */
  readonly keepsNothing?: boolean;
  read(): Buffer;
  /** Writes whole lines. Throws when not all could be written. */
  write(text: string): void;
  /** The last line is unfinished: the next write begins on a fresh one. */
  tear(): void;
  sync(): Promise<void>;
  close(): void;
}

/** Opens a file for appending; private to the user, because conversations hold secrets. */
export function openFileSink(path: string, fs: TranscriptFs = nodeFs): TranscriptSink {
  makeDirectorySync(dirname(path), 0o700, (directory, options) => fs.mkdirSync(directory, options));
  const fd = fs.openSync(path, 'a+', 0o600);
  let torn = false;
  return {
    read: () => fs.readFileSync(path),
    write(text) {
      const bytes = Buffer.from(torn ? `\n${text}` : text);
      let done = 0;
      try {
        while (done < bytes.length) done += fs.writeSync(fd, bytes, done, bytes.length - done);
        torn = false;
      } catch (error) {
        // Half a line may be in the file now. It stays, is set aside on loading, and must not swallow the next line.
        torn = torn || done > 0;
        throw error;
      }
    },
    tear() {
      torn = true;
    },
    sync: () => new Promise((resolve, reject) => fs.fsync(fd, (error) => (error ? reject(error) : resolve()))),
    close: () => fs.closeSync(fd),
  };
}
