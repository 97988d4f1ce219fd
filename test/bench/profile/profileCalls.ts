import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Lab, SIXGATES } from '../lab.js';
import { withAgents } from '../rounds.js';
import { callJobs } from '../scenarios/calls.js';
import { analyseProfile } from './analyse.js';
import type { CallProfile } from './profileText.js';

const PROFILED = ['one-message-64-calls', '200-conversations'] as const;

/** Profiles of Sixgates after a warm-up, in microseconds for one call. */
export async function profileCalls(lab: Lab, dir: string): Promise<readonly CallProfile[]> {
  const profiles: CallProfile[] = [];
  for (const scenario of PROFILED) {
    profiles.push(
      await withAgents(lab, [SIXGATES], async ([agent]) => {
        if (!agent) throw new Error('There is no agent.');
        const job = callJobs[scenario];
        for (let round = 0; round < (lab.quick ? 1 : 4); round++) await agent.perform(job);
        const file = join(dir, `${scenario}.cpuprofile`);
        const { calls } = await agent.perform(job, file);
        console.error(`For Chrome DevTools: ${file}`);
        const { categories, functions } = analyseProfile(JSON.parse(readFileSync(file, 'utf8')));
        const perCall = (shares: typeof categories) => shares.map(({ name, us }) => ({ name, us: us / calls }));
        return { scenario, calls, categories: perCall(categories.filter(({ name }) => name !== 'idle')), functions: perCall(functions) };
      }),
    );
  }
  return profiles;
}
