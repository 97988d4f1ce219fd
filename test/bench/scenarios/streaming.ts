import type { Job } from '../jobs.js';
import { type Agent, HANDWRITTEN, type Lab, SIXGATES } from '../lab.js';
import { withAgents } from '../rounds.js';
import type { Row } from '../section.js';
import { spreadOf } from '../stats.js';
import type { Scenario } from './scenario.js';

const JOB: Job = { kind: 'converse', plan: { turns: 1, calls: 5, blockMs: 100, tailMs: 1_000 }, conversations: 1, callMs: 300 };

/** What the server saw of one conversation, in shares of the stream's own length. */
interface Overlap {
  /** From the request to the next one, which carries the results. */
  readonly answered: number;
  /** From the request to the end of the last call. */
  readonly callsDone: number;
}

async function overlapOf(lab: Lab, agent: Agent): Promise<Overlap> {
  await lab.exchanges();
  const { lastCallAt } = await agent.perform(JOB);
  const [stream, next] = await lab.exchanges();
  if (!stream || !next) throw new Error(`${agent.entrant.name} did not answer the calls.`);
  const length = stream.endedAt - stream.requestAt;
  return { answered: (next.requestAt - stream.requestAt) / length, callsDone: (lastCallAt - stream.requestAt) / length };
}

export const streaming: Scenario = {
  name: 'streaming',
  run: async (lab) => {
    const entrants = [HANDWRITTEN, SIXGATES, ...lab.peers];
    const rows = await withAgents(lab, entrants, async (agents) => {
      const seen = new Map<string, Overlap[]>(entrants.map(({ name }) => [name, []]));
      for (let round = -1; round < (lab.quick ? 1 : 5); round++) {
        for (const agent of agents) {
          const overlap = await overlapOf(lab, agent);
          if (round >= 0) seen.get(agent.entrant.name)?.push(overlap);
        }
      }
      return entrants.flatMap(({ name }): Row[] => {
        const overlaps = seen.get(name) ?? [];
        return [
          { name: `${name}: results sent`, value: spreadOf(overlaps.map(({ answered }) => answered)), unit: '× stream' },
          { name: `${name}: last call done`, value: spreadOf(overlaps.map(({ callsDone }) => callsDone)), unit: '× stream' },
        ];
      });
    });
    return {
      scenario: 'streaming',
      title: 'Streaming overlap',
      text:
        'Five calls of 300 ms in one message, their blocks 100 ms apart, then a tail of 1 s. Wall time seen by the server, from the request ' +
        'to the next one with the results, in lengths of the stream. Below 1.00, a call ended while the stream was still running.',
      rows,
    };
  },
};
