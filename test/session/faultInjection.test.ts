import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, fromPromise } from 'xstate';
import { checkPairing } from '../../src/messages/pairing.js';
import { type Clock, systemClock } from '../../src/model/clock.js';
import { liveSession } from '../../src/session/live.js';
import { text, toolUse } from '../../src/testing/index.js';
import { type Scene, scene, tempDir, testTool } from '../support/sessions.js';
import { processAlive } from '../support/system.js';

/*
 * Every action, guard and port of every machine of a session is made to throw, one at a time, in a session that uses all of them. Whatever
 * breaks: every call has its result, nothing runs twice, whoever waits hears of the end, and nothing is left alive.
 */

const isMachine = (logic: unknown): logic is AnyStateMachine => typeof logic === 'object' && logic !== null && 'implementations' in logic;

function machinesOf(machine: AnyStateMachine): Map<string, AnyStateMachine> {
  const found = new Map([[machine.id, machine]]);
  for (const logic of Object.values<unknown>(machine.implementations.actors)) {
    if (isMachine(logic)) for (const [id, inner] of machinesOf(logic)) found.set(id, inner);
  }
  return found;
}

type Part = 'actions' | 'guards' | 'actors';
const machines = machinesOf(liveSession);
const targets = [...machines].flatMap(([id, machine]) =>
  (['actions', 'guards', 'actors'] as const).flatMap((part) =>
    Object.keys(machine.implementations[part]).map((name) => [`${id}: ${part} ${name}`, machine, part, name] as const),
  ),
);

/** Makes one part of a machine throw until the returned function is called. */
function sabotage(machine: AnyStateMachine, part: Part, name: string): () => void {
  const place: object = machine.implementations[part];
  const healthy: unknown = Reflect.get(place, name);
  const fault = () => {
    throw new Error('injected fault');
  };
  Reflect.set(place, name, part === 'actors' ? fromPromise(async () => fault()) : fault);
  return () => Reflect.set(place, name, healthy);
}

/** A clock that knows which of its timers have not fired. */
class CountingClock implements Clock {
  readonly armed = new Set<unknown>();
  setTimeout(fire: () => void, ms: number): unknown {
    const id = systemClock.setTimeout(() => {
      this.armed.delete(id);
      fire();
    }, ms);
    this.armed.add(id);
    return id;
  }
  clearTimeout(id: unknown): void {
    this.armed.delete(id);
    systemClock.clearTimeout(id);
  }
}

const within = async <T>(ms: number, work: Promise<T>): Promise<T | 'late'> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, ms, 'late');
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

interface Stage extends Scene {
  readonly clock: CountingClock;
  readonly pids: number[];
  /** One line for each side effect, with the id of its call. */
  effects(): readonly string[];
}

/** A session whose one prompt passes through every gate, hook, question, abort, retry and task that there is. */
async function stage(): Promise<Stage> {
  const clock = new CountingClock();
  const pids: number[] = [];
  const cwd = tempDir();
  const log = join(cwd, 'effects.log');
  const effect = (callId: string) => appendFileSync(log, `${callId}\n`);
  const quiet = { hooks: [async () => ({})] };
  const made = await scene(
    ({ n }) =>
      n === 1
        ? [text('so'), toolUse('Quick', {}), toolUse('Gated', {}), toolUse('Process', {}), toolUse('Nope', {}), toolUse('Task', {})]
        : [text(`answer ${n}`)],
    {
      cwd,
      clock,
      limits: { graceMs: 200, maxStopRounds: 1 },
      model: { retry: { maxRetries: 1, baseMs: 1 } },
      permissions: { allow: ['Quick', 'Process', 'Task'], ask: ['Gated'] },
      canUseTool: async () => ({ behavior: 'allow' }),
      hooks: { PreToolUse: [quiet], PostToolUse: [quiet], UserPromptSubmit: [quiet], Stop: [quiet], PermissionRequest: [quiet] },
      tools: [
        testTool({
          name: 'Quick',
          validateInput: async () => ({ ok: true }),
          checkPermissions: async () => ({ behavior: 'passthrough' }),
          call: async (_, { callId }, onProgress) => {
            effect(callId);
            onProgress({ message: 'on it' });
            return { data: 'quick', modify: () => {} };
          },
        }),
        testTool({
          name: 'Gated',
          call: async (_, { callId }) => {
            effect(callId);
            return { data: 'gated' };
          },
        }),
        testTool({
          name: 'Process',
          isConcurrencySafe: () => false,
          call: (_, { callId, signal }) =>
            new Promise((resolve, reject) => {
              effect(callId);
              const child = spawn('sleep', ['0.05'], { stdio: 'ignore' });
              if (child.pid !== undefined) pids.push(child.pid);
              signal.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
              child.once('close', (code) => (code === 0 ? resolve({ data: 'done' }) : reject(new Error('killed'))));
            }),
        }),
        testTool({
          name: 'Task',
          call: async (_, { callId, capabilities }) => {
            effect(callId);
            const child = spawn('sleep', ['0.2'], { stdio: 'ignore' });
            if (child.pid !== undefined) pids.push(child.pid);
            const done = new Promise<{ status: 'completed'; summary: string }>((resolve) => {
              child.once('close', () => resolve({ status: 'completed', summary: 'over' }));
            });
            capabilities.tasks?.adopt({ kind: 'bash', title: 'sleep', callId, outputFile: log, done, stop: () => child.kill('SIGKILL') });
            return { data: 'adopted' };
          },
        }),
      ],
    },
  );
  const effects = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
  return { ...made, clock, pids, effects };
}

describe('a fault in any part of any machine', () => {
  it('is looked for in every part there is', () => {
    expect([...machines.keys()].sort()).toEqual(['backgroundTask', 'executor', 'permission', 'query', 'session', 'toolCall', 'turn']);
    expect(targets.length).toBeGreaterThan(100);
  });

  it.each(targets)('%s', { timeout: 300_000 }, async (_, machine, part, name) => {
    const made = await stage();
    const restore = sabotage(machine, part, name);
    try {
      const ended = await within(
        60_000,
        made.session.send('go').done.catch((error: unknown) => String(error)),
      );
      expect(ended, 'whoever waits for the prompt hears of its end').not.toBe('late');
    } finally {
      restore();
    }
    // An answer at the end waits for the next prompt.
    const problems = checkPairing(made.session.messages).filter(({ code }) => code !== 'trailing_assistant');
    expect(problems.map(({ text: words }) => words)).toEqual([]);
    const effects = made.effects();
    expect(new Set(effects).size, 'no side effect happens twice').toBe(effects.length);

    const goesOn = made.session.actor.getSnapshot().status === 'active';
    if (goesOn) {
      const next = await within(60_000, made.session.send('and on').done);
      expect(next).toMatchObject({ end: 'completed' });
    }
    expect(await within(60_000, made.session.close())).not.toBe('late');
    await expect.poll(() => made.pids.filter(processAlive), { timeout: 60_000 }).toEqual([]);
    await expect.poll(() => made.clock.armed.size, { timeout: 60_000 }).toBe(0);
    expect(made.server.refusals).toEqual([]);
  });
});
