import { fork } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { Job, Measure } from './jobs.js';
import type { Exchange } from './server.js';
import { loadWorker } from './worker.js';

/** A contestant and the way it is run. */
export interface Entrant {
  readonly name: string;
  /** Its module, relative to the compiled bench; or, for peers, the file itself. */
  readonly file: string;
  readonly variant?: string;
}

export interface Agent {
  readonly entrant: Entrant;
  /** With `profileTo`, a CPU profile of the job is written to that file. */
  perform(job: Job, profileTo?: string): Promise<Measure>;
  stop(): Promise<void>;
}

/** Where scenarios are run. */
export interface Lab {
  /** Little work and few rounds: shows that everything runs, not how fast. */
  readonly quick: boolean;
  /** The AI SDK and LangGraph, when they take part. */
  readonly peers: readonly Entrant[];
  start(entrant: Entrant): Promise<Agent>;
  /** Times of the server's exchanges since the last such question, in order. */
  exchanges(): Promise<readonly Exchange[]>;
}

export const SIXGATES: Entrant = { name: 'Sixgates', file: 'contestants/sixgates.js', variant: 'plain' };
/** No contestant, but the part of Sixgates that no work on the rest can take away. */
export const STATECHARTS: Entrant = { name: 'Sixgates, the statecharts alone', file: 'contestants/statecharts.js' };
export const HANDWRITTEN: Entrant = { name: 'hand-written loop', file: 'contestants/handwritten.js' };

const Exchanges = z.array(z.object({ requestAt: z.number(), endedAt: z.number() }));
export const exchangesOf = async (serverURL: string): Promise<readonly Exchange[]> =>
  Exchanges.parse(await (await fetch(`${serverURL}/exchanges`)).json());

/** Runs every contestant in this process, for tests of the bench itself. */
export function labInProcess(options: { readonly serverURL: string; readonly moduleURL: (file: string) => string }): Lab {
  return {
    quick: true,
    peers: [],
    start: async (entrant) => {
      const { serverURL: baseURL } = options;
      const perform = await loadWorker({ moduleURL: options.moduleURL(entrant.file), baseURL, variant: entrant.variant ?? '' });
      return { entrant, perform, stop: async () => {} };
    },
    exchanges: () => exchangesOf(options.serverURL),
  };
}

interface WorkerMessage {
  readonly measure?: Measure;
  readonly error?: string;
}

/** Starts a contestant as a compiled program in a process of its own. */
export async function startAgent(entrant: Entrant, options: { readonly dir: string; readonly serverURL: string }): Promise<Agent> {
  const file = entrant.file.startsWith('/') ? entrant.file : `${options.dir}/${entrant.file}`;
  const child = fork(`${options.dir}/workerProcess.js`, [pathToFileURL(file).href, options.serverURL, entrant.variant ?? ''], {
    // LangGraph adds more listeners to one signal than Node likes, and is told so on every run.
    execArgv: ['--expose-gc', '--disable-warning=MaxListenersExceededWarning'],
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${entrant.name} ended with code ${String(code)}.`);
  });
  ended.catch(() => {});
  const nextMessage = async (): Promise<WorkerMessage> => {
    const [message] = await Promise.race([once(child, 'message'), ended]);
    return message;
  };
  await nextMessage();
  return {
    entrant,
    perform: async (job, profileTo) => {
      const answer = nextMessage();
      child.send(profileTo === undefined ? { job } : { job, profileTo });
      const { measure, error } = await answer;
      if (measure) return measure;
      throw new Error(`${entrant.name}: ${error ?? 'no answer'}`);
    },
    stop: async () => {
      if (child.exitCode !== null) return;
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}

/** The server in a process of its own. */
export async function startServerProcess(dir: string): Promise<{ readonly url: string; stop(): void }> {
  const child = fork(`${dir}/serverProcess.js`);
  const [message] = await once(child, 'message');
  return { url: message.url, stop: () => child.disconnect() };
}
