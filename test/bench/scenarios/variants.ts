import type { SixgatesVariant } from '../contestants/sixgates.js';
import type { Job } from '../jobs.js';
import { type Entrant, SIXGATES } from '../lab.js';
import { interleave, performing, withAgents } from '../rounds.js';
import { ratioOf, spreadOf } from '../stats.js';
import type { Scenario } from './scenario.js';

interface VariantScenario {
  readonly name: string;
  readonly title: string;
  readonly text: string;
  readonly job: Job;
  readonly quick: Job;
  readonly variants: readonly (readonly [name: string, variant: SixgatesVariant])[];
}

/** One session run in several ways; the first is what the others are measured against. */
const variantScenario = ({ name, title, text, job, quick, variants }: VariantScenario): Scenario => ({
  name,
  run: async (lab) => {
    const entrants = variants.map(([title, variant]): Entrant => ({ ...SIXGATES, name: title, variant }));
    const measures = await withAgents(lab, entrants, (agents) =>
      interleave(agents, lab.quick ? { warmUp: 0, rounds: 1 } : { warmUp: 2, rounds: 5 }, performing(lab.quick ? quick : job)),
    );
    const perCall = (entrant: string) => (measures.get(entrant) ?? []).map(({ cpuUs, calls }) => cpuUs / calls);
    const base = entrants[0]?.name ?? '';
    const rows = entrants.map((entrant) => ({
      name: entrant.name,
      value: spreadOf(perCall(entrant.name)),
      unit: 'µs/call',
      ratio: ratioOf(perCall(entrant.name), perCall(base)),
    }));
    return { scenario: name, title, text, base, rows };
  },
});

const LONG: Job = { kind: 'converse', plan: { turns: 50, calls: 4 }, conversations: 2 };
const SHORT: Job = { kind: 'converse', plan: { turns: 2, calls: 4 }, conversations: 1 };

export const inspector = variantScenario({
  name: 'inspector',
  title: 'Inspector off, on, recording',
  text: 'Processor time of a call in sessions of 50 turns of 4 calls. On: the server runs, no page is open, and the account of the flow is kept for one that may be opened later; or, from the first page: it is not begun before one connects. Recording: it is also written to a file.',
  job: LONG,
  quick: SHORT,
  variants: [
    ['inspector off', 'plain'],
    ['recording, no server', 'recording'],
    ['inspector on, from the first page', 'inspector-from-first-page'],
    ['inspector on', 'inspector'],
    ['inspector on and recording', 'inspector-recording'],
  ],
});

export const hooks = variantScenario({
  name: 'hooks',
  title: 'Hooks',
  text: "Processor time of a call in the session's own process, which for a command hook includes starting the command but not what the command does.",
  job: { kind: 'converse', plan: { turns: 5, calls: 4 }, conversations: 5 },
  quick: SHORT,
  variants: [
    ['no hook configured', 'plain'],
    ['a PreToolUse function hook for another tool', 'hook-for-another-tool'],
    ['a PreToolUse function hook for this tool', 'function-hook'],
    ['a PreToolUse command hook (`true`)', 'command-hook'],
  ],
});
