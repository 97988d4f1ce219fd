import { describe, expect, it } from 'vitest';
import { judge, runFlows, whileKilling } from './support/run.js';
import { createStage } from './support/stage.js';

const SEED = 20_260_731;
const FLOWS = 15;

describe('two workers that are killed at random points of flows', () => {
  it('end every flow, run every call once or say that its outcome is unknown, and send no request that the API refuses', async () => {
    const stage = await createStage({ toolMs: 300 });
    try {
      const seeds = Array.from({ length: FLOWS }, (_, n) => SEED + n);
      const { value: runs, kills } = await whileKilling(stage, SEED, { everyMs: 500, atMost: 6 }, runFlows(stage, seeds, FLOWS));
      const facts = await stage.facts();
      const { faults, calls, done } = judge(runs, facts);
      expect(faults).toEqual([]);
      expect(runs).toHaveLength(FLOWS);
      expect(kills).toBeGreaterThan(0);
      expect(calls).toBeGreaterThan(FLOWS);
      expect(done).toBeGreaterThan(0);
    } finally {
      await stage.close();
    }
  }, 300_000);
});
