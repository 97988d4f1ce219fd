import { connectSession, type RemoteSession } from '../../../src/durable/client.js';
import type { NumberedUpdate } from '../../../src/durable/protocol.js';
import type { QueryEnded } from '../../../src/session/sending.js';
import { inLanes } from './lanes.js';
import { randomFrom } from './random.js';
import type { Stage, WorldFacts } from './stage.js';

export interface FlowRun {
  readonly seed: number;
  readonly ended: QueryEnded;
  readonly heard: readonly NumberedUpdate[];
  readonly ms: number;
}

/** Runs a flow to its end; questions are answered after a while, mostly with yes. */
async function runFlow(stage: Stage, seed: number): Promise<FlowRun> {
  const session = connectSession({ ingress: stage.restate.ingress, sessionId: `flow-${seed}`, pollMs: 250 });
  const heard: NumberedUpdate[] = [];
  const random = randomFrom(seed + 1);
  const listening = session.numbered$.subscribe((one) => {
    heard.push(one);
    if (one.update?.type === 'permission.requested') answerLater(session, one.update.prompt, random);
  });
  const since = Date.now();
  try {
    const ended = await session.send(`flow ${seed}`).done;
    return { seed, ended, heard, ms: Date.now() - since };
  } finally {
    listening.unsubscribe();
    session.detach();
  }
}

function answerLater(session: RemoteSession, prompt: { callId: string; inputDigest: string }, random: () => number): void {
  const isYes = random() < 0.8;
  setTimeout(() => {
    const source = { type: 'person', surface: 'test' } as const;
    session.answer(
      prompt.callId,
      prompt.inputDigest,
      isYes ? { behavior: 'allow', source } : { behavior: 'deny', message: 'not today', source },
    );
  }, random() * 400);
}

/** Kills a random worker every now and then while `work` goes on. */
export async function whileKilling<T>(
  stage: Stage,
  seed: number,
  { everyMs, atMost = Number.POSITIVE_INFINITY }: { readonly everyMs: number; readonly atMost?: number },
  work: Promise<T>,
): Promise<{ value: T; kills: number }> {
  const random = randomFrom(seed);
  let kills = 0;
  let timer: NodeJS.Timeout | undefined;
  const plan = () => {
    timer = setTimeout(
      () => {
        const living = [...stage.workers];
        const victim = living[Math.floor(random() * living.length)];
        // One that is missing is being replaced: killing faster than that would only mean that nobody works.
        if (victim !== undefined && living.length === stage.workerCount) {
          process.kill(victim, 'SIGKILL');
          kills++;
        }
        if (kills < atMost) plan();
      },
      everyMs * (0.5 + random()),
    );
  };
  plan();
  try {
    return { value: await work, kills };
  } finally {
    clearTimeout(timer);
  }
}

/** Runs the flows of these seeds, so many at a time. */
export async function runFlows(
  stage: Stage,
  seeds: readonly number[],
  atOnce: number,
  onEnd?: (ended: number) => void,
): Promise<FlowRun[]> {
  let ended = 0;
  return inLanes(seeds.length, atOnce, async (n) => {
    const run = await runFlow(stage, seeds[n - 1] ?? n);
    onEnd?.(++ended);
    return run;
  });
}

export interface Verdict {
  /** What is wrong, in words; empty when all is well. */
  readonly faults: readonly string[];
  readonly calls: number;
  readonly done: number;
  readonly unknown: number;
  readonly denied: number;
}

/** Holds what a flow says against what the world counted. */
export function judge(runs: readonly FlowRun[], { effects, refusals }: WorldFacts): Verdict {
  const faults: string[] = refusals.map(({ status, message }) => `the API refused a request with ${status}: ${message}`);
  let calls = 0;
  let done = 0;
  let unknown = 0;
  let denied = 0;
  for (const { seed, ended, heard } of runs) {
    const fault = (text: string) => faults.push(`flow ${seed}: ${text}`);
    if (ended.end !== 'completed') fault(`ended with ${ended.end}: ${ended.reason}`);
    if (ended.text !== `flow ${seed} is done`) fault(`its last words were "${ended.text}"`);
    const numbers = heard.map(({ seq }) => seq);
    if (numbers.some((seq, at) => seq !== at + 1)) fault(`its updates have the numbers ${numbers.join(' ')}`);
    const updates = heard.flatMap(({ update }) => (update === undefined ? [] : [update]));
    const asked = updates.flatMap((update) => (update.type === 'block' && update.block.type === 'tool_use' ? [update.block] : []));
    const results = updates.flatMap((update) => (update.type === 'call.result' ? [update] : []));
    for (const { id, name } of asked) {
      calls++;
      const own = results.filter(({ callId }) => callId === id);
      if (own.length !== 1) fault(`call ${id} has ${own.length} results`);
      const outcome = own[0]?.outcome;
      const { begin, end } = effects[id] ?? { begin: 0, end: 0 };
      if (outcome?.kind === 'denied') {
        denied++;
        if (begin > 0) fault(`call ${id} (${name}) was denied and ran`);
      } else if (outcome?.kind === 'succeeded') {
        done++;
        if (name !== 'Look' && (begin !== 1 || end !== 1)) fault(`call ${id} (${name}) is done and ran ${begin} times, ${end} to the end`);
        if (name === 'Look' && end === 0) fault(`call ${id} (${name}) is done and never ran to the end`);
      } else if (outcome?.summary.startsWith('Interrupted, outcome unknown')) {
        unknown++;
        if (name === 'Look') fault(`call ${id} may be repeated and was given up`);
        if (begin > 1) fault(`call ${id} (${name}) is unknown and ran ${begin} times`);
      } else fault(`call ${id} (${name}) ended as ${outcome?.kind}: ${outcome?.summary}`);
    }
    if (results.length !== asked.length) fault(`${asked.length} calls and ${results.length} results`);
  }
  return { faults, calls, done, unknown, denied };
}
