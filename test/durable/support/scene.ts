import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectSession, type RemoteSession } from '../../../src/durable/client.js';
import { type LocalRestate, startLocalRestate } from '../../../src/durable/server.js';
import { registerWorker, serveSessions, type Worker } from '../../../src/durable/worker.js';
import type { SessionOptions } from '../../../src/session/options.js';
import type { SessionUpdate } from '../../../src/session/updates.js';
import type { Script } from '../../../src/testing/script/script.js';
import { type ScriptedServer, scriptedServer } from '../../../src/testing/server/server.js';
import { freePort } from '../../support/system.js';

/** A Restate server and one worker in this process, which may be taken away and put back. */
export class DurableStage {
  private readonly dir = realpathSync(mkdtempSync(join(tmpdir(), 'sixgates-durable-')));
  private server: LocalRestate | undefined;
  private worker: Worker | undefined;
  private api: ScriptedServer | undefined;
  private readonly sessions: RemoteSession[] = [];
  private port = 0;
  private options: SessionOptions = {};
  inactivityMs = 60_000;

  get restate(): LocalRestate {
    if (!this.server) throw new Error('The stage has not been set.');
    return this.server;
  }
  get home(): string {
    return this.dir;
  }

  async start(): Promise<void> {
    this.server = await startLocalRestate({ dir: join(this.dir, 'restate') });
  }

  /** A worker for these sessions, with a scripted API of its own. */
  async serve(script: Script, options: SessionOptions): Promise<ScriptedServer> {
    await this.clear();
    this.api = await scriptedServer({ script });
    this.port = await freePort();
    this.options = {
      cwd: this.dir,
      settings: { home: this.dir, files: false },
      builtInTools: false,
      model: { baseURL: this.api.url, apiKey: 'test', id: 'claude-test' },
      ...options,
    };
    const worker = await this.startWorker();
    await registerWorker(this.restate, worker.url);
    return this.api;
  }

  /** The worker is gone: its connections break, and nobody listens on its port. */
  async loseWorker(): Promise<void> {
    await this.worker?.close();
    this.worker = undefined;
  }
  /** Another one takes its place. */
  async startWorker(): Promise<Worker> {
    this.worker = await serveSessions({
      port: this.port,
      ingress: this.restate.ingress,
      session: this.options,
      inactivityMs: this.inactivityMs,
      log: () => {},
    });
    return this.worker;
  }
  async restartServer(): Promise<void> {
    const { ports } = this.restate;
    await this.restate.kill();
    this.server = await startLocalRestate({ dir: join(this.dir, 'restate'), ports });
  }

  connect(sessionId: string, from?: number): Watched {
    const session = connectSession({ ingress: this.restate.ingress, sessionId, pollMs: 100, ...(from === undefined ? {} : { from }) });
    this.sessions.push(session);
    return new Watched(session);
  }

  async clear(): Promise<void> {
    for (const session of this.sessions.splice(0)) session.detach();
    await this.loseWorker();
    await this.api?.close();
    this.api = undefined;
  }
  async close(): Promise<void> {
    await this.clear();
    await this.server?.kill();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** A session with everything heard of it. */
export class Watched {
  readonly updates: SessionUpdate[] = [];
  readonly numbers: number[] = [];
  private readonly messages = new Set<string>();
  private waiting: (() => void)[] = [];

  constructor(readonly session: RemoteSession) {
    session.numbered$.subscribe(({ seq, update, took }) => {
      if (took) this.messages.add(took.id);
      this.numbers.push(seq);
      if (update) this.updates.push(update);
      for (const check of [...this.waiting]) check();
    });
  }

  of<T extends SessionUpdate['type']>(type: T): Extract<SessionUpdate, { type: T }>[] {
    return this.updates.filter((update): update is Extract<SessionUpdate, { type: T }> => update.type === type);
  }

  /** Resolves when the session has taken a message. */
  taken(id: string): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!this.messages.has(id)) return;
        this.waiting = this.waiting.filter((one) => one !== check);
        resolve();
      };
      this.waiting.push(check);
      check();
    });
  }

  /** Resolves with the `n`-th update of a type, heard or to come. */
  heard<T extends SessionUpdate['type']>(type: T, n = 1): Promise<Extract<SessionUpdate, { type: T }>> {
    return new Promise((resolve) => {
      const check = () => {
        const found = this.of(type)[n - 1];
        if (!found) return;
        this.waiting = this.waiting.filter((one) => one !== check);
        resolve(found);
      };
      this.waiting.push(check);
      check();
    });
  }
}
