import type { ObjectContext } from '@restatedev/restate-sdk';
import type { DurableFlow } from './flow.js';
import type { NumberedUpdate, SessionRecord } from './protocol.js';
import { PART_CHARS, partsOf, runsOf } from './sizes.js';

const RECORD = 'session';
const logKey = (n: number): string => `log:${n}`;
export const batchKey = (first: number): string => `u:${first}`;

/** Batches of updates that are kept for readers who come back. */
const KEPT_BATCHES = 500;
export interface Loaded {
  readonly record: SessionRecord;
  /** The transcript's lines so far; empty for a new session. */
  readonly transcript: string;
}

const NEW: SessionRecord = {
  logs: 0,
  seq: 1,
  batches: [],
  usage: null,
  spend: { tokens: 0, usd: 0 },
  contextTokens: 0,
  files: [],
  permissions: [],
  isClosed: false,
};

export async function loadRecord(context: ObjectContext): Promise<Loaded> {
  const record = await context.get<SessionRecord>(RECORD);
  if (record === null) return { record: NEW, transcript: '' };
  const parts: string[] = [];
  for (let n = 0; n < record.logs; n++) parts.push((await context.get<string>(logKey(n))) ?? '');
  return { record, transcript: parts.join('') };
}

export function saveRecord(context: ObjectContext, before: SessionRecord, lines: string, now: Omit<SessionRecord, 'logs'>): void {
  const parts = partsOf(lines);
  parts.forEach((part, n) => {
    context.set(logKey(before.logs + n), part);
  });
  context.set<SessionRecord>(RECORD, { ...now, logs: before.logs + parts.length });
}

/** The updates of a session in its state, in batches under the number of their first. */
export class UpdateLog {
  private open: NumberedUpdate[] = [];
  private seq: number;
  private readonly batches: number[];

  constructor(
    private readonly context: ObjectContext,
    { seq, batches }: SessionRecord,
    private readonly flow: DurableFlow,
  ) {
    this.seq = seq;
    this.batches = [...batches];
  }

  add(update: Omit<NumberedUpdate, 'seq' | 'at'>): void {
    this.open.push({ seq: this.seq++, at: this.flow.now(), ...update });
  }

  /** Called when the session is quiet: what it has said by then is there for every reader before it waits for anything. */
  flush(): void {
    for (const batch of runsOf(this.open.map(bounded), charsOf)) {
      const first = batch[0]?.seq ?? this.seq;
      this.context.set(batchKey(first), batch);
      this.batches.push(first);
    }
    while (this.batches.length > KEPT_BATCHES) {
      const oldest = this.batches.shift();
      if (oldest !== undefined) this.context.clear(batchKey(oldest));
    }
    this.open = [];
  }

  kept(): Pick<SessionRecord, 'seq' | 'batches'> {
    return { seq: this.seq, batches: this.batches };
  }
}

/** The size of an update, as it is kept. */
export const charsOf = (update: NumberedUpdate): number => JSON.stringify(update).length;

/** What cannot be kept is said in its place. */
function bounded(numbered: NumberedUpdate): NumberedUpdate {
  const { update } = numbered;
  if (update === undefined || charsOf(numbered) <= 2 * PART_CHARS) return numbered;
  const message = `An update (${update.type}) is too large to be told: ${Math.ceil(charsOf(numbered) / 1_000_000)} MB. The session itself has it.`;
  return { ...numbered, update: { type: 'notice', level: 'warning', message } };
}
