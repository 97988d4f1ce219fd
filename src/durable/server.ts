import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { makeDirectorySync } from '../makeDirectory.js';

/** Where a local Restate server keeps its data, and on which ports it listens. */
export interface LocalRestateOptions {
  /** Where the server keeps its data. */
  readonly dir: string;
  /** Ports to use again after a restart; default any free ones. */
  readonly ports?: RestatePorts;
  /** Memory for RocksDB, in bytes as the server writes them. Default `256 MB`. */
  readonly rocksdbMemory?: string;
}
/** Ports of a Restate server. */
export interface RestatePorts {
  /** For clients: messages to sessions. */
  readonly ingress: number;
  /** For the admin API: registering workers. */
  readonly admin: number;
  /** For the nodes of a cluster; a server needs it when it is alone, too. */
  readonly node: number;
}
/** A Restate server that runs on this machine. */
export interface LocalRestate {
  /** Address of its ingress, for `connectSession` and workers. */
  readonly ingress: string;
  /** Address of its admin API, for `registerWorker`. */
  readonly admin: string;
  /** The ports it listens on: pass them on to start it again in the same place. */
  readonly ports: RestatePorts;
  /** Its process. */
  readonly pid: number;
  /** Ends the server at once; its data stays. */
  kill(): Promise<void>;
}

/** The server's program, out of the platform's npm package. Throws with how to install it. */
export function restateBinary(): string {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  try {
    const path = join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin', 'restate-server');
    if (existsSync(path)) return path;
  } catch {
    // Said below.
  }
  throw new Error(
    `The Restate server is not installed for ${process.platform}-${process.arch}. Install it with: npm install --save-dev ${name}`,
  );
}

/** Starts a Restate server of this machine's own on loopback ports, for development and tests. Resolves when it answers. */
export async function startLocalRestate({ dir, ports, rocksdbMemory = '256 MB' }: LocalRestateOptions): Promise<LocalRestate> {
  const binary = restateBinary();
  const used = ports ?? { ingress: await freePort(), admin: await freePort(), node: await freePort() };
  makeDirectorySync(dir);
  const child = spawn(binary, ['--node-name', 'sixgates', '--base-dir', dir], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${used.ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${used.admin}`,
      RESTATE_BIND_ADDRESS: `127.0.0.1:${used.node}`,
      RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${used.node}`,
      RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: rocksdbMemory,
      RESTATE_DEFAULT_NUM_PARTITIONS: '4',
      RESTATE_LOG_FILTER: 'warn',
    },
  });
  let said = '';
  const listen = (chunk: Buffer) => {
    said = `${said}${chunk.toString('utf8')}`.slice(-4_000);
  };
  child.stdout.on('data', listen);
  child.stderr.on('data', listen);
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const ingress = `http://127.0.0.1:${used.ingress}`;
  const admin = `http://127.0.0.1:${used.admin}`;
  await untilHealthy([`${ingress}/restate/health`, `${admin}/health`], child, () => said);
  return {
    ingress,
    admin,
    ports: used,
    pid: child.pid ?? 0,
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

const START_TIMEOUT_MS = 30_000;

async function untilHealthy(urls: readonly string[], child: ChildProcess, said: () => string): Promise<void> {
  const since = performance.now();
  for (const url of urls) {
    for (;;) {
      if (child.exitCode !== null) throw new Error(`The Restate server ended at once:\n${said()}`);
      if (
        await fetch(url).then(
          (response) => response.ok,
          () => false,
        )
      )
        break;
      if (performance.now() - since > START_TIMEOUT_MS) {
        child.kill('SIGKILL');
        throw new Error(`The Restate server did not answer within ${START_TIMEOUT_MS / 1000} s:\n${said()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => (typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no free port'))));
    });
  });
}
