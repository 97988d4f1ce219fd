import { setTimeout as pause } from 'node:timers/promises';
import { assertContestantModule, type Contestant } from './contestants/contestant.js';
import type { Bytes, Job, Measure } from './jobs.js';
import { callsOf, planPrompt } from './plan.js';

export interface WorkerOptions {
  readonly moduleURL: string;
  readonly baseURL: string;
  readonly variant: string;
}

export type Perform = (job: Job) => Promise<Measure>;

/** A contestant in this process, ready for jobs. */
export async function loadWorker({ moduleURL, baseURL, variant }: WorkerOptions): Promise<Perform> {
  const module: unknown = await import(moduleURL);
  assertContestantModule(module);
  const meter = new CallMeter();
  const contestant = await module.createContestant({ baseURL, variant, look: (path) => meter.look(path) });
  return (job) => perform(contestant, meter, job);
}

/** The body of the contestants' tool: counts, and does nothing else. */
class CallMeter {
  calls = 0;
  lastCallAt = 0;
  stamps: number[] | undefined;
  private callMs = 0;

  begin(job: Job): void {
    this.calls = 0;
    this.callMs = job.kind === 'converse' ? (job.callMs ?? 0) : 0;
    this.stamps = job.kind === 'timeline' ? [] : undefined;
  }

  async look(path: string): Promise<string> {
    this.calls++;
    this.stamps?.push(cpuNow());
    if (this.callMs > 0) await pause(this.callMs);
    this.lastCallAt = Date.now();
    return `${path}: nothing to see`;
  }

  /** A contestant that skips calls must not look fast. */
  expect(calls: number): void {
    if (this.calls !== calls) throw new Error(`${this.calls} of ${calls} calls reached the tool.`);
  }
}

async function perform(contestant: Contestant, meter: CallMeter, job: Job): Promise<Measure> {
  meter.begin(job);
  // No collection is forced before a measurement of time: it would throw away code that V8 has optimised, and measure its compiling.
  const cpu = cpuNow();
  const wall = performance.now();
  const bytes = await work(contestant, meter, job);
  const { calls, lastCallAt, stamps = [] } = meter;
  return {
    cpuUs: cpuNow() - cpu,
    wallMs: performance.now() - wall,
    calls,
    lastCallAt,
    bytes,
    perTurnUs: stamps.slice(1).map((at, index) => at - (stamps[index] ?? at)),
  };
}

const NO_BYTES: Bytes = { before: 0, after: 0, released: 0, history: 0, historyMessages: 0 };

async function work(contestant: Contestant, meter: CallMeter, job: Job): Promise<Bytes> {
  switch (job.kind) {
    case 'converse':
    case 'timeline': {
      const conversations = job.kind === 'converse' ? job.conversations : 1;
      for (let index = 0; index < conversations; index++) {
        const conversation = await contestant.open();
        await conversation.send(planPrompt(job.plan));
        await conversation.close();
      }
      meter.expect(conversations * callsOf(job.plan));
      return NO_BYTES;
    }
    case 'hold':
      return hold(contestant, job);
    case 'heap': {
      const bytes = await heap(contestant, job);
      meter.expect(callsOf(job.warmUp) + callsOf(job.plan));
      return bytes;
    }
  }
}

async function hold(contestant: Contestant, { conversations, plan }: Extract<Job, { kind: 'hold' }>): Promise<Bytes> {
  const first = await contestant.open();
  if (plan) await first.send(planPrompt(plan));
  const before = bytesInUse();
  const open = [];
  for (let index = 0; index < conversations; index++) {
    const conversation = await contestant.open();
    if (plan) await conversation.send(planPrompt(plan));
    open.push(conversation);
  }
  await pause(50);
  const after = bytesInUse();
  for (const conversation of open.splice(0)) await conversation.close();
  await pause(50);
  const released = bytesInUse();
  await first.close();
  return { ...NO_BYTES, before, after, released };
}

async function heap(contestant: Contestant, job: Extract<Job, { kind: 'heap' }>): Promise<Bytes> {
  const bytes = await heapOfOpen(contestant, job);
  // Nothing refers to the conversation any more.
  await pause(50);
  return { ...bytes, released: bytesInUse() };
}

async function heapOfOpen(contestant: Contestant, { warmUp, plan }: Extract<Job, { kind: 'heap' }>): Promise<Bytes> {
  const conversation = await contestant.open();
  await conversation.send(planPrompt(warmUp));
  await pause(50);
  const before = bytesInUse();
  const known = conversation.history?.().length ?? 0;
  await conversation.send(planPrompt(plan));
  await pause(50);
  const after = bytesInUse();
  // What the conversation itself weighs: a deep copy of what it has grown by.
  const copy: unknown = JSON.parse(JSON.stringify((conversation.history?.() ?? []).slice(known)));
  const history = bytesInUse() - after;
  const historyMessages = Array.isArray(copy) ? copy.length : 0;
  await conversation.close();
  return { ...NO_BYTES, before, after, history, historyMessages };
}

const cpuNow = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** Twice, because finalizers run between collections. Does nothing without `--expose-gc`. */
function collectGarbage(): void {
  globalThis.gc?.();
  globalThis.gc?.();
}

function bytesInUse(): number {
  collectGarbage();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}
