import { createHash } from 'node:crypto';
import type { FileLedger, FileRecord } from '../../tool/types.js';

/** A ledger in memory, optionally from saved entries. */
export function createFileLedger(entries: Iterable<readonly [string, FileRecord]> = []): FileLedger {
  const records = new Map(entries);
  return {
    get: (path) => records.get(path),
    set: (path, record) => void records.set(path, record),
    delete: (path) => void records.delete(path),
    entries: () => records.entries(),
  };
}

export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Notes that a file was shown. Seeing a part of unchanged content does not take back that the whole was seen. */
export function recordSeen(ledger: FileLedger, realPath: string, record: FileRecord): void {
  const known = ledger.get(realPath);
  const wholeWasSeen = known !== undefined && !known.partial && known.digest === record.digest;
  ledger.set(realPath, wholeWasSeen ? known : record);
}
