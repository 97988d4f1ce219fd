/* `npm run bench -- restate [sessions] [at once]`: sessions on Restate over two workers, beside the same sessions in one process. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { connectSession } from '../../src/durable/client.js';
import { inLanes } from '../durable/support/lanes.js';
import { createStage, type Stage } from '../durable/support/stage.js';

interface Measured {
  readonly times: readonly number[];
  readonly ms: number;
  /** Processor time of what runs the sessions: the process itself, or workers and server. Not that of client, model and tools. */
  readonly cpuMs: number;
}
const measuredSchema = z.object({ times: z.array(z.number()), ms: z.number(), cpuMs: z.number() });

/** Requests to the model for one prompt of the bench. */
const TURNS = 2;
const CALLS = 4;

export async function benchRestate([sessions = 1_000, atOnce = 100]: readonly number[]): Promise<void> {
  const stage = await createStage({ workers: 2, bench: true });
  try {
    await onRestate(stage, 50, 25, 'warm');
    const beside = await inProcess(stage, sessions, atOnce);
    const restate = await onRestate(stage, sessions, atOnce, 'bench');
    const { refusals, effects } = await stage.facts();
    const calls = Object.values(effects);
    const repeated = calls.filter(({ end }) => end !== 1).length;
    console.log(`${sessions} sessions, ${atOnce} at a time; each one prompt: ${TURNS} turns, ${CALLS} calls of 10 ms over HTTP.`);
    console.log('All processes (server, workers, model and tools, client) share this machine.\n');
    console.log('| | sessions | turns/s | calls/s | ms per turn, p50 | p99 | CPU ms per turn |\n|---|---|---|---|---|---|---|');
    console.log(row('in process, one process', beside));
    console.log(row('Restate, two workers', restate));
    console.log(`\n${calls.length} calls, ${repeated} of them not exactly once; ${refusals.length} requests refused.`);
  } finally {
    await stage.close();
  }
}

const inProcess = (stage: Stage, sessions: number, atOnce: number): Promise<Measured> =>
  stage.beside({ SESSIONS: String(sessions), AT_ONCE: String(atOnce) }).line(measuredSchema);

async function onRestate(stage: Stage, sessions: number, atOnce: number, name: string): Promise<Measured> {
  const since = Date.now();
  const processes = [stage.restate.pid, ...stage.workers];
  const cpu = cpuMsOf(processes);
  const times = await inLanes(sessions, atOnce, async (n) => {
    const began = Date.now();
    const session = connectSession({ ingress: stage.restate.ingress, sessionId: `${name}-${n}` });
    const { end, text } = await session.send(`flow ${n}`).done;
    if (end !== 'completed' || text !== `flow ${n} is done`) throw new Error(`flow ${n} ended with ${end}: ${text}`);
    session.detach();
    return Date.now() - began;
  });
  return { times, ms: Date.now() - since, cpuMs: cpuMsOf(processes) - cpu };
}

/** Clock ticks of Linux are hundredths of a second. */
function cpuMsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) * 10;
  }, 0);
}

function row(name: string, { times, ms, cpuMs }: Measured): string {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) / TURNS);
  const perSecond = (count: number) => Math.round((count * times.length * 1_000) / ms);
  return `| ${name} | ${times.length} | ${perSecond(TURNS)} | ${perSecond(CALLS)} | ${at(0.5)} | ${at(0.99)} | ${(cpuMs / times.length / TURNS).toFixed(1)} |`;
}
