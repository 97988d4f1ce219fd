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

/** Whole lines of a text that were shown: `count` from `first` on (from 1), of `total`. */
export interface LinesShown {
  readonly first: number;
  readonly count: number;
  readonly total: number;
}

/**
 * Notes that a file was shown. Seeing a part of unchanged content does not take back that the whole was seen; parts that make up the
 * whole are as good as the whole, since a text over the size of one read is seen in no other way.
 */
export function recordSeen(ledger: FileLedger, realPath: string, record: FileRecord, lines?: LinesShown): void {
  const before = ledger.get(realPath);
  const known = before?.digest === record.digest ? before : undefined;
  if (known?.partial === false) return;
  if (!record.partial) {
    ledger.set(realPath, record);
    return;
  }
  const seen = merged([...(known?.seen ?? []), ...(lines === undefined || lines.count === 0 ? [] : [stretchOf(lines)])]);
  const [whole] = seen;
  const isWhole = lines !== undefined && whole !== undefined && whole[0] === 1 && whole[1] === lines.total;
  ledger.set(realPath, { digest: record.digest, partial: !isWhole, ...(isWhole || seen.length === 0 ? {} : { seen }) });
}

type Stretch = readonly [first: number, last: number];
const stretchOf = ({ first, count }: LinesShown): Stretch => [first, first + count - 1];

/** Stretches that meet or overlap as one. */
function merged(stretches: readonly Stretch[]): readonly Stretch[] {
  const result: Stretch[] = [];
  for (const [first, last] of stretches.toSorted((a, b) => a[0] - b[0])) {
    const open = result.at(-1);
    if (open !== undefined && first <= open[1] + 1) result[result.length - 1] = [open[0], Math.max(open[1], last)];
    else result.push([first, last]);
  }
  return result;
}
