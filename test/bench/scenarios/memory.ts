import type { Bytes, Job, Measure } from '../jobs.js';
import { type Lab, SIXGATES } from '../lab.js';
import { withAgents } from '../rounds.js';
import type { Row } from '../section.js';
import { spreadOf } from '../stats.js';
import type { Scenario } from './scenario.js';

const KB = 1_024;

/** Each time in a fresh process: what an earlier job left behind must not count. */
const fresh = (lab: Lab, job: Job): Promise<Measure> =>
  withAgents(lab, [SIXGATES], async ([agent]) => {
    if (!agent) throw new Error('There is no agent.');
    return agent.perform(job);
  });

const row = (name: string, values: readonly number[], unit: string): Row => ({ name, value: spreadOf(values), unit });

export const idleSessions: Scenario = {
  name: 'idle-sessions',
  run: async (lab) => {
    const idle = lab.quick ? 100 : 10_000;
    const used = lab.quick ? 20 : 2_000;
    const repeat = lab.quick ? 1 : 2;
    const measure = async (job: Extract<Job, { readonly kind: 'hold' }>) => {
      const each: number[] = [];
      const left: number[] = [];
      for (let round = 0; round < repeat; round++) {
        const { bytes } = await fresh(lab, job);
        each.push((bytes.after - bytes.before) / job.conversations / KB);
        left.push((bytes.released - bytes.before) / job.conversations / KB);
      }
      return { each, left };
    };
    const untouched = await measure({ kind: 'hold', conversations: idle });
    const talked = await measure({ kind: 'hold', conversations: used, plan: { turns: 1, calls: 1 } });
    return {
      scenario: 'idle-sessions',
      title: 'Idle sessions',
      text: 'Bytes in use (heap, external, array buffers) after full collections, for each open session in memory, and what is left when all are closed.',
      rows: [
        row(`${idle.toLocaleString('en')} idle sessions`, untouched.each, 'KB/session'),
        row('… after closing them', untouched.left, 'KB/session'),
        row(`${used.toLocaleString('en')} sessions after one prompt with one call`, talked.each, 'KB/session'),
        row('… after closing them', talked.left, 'KB/session'),
      ],
    };
  },
};

export const longSession: Scenario = {
  name: 'heap',
  run: async (lab) => {
    const turns = lab.quick ? 4 : 157;
    const calls = turns * 64;
    const rounds: Bytes[] = [];
    for (let round = 0; round < (lab.quick ? 1 : 2); round++) {
      rounds.push((await fresh(lab, { kind: 'heap', warmUp: { turns: 10, calls: 64 }, plan: { turns, calls: 64 } })).bytes);
    }
    const bytes = (of: (one: Bytes) => number) => rounds.map((one) => of(one) / calls);
    return {
      scenario: 'heap',
      title: `${calls.toLocaleString('en')} calls in one session`,
      text:
        'Growth of the bytes in use for each call, after full collections. The conversation itself must grow: its messages are copied to ' +
        'see what they weigh. The rest is what the machinery keeps of a call that is over.',
      rows: [
        row(
          'growth',
          bytes(({ before, after }) => after - before),
          'bytes/call',
        ),
        row(
          'of which the history',
          bytes(({ history }) => history),
          'bytes/call',
        ),
        row(
          'the rest',
          bytes(({ before, after, history }) => after - before - history),
          'bytes/call',
        ),
        row(
          'growth after closing the session',
          bytes(({ before, released }) => released - before),
          'bytes/call',
        ),
      ],
    };
  },
};
