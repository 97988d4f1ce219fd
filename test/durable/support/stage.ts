import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { z } from 'zod';
import { type LocalRestate, startLocalRestate } from '../../../src/durable/server.js';
import { freePort, processAlive } from '../../support/system.js';

const factsSchema = z.object({
  effects: z.record(z.string(), z.object({ begin: z.number(), end: z.number() })),
  requests: z.number(),
  refusals: z.array(z.object({ status: z.number(), message: z.string() })),
});
export type WorldFacts = z.infer<typeof factsSchema>;

/** A Restate server, the world and workers, each in processes of their own. */
export interface Stage {
  readonly restate: LocalRestate;
  /** Where the world counts effects, and its API. */
  readonly world: { readonly world: string; readonly api: string };
  /** A session program of its own beside the workers, for comparison. */
  beside(env: Readonly<Record<string, string>>): Program;
  readonly workerCount: number;
  /** Processes of the workers that live right now. */
  readonly workers: ReadonlySet<number>;
  facts(): Promise<WorldFacts>;
  /** Ends the server as a power cut would, and starts it again on the same data. */
  restartServer(): Promise<void>;
  close(): Promise<void>;
}

export interface StageOptions {
  readonly workers?: number;
  /** Longest run of a tool, in milliseconds. */
  readonly toolMs?: number;
  readonly inactivityMs?: number;
  /** All flows alike and without questions, to measure. */
  readonly bench?: boolean;
}

export async function createStage({
  workers: count = 2,
  toolMs = 300,
  inactivityMs = 60_000,
  bench = false,
}: StageOptions = {}): Promise<Stage> {
  const dir = mkdtempSync(join(tmpdir(), 'sixgates-restate-'));
  const closing: (() => Promise<void> | void)[] = [];
  const close = async () => {
    for (const one of closing.splice(0).reverse()) await one();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    let restate = await startLocalRestate({ dir: join(dir, 'restate') });
    closing.push(() => restate.kill());

    const programs = await bundle();
    const world = program(join(programs, 'world.js'), { WORLD_TOOL_MS: String(toolMs), WORLD_PLAN: bench ? 'bench' : 'chaos' });
    closing.push(() => end(world.child));
    const { world: worldUrl, api } = await world.line(z.object({ world: z.string(), api: z.string() }));

    const living = new Set<number>();
    const serving = program(join(programs, 'workers.js'), {
      WORLD: worldUrl,
      API: api,
      INGRESS: restate.ingress,
      ADMIN: restate.admin,
      PORT: String(await freePort()),
      HOME_DIR: dir,
      INACTIVITY: String(inactivityMs),
      COUNT: String(count),
    });
    const workerSchema = z.object({ worker: z.number() });
    serving.hear((value) => {
      const { success, data } = workerSchema.safeParse(value);
      if (success) living.add(data.worker);
    });
    closing.push(() => end(serving.child));
    await serving.line(z.object({ ready: z.literal(true) }));
    return {
      workerCount: count,
      world: { world: worldUrl, api },
      beside: (env) => program(join(programs, 'inProcess.js'), { ...env, WORLD: worldUrl, API: api, HOME_DIR: dir }),
      get restate() {
        return restate;
      },
      get workers() {
        for (const pid of living) if (!processAlive(pid)) living.delete(pid);
        return living;
      },
      facts: async () => factsSchema.parse(await (await fetch(`${worldUrl}/facts`)).json()),
      restartServer: async () => {
        const { ports } = restate;
        await restate.kill();
        restate = await startLocalRestate({ dir: join(dir, 'restate'), ports });
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

export interface Program {
  readonly child: ChildProcess;
  hear(listener: (value: unknown) => void): void;
  /** The next line of this shape. */
  line<T>(schema: z.ZodType<T>): Promise<T>;
}

/** The programs of a stage as plain JavaScript: a process that is started again and again must not compile the sources each time. */
async function bundle(): Promise<string> {
  const outDir = fileURLToPath(new URL(`../../../node_modules/.cache/sixgates-stage-${process.pid}`, import.meta.url));
  const input = ['world', 'workers', 'inProcess'].map((name) => fileURLToPath(new URL(`${name}.ts`, import.meta.url)));
  await build({
    configFile: false,
    logLevel: 'error',
    build: { ssr: true, outDir, emptyOutDir: true, target: 'node20', rolldownOptions: { input, output: { entryFileNames: '[name].js' } } },
  });
  process.once('exit', () => rmSync(outDir, { recursive: true, force: true }));
  return outDir;
}

function program(file: string, env: Readonly<Record<string, string>>): Program {
  const child = spawn(process.execPath, [file], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const listeners = new Set<(value: unknown) => void>();
  const errors: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString('utf8')));
  createInterface({ input: child.stdout }).on('line', (line) => {
    try {
      const value: unknown = JSON.parse(line);
      for (const listener of listeners) listener(value);
    } catch {
      errors.push(line);
    }
  });
  return {
    child,
    hear: (listener) => void listeners.add(listener),
    line: (schema) =>
      new Promise((resolve, reject) => {
        const listener = (value: unknown) => {
          const { success, data } = schema.safeParse(value);
          if (!success) return;
          listeners.delete(listener);
          resolve(data);
        };
        listeners.add(listener);
        child.once('exit', (code) => reject(new Error(`${file} ended with ${code}:\n${errors.join('').slice(-2_000)}`)));
      }),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGKILL');
  await gone;
}
