import type { Job, Measure } from '../jobs.js';
import { type Entrant, HANDWRITTEN, type Lab, SIXGATES, STATECHARTS } from '../lab.js';
import { interleave, performing, withAgents } from '../rounds.js';
import type { Row } from '../section.js';
import { ratioOf, spreadOf } from '../stats.js';
import type { Scenario } from './scenario.js';

type Converse = Extract<Job, { readonly kind: 'converse' }>;

interface CallScenario {
  readonly name: string;
  readonly title: string;
  readonly job: Converse;
  readonly quick: Converse;
  readonly warmUp: number;
}

/** Processor time of a call that does nothing, through everything a contestant does about it. */
const callScenario = ({ name, title, job, quick, warmUp }: CallScenario): Scenario => ({
  name,
  run: async (lab) => ({
    scenario: name,
    title,
    text:
      "Processor time (user and system) of the contestant's process for one call of a tool that does nothing: opening the conversation, " +
      `requests, reading the stream, everything about the call, closing. Each contestant has done the job ${warmUp} times before. The ` +
      'statecharts alone are driven by answers that are known: what XState takes for a call, the least that Sixgates can cost.',
    base: HANDWRITTEN.name,
    rows: await measureCalls(lab, lab.quick ? quick : job, warmUp),
  }),
});

async function measureCalls(lab: Lab, job: Converse, warmUp: number): Promise<readonly Row[]> {
  const entrants = [HANDWRITTEN, SIXGATES, STATECHARTS, ...lab.peers];
  return withAgents(lab, entrants, async (agents) => {
    const rounds = lab.quick ? { warmUp: 1, rounds: 2 } : { warmUp, rounds: 5 };
    return rowsOf(entrants, await interleave(agents, rounds, performing(job)));
  });
}

function rowsOf(entrants: readonly Entrant[], measures: ReadonlyMap<string, readonly Measure[]>): readonly Row[] {
  const perCall = (name: string) => (measures.get(name) ?? []).map(({ cpuUs, calls }) => cpuUs / calls);
  const base = perCall(HANDWRITTEN.name);
  return entrants.map(({ name }) => ({ name, value: spreadOf(perCall(name)), unit: 'µs/call', ratio: ratioOf(perCall(name), base) }));
}

export const callJobs = {
  'one-message-64-calls': { kind: 'converse', plan: { turns: 1, calls: 64 }, conversations: 10 },
  '200-turns': { kind: 'converse', plan: { turns: 200, calls: 1 }, conversations: 1 },
  '200-conversations': { kind: 'converse', plan: { turns: 4, calls: 4 }, conversations: 200 },
} as const satisfies Record<string, Converse>;

/** What a process pays before its code is compiled: a command line that lives for one conversation pays nothing else. */
const firstConversation: Scenario = {
  name: 'first-conversation',
  run: async (lab) => {
    const entrants = [HANDWRITTEN, SIXGATES, ...lab.peers];
    const measures = new Map<string, Measure[]>(entrants.map(({ name }) => [name, []]));
    for (let round = 0; round < (lab.quick ? 1 : 5); round++) {
      await withAgents(lab, entrants, async (agents) => {
        for (const agent of agents) {
          const measure = await agent.perform({ kind: 'converse', plan: { turns: 4, calls: 4 }, conversations: 1 });
          measures.get(agent.entrant.name)?.push(measure);
        }
      });
    }
    return {
      scenario: 'first-conversation',
      title: 'The first conversation of a process',
      text: 'The same for one conversation of 4 turns of 4 calls in a process that has only just begun: most of it is V8 compiling what runs for the first time.',
      base: HANDWRITTEN.name,
      rows: rowsOf(entrants, measures),
    };
  },
};

export const callScenarios: readonly Scenario[] = [
  callScenario({
    name: 'one-message-64-calls',
    title: '64 calls in one message',
    job: callJobs['one-message-64-calls'],
    quick: { kind: 'converse', plan: { turns: 1, calls: 64 }, conversations: 1 },
    warmUp: 15,
  }),
  callScenario({
    name: '200-turns',
    title: '200 turns of one call',
    job: callJobs['200-turns'],
    quick: { kind: 'converse', plan: { turns: 20, calls: 1 }, conversations: 1 },
    warmUp: 15,
  }),
  callScenario({
    name: '200-conversations',
    title: '200 conversations of 4 turns of 4 calls',
    job: callJobs['200-conversations'],
    quick: { kind: 'converse', plan: { turns: 4, calls: 4 }, conversations: 5 },
    warmUp: 4,
  }),
  firstConversation,
];
