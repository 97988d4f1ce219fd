import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { scriptedServer, type Turn, text, toolUse, usage } from '../../src/testing/index.js';
import { type Findings, inspect } from './findings.js';
import { random } from './random.js';
import { transcriptOf, type World } from './world.js';

export interface ChaosOptions {
  /** How many times the session's process is killed. */
  readonly moments: number;
  readonly seed: number;
  /** Kills no more once this much time has passed, so that a busy machine makes a run shorter, not longer. Default: no limit. */
  readonly withinMs?: number;
  /** With a stdio MCP server whose tool leaves a trace as well. */
  readonly withMcp?: boolean;
  onMoment?(n: number): void;
}

/** A kill comes after so many more requests at most, and at most this long after the last of them. */
const LONGEST_LIFE_REQUESTS = 5;
const LONGEST_DELAY_MS = 70;
/** However slow the machine is, a process that asks for nothing is not waited for longer. */
const PATIENCE_MS = 3_000;
const READY_MS = 30_000;
const FINISH_MS = 60_000;

/**
 * Runs one session through many deaths: a process with background commands, subagents and questions is killed with SIGKILL at a random
 * moment and resumed, again and again; at last it may finish. What must hold is then read off its transcript, the trace of its side
 * effects and the requests that the API refused.
 */
export async function chaos({
  moments,
  seed,
  withinMs = Number.POSITIVE_INFINITY,
  withMcp = false,
  onMoment,
}: ChaosOptions): Promise<Findings> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'sixgates-chaos-')));
  const next = random(seed);
  const seen = new Set<string>();
  const server = await scriptedServer({
    script: ({ body }) => {
      const request = JSON.stringify(body);
      for (const [id] of request.matchAll(/task_[0-9a-f]{8,}/g)) seen.add(id);
      const size = Array.isArray(body.messages) ? body.messages.length : 0;
      if (request.includes('Write a summary of this conversation so far.')) return [text('It went on.')];
      return [usage({ input_tokens: size * 100 }), ...answer(next, request.includes('another agent'), withMcp)];
    },
  });
  const world: World = {
    cwd: dir,
    store: join(dir, 'store'),
    sessionId: 'chaos',
    url: server.url,
    log: join(dir, 'effects.log'),
    compactAtTokens: 3_000,
    finish: false,
    ...(withMcp ? { mcpServer: fileURLToPath(new URL('mcpServer.ts', import.meta.url)) } : {}),
  };
  const program = await bundled();
  let problems: readonly string[] = [];
  let kills = 0;
  try {
    const began = Date.now();
    for (let n = 1; n <= moments && Date.now() - began < withinMs; n++) {
      const { child, errors } = await start(world, program);
      const requests = server.requests.length + Math.floor(next() * LONGEST_LIFE_REQUESTS);
      for (let waited = 0; server.requests.length < requests && waited < PATIENCE_MS; waited += 5) await pause(5);
      await pause(next() * LONGEST_DELAY_MS);
      if (child.exitCode !== null) problems = [...problems, `moment ${n}: the process ended by itself: ${errors()}`];
      child.kill('SIGKILL');
      await gone(child);
      kills = n;
      onMoment?.(n);
    }
    const { child, errors } = await start({ ...world, finish: true }, program);
    const code = await Promise.race([gone(child), pause(FINISH_MS).then(() => 'still running')]);
    child.kill('SIGKILL');
    if (code !== 0) problems = [...problems, `the last process did not finish (${code}): ${errors()}`];
    const refused = server.refusals.map(({ request, message }) => `request ${request} was refused: ${message}`);
    const found = inspect(transcriptOf(world), world.log, seen);
    return { ...found, kills, requests: server.requests.length, problems: [...problems, ...refused, ...found.problems] };
  } finally {
    await server.close();
    rmSync(dirname(program), { recursive: true, force: true });
    rmSync(dir, { recursive: true, force: true });
  }
}

/** What the model says: mostly work that can be cut in the middle. */
function answer(next: () => number, isAgent: boolean, withMcp: boolean): Turn {
  const ms = Math.floor(next() * 25);
  const dice = next();
  if (isAgent) return dice < 0.5 ? [toolUse('Effect', { ms })] : [text('The agent has ended.')];
  if (dice < 0.2) return [toolUse('Beside', { ms }), toolUse('Effect', { ms }), toolUse('Beside', { ms })];
  if (dice < 0.4) {
    const background = () => toolUse('Bash', { command: `sleep 0.0${Math.floor(next() * 9)}; echo done`, run_in_background: true });
    return [background(), background(), toolUse('Beside', { ms })];
  }
  if (dice < 0.5) return [toolUse('Beside', { ms }), toolUse('Gated', { ms }), toolUse('Gated', { ms })];
  if (dice < 0.6) return [toolUse('Agent', { description: 'work', prompt: 'Do some work.' }), toolUse('Beside', { ms })];
  if (dice < 0.7) return [toolUse('Agent', { description: 'work', prompt: 'Do some work.', run_in_background: true })];
  if (dice < 0.75 && withMcp) return [toolUse('mcp__chaos__trace', { ms })];
  return [text('That was that.')];
}

/** The child as one file: it is started hundreds of times, and most of a start from source is reading source. */
async function bundled(): Promise<string> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const outDir = join(root, 'node_modules', '.cache', `sixgates-chaos-${process.pid}`);
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    build: { ssr: fileURLToPath(new URL('child.ts', import.meta.url)), outDir, target: 'node20', emptyOutDir: true, minify: false },
  });
  return join(outDir, 'child.js');
}

async function start(world: World, program: string): Promise<{ readonly child: ChildProcess; readonly errors: () => string }> {
  const file = join(world.cwd, 'world.json');
  writeFileSync(file, JSON.stringify(world));
  const child = spawn(process.execPath, [program, file], { stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, READY_MS);
    const ready = () => {
      clearTimeout(timer);
      resolve();
    };
    child.stdout.once('data', ready);
    child.once('exit', ready);
  });
  return { child, errors: () => errors.slice(-2_000) };
}

function gone(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
}
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
