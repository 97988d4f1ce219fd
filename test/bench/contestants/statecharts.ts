import { createActor, toPromise } from 'xstate';
import { executorMachine } from '../../../machines/executor.js';
import { deterministicMachines } from '../../../src/testing/machines.js';
import { readPlan } from '../plan.js';
import type { Contestant, ContestantSetup } from './contestant.js';

/**
 * The statecharts of the calls alone: no model, no stream, no session, and ports that know their answer. What is left is what XState itself
 * takes for a call, and the least that anything built on these charts can cost.
 */
export function createContestant({ look }: ContestantSetup): Contestant {
  const { toolCall } = deterministicMachines({
    callTool: async () => {
      await look('');
      return { kind: 'succeeded', durationMs: 0, hasModifier: false };
    },
  });
  const executor = executorMachine.provide({ actors: { toolCall } });
  const turn = async (calls: number): Promise<void> => {
    const actor = createActor(executor, { input: { maxConcurrency: 64, eager: 'all' } });
    actor.start();
    for (let index = 0; index < calls; index++) {
      const input = { kind: 'object' as const, value: {} };
      actor.send({ type: 'toolUse.received', call: { id: `toolu_${index}`, name: 'Look', index, rawInput: '{}', input } });
    }
    actor.send({ type: 'stream.ended', discarded: false });
    await toPromise(actor);
  };
  return {
    open: async () => ({
      send: async (prompt) => {
        const { turns = 0, calls = 0 } = readPlan(prompt) ?? {};
        for (let n = 0; n < turns; n++) await turn(calls);
      },
      close: async () => {},
    }),
  };
}
