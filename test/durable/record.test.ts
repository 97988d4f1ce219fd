import type { ObjectContext } from '@restatedev/restate-sdk';
import { describe, expect, it } from 'vitest';
import type { NumberedUpdate } from '../../src/durable/protocol.js';
import { loadRecord, saveRecord, UpdateLog } from '../../src/durable/record.js';

/** Restate takes values of up to 32 MB. */
const LIMIT = 32 * 1024 * 1024;

/** The state of a virtual object that takes what Restate takes. */
function state() {
  const values = new Map<string, unknown>();
  const context = {
    get: async (key: string) => values.get(key) ?? null,
    set: (key: string, value: unknown) => {
      const text = JSON.stringify(value);
      if (Buffer.byteLength(text) > LIMIT) throw new Error(`${key} is too large`);
      values.set(key, JSON.parse(text));
    },
    clear: (key: string) => values.delete(key),
  };
  return { values, context: context as unknown as ObjectContext };
}
const update = (message: string): Omit<NumberedUpdate, 'seq' | 'at'> => ({ update: { type: 'notice', level: 'info', message } });
const flow = { now: () => 0 } as unknown as ConstructorParameters<typeof UpdateLog>[2];

describe('what a session on Restate keeps', () => {
  it('is read back as it was, however much a query has said', async () => {
    const { context } = state();
    const { record } = await loadRecord(context);
    const lines = 'a "picture" of 😀 and more\n'.repeat(1_500_000);
    saveRecord(context, record, lines, record);
    const loaded = await loadRecord(context);
    expect(loaded.transcript === lines).toBe(true);
    saveRecord(context, loaded.record, 'and on\n', loaded.record);
    expect((await loadRecord(context)).transcript === `${lines}and on\n`).toBe(true);
  });

  it('is told in order and without gaps, also where one moment brings many pictures or one update is beyond all measure', async () => {
    const { context, values } = state();
    const { record } = await loadRecord(context);
    const log = new UpdateLog(context, record, flow);
    for (let n = 0; n < 12; n++) log.add(update('x'.repeat(4_400_000)));
    log.add(update('x'.repeat(40_000_000)));
    log.add(update('small'));
    log.flush();
    const kept = log.kept();
    const told = kept.batches.flatMap((first) => values.get(`u:${first}`) as NumberedUpdate[]);
    expect(told.map(({ seq }) => seq)).toEqual(Array.from({ length: 14 }, (_, at) => at + 1));
    expect(kept.seq).toBe(15);
    expect(told[12]?.update).toMatchObject({ type: 'notice', message: expect.stringContaining('too large to be told') });
    expect(told[13]?.update).toMatchObject({ message: 'small' });
  });
});
