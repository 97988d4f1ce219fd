import type { Job, Measure } from './jobs.js';
import type { Agent, Entrant, Lab } from './lab.js';

/** Starts the entrants, gives the work, and ends them whatever happens. */
export async function withAgents<T>(lab: Lab, entrants: readonly Entrant[], work: (agents: readonly Agent[]) => Promise<T>): Promise<T> {
  const agents: Agent[] = [];
  try {
    for (const entrant of entrants) agents.push(await lab.start(entrant));
    return await work(agents);
  } finally {
    await Promise.all(agents.map((agent) => agent.stop()));
  }
}

export interface Rounds {
  readonly warmUp: number;
  readonly rounds: number;
}

/**
 * Measures of each agent, round by round. Rounds are interleaved, and each begins with another agent, so that what else the machine does
 * falls on all alike.
 */
export async function interleave(
  agents: readonly Agent[],
  { warmUp, rounds }: Rounds,
  measure: (agent: Agent) => Promise<Measure>,
): Promise<ReadonlyMap<string, readonly Measure[]>> {
  const measures = new Map<string, Measure[]>(agents.map((agent) => [agent.entrant.name, []]));
  for (let round = -warmUp; round < rounds; round++) {
    for (let turn = 0; turn < agents.length; turn++) {
      const agent = agents[(turn + round + warmUp) % agents.length];
      if (!agent) continue;
      const taken = await measure(agent);
      if (round >= 0) measures.get(agent.entrant.name)?.push(taken);
    }
  }
  return measures;
}

export const performing =
  (job: Job) =>
  (agent: Agent): Promise<Measure> =>
    agent.perform(job);
