import type { Job } from '../jobs.js';
import { type Entrant, HANDWRITTEN, SIXGATES } from '../lab.js';
import { interleave, performing, withAgents } from '../rounds.js';
import type { Row } from '../section.js';
import { spreadOf } from '../stats.js';
import type { Scenario } from './scenario.js';

const FILE_STORE: Entrant = { ...SIXGATES, name: 'Sixgates, file store', variant: 'file-store' };
const MEMORY: Entrant = { ...SIXGATES, name: 'Sixgates, memory' };
/** Turns around the one that is named; single turns are too short to measure. */
const WINDOW = 10;

export const growth: Scenario = {
  name: 'growth',
  run: async (lab) => {
    const turns = lab.quick ? 40 : 1_000;
    const job: Job = { kind: 'timeline', plan: { turns: turns + WINDOW + 1, calls: 1 } };
    const entrants = [HANDWRITTEN, MEMORY, FILE_STORE];
    const measures = await withAgents(lab, entrants, (agents) =>
      interleave(agents, lab.quick ? { warmUp: 0, rounds: 1 } : { warmUp: 1, rounds: 3 }, performing(job)),
    );
    /** Median turn around turn `at`, round by round. */
    const around = (name: string, at: number): number[] =>
      (measures.get(name) ?? []).map(({ perTurnUs }) => spreadOf(perTurnUs.slice(Math.max(0, at - WINDOW), at + WINDOW)).median);
    const beyond = (name: string, at: number): number[] => {
      const base = around(HANDWRITTEN.name, at);
      return around(name, at).map((value, round) => value - (base[round] ?? 0));
    };
    const row = (name: string, values: readonly number[]): Row => ({ name, value: spreadOf(values), unit: 'µs/turn' });
    const points = [10, turns];
    return {
      scenario: 'growth',
      title: 'Cost of a turn as the conversation grows',
      text:
        'Processor time of one turn of one call at two points of one conversation. The request carries the whole conversation, so every ' +
        'contestant pays for its growth; the rows "beyond" subtract what the hand-written loop pays at the same turn of the same round.',
      rows: [
        ...entrants.flatMap(({ name }) => points.map((at) => row(`${name}, turn ${at}`, around(name, at)))),
        ...[MEMORY, FILE_STORE].flatMap(({ name }) =>
          points.map((at) => row(`${name}, beyond hand-written, turn ${at}`, beyond(name, at))),
        ),
      ],
    };
  },
};
