import cluster from 'node:cluster';
import { registerWorker, serveSessions, type WorkerOptions } from './worker.js';

/** How many processes serve, and what. */
export interface WorkersOptions extends WorkerOptions {
  /** Processes that share the port. A process that dies is replaced. */
  readonly count: number;
  /** Address of Restate's admin API, to register with. */
  readonly admin: string;
  /** Port that they share. */
  readonly port: number;
  /** Hears of every process that takes up work. */
  readonly onWorker?: (pid: number) => void;
}

/** A process that dies at once, again and again, is not started for ever. */
const MIN_LIFE_MS = 1_000;
const MAX_QUICK_DEATHS = 20;

/**
 * Serves sessions from several processes behind one address. Each process runs the program again from its beginning and comes to this
 * call; the first one only watches over the others. Resolves in the first process when all serve and are registered, in the others when
 * they serve.
 */
export async function serveSessionsFromProcesses(options: WorkersOptions): Promise<{ readonly url: string; stop(): void }> {
  if (!cluster.isPrimary) {
    const worker = await serveSessions(options);
    process.once('disconnect', () => process.exit());
    return { url: worker.url, stop: () => void worker.close() };
  }
  const url = `http://${options.host ?? '127.0.0.1'}:${options.port}`;
  let isStopping = false;
  let quickDeaths = 0;
  const start = (): Promise<void> =>
    new Promise((resolve) => {
      const since = performance.now();
      const worker = cluster.fork();
      worker.once('listening', () => {
        options.onWorker?.(worker.process.pid ?? 0);
        resolve();
      });
      worker.once('exit', () => {
        if (isStopping) return;
        quickDeaths = performance.now() - since < MIN_LIFE_MS ? quickDeaths + 1 : 0;
        if (quickDeaths > MAX_QUICK_DEATHS) throw new Error('The workers end as soon as they start; see what they say above.');
        void start();
      });
    });
  await Promise.all(Array.from({ length: options.count }, start));
  await registerWorker(options, url);
  return {
    url,
    stop: () => {
      isStopping = true;
      for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
    },
  };
}
