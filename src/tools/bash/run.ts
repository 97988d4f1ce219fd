import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { CommandOutput, type StreamName } from './output.js';
import {
  COMMAND_ID_VARIABLE,
  endProcesses,
  groupLives,
  type KillTimes,
  type LivingProcess,
  livingProcesses,
  type ProcessTree,
  untilGone,
} from './process-tree.js';

export interface CommandStart {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly outputFile: string;
  readonly killTimes?: KillTimes | undefined;
  onOutput?(output: CommandOutput): void;
}

export interface CommandExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Output beyond this ends the command. */
const RUNAWAY_BYTES = 5 * 1024 * 1024 * 1024;
/** After the shell has exited, its output counts as complete once the pipes are closed or quiet for this long … */
const QUIET_MS = 250;
/** … and in any case after this long: a child that holds the pipe does not hold the call. */
const DRAIN_MS = 2_000;

/** A command in a process group of its own. */
export class RunningCommand {
  readonly output: CommandOutput;
  /** Settles when the shell has exited, whatever its children do. Rejects when it could not be started. */
  readonly exited: Promise<CommandExit>;
  /** Resolves when the command was ended because its output ran away. */
  readonly ranAway: Promise<void>;
  readonly #child: ChildProcess;
  readonly #tree: ProcessTree;
  readonly #killTimes: KillTimes | undefined;
  readonly #streams: readonly Readable[];
  #lastOutput = 0;
  #openStreams = 0;
  #onClosed: (() => void) | undefined;
  #ending: Promise<readonly LivingProcess[]> | undefined;
  #reportEnd: () => void = () => undefined;
  readonly #endCalled = new Promise<void>((resolve) => {
    this.#reportEnd = resolve;
  });

  constructor(start: CommandStart) {
    const commandId = randomUUID();
    this.output = new CommandOutput(start.outputFile);
    this.#killTimes = start.killTimes;
    this.#child = spawn(start.file, [...start.args], {
      cwd: start.cwd,
      env: { ...start.env, [COMMAND_ID_VARIABLE]: commandId },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that a signal reaches the command whole and never the program that runs it.
      detached: true,
    });
    this.#tree = { groupId: this.#child.pid ?? 0, commandId };
    const { stdout, stderr } = this.#child;
    this.#streams = [stdout, stderr].filter((stream) => stream !== null);
    let reportRunaway = (): void => undefined;
    this.ranAway = new Promise((resolve) => {
      reportRunaway = resolve;
    });
    const listen = (name: StreamName, stream: Readable | null): void => {
      if (stream === null) return;
      this.#openStreams++;
      stream.on('data', (chunk: Buffer) => {
        this.#lastOutput = performance.now();
        const full = this.output.write(name, chunk);
        if (this.output.totalBytes > RUNAWAY_BYTES) {
          reportRunaway();
          void this.end();
        }
        start.onOutput?.(this.output);
        if (full === undefined) return;
        stream.pause();
        void full.then(() => stream.resume());
      });
      stream.on('error', () => undefined);
      stream.on('close', () => {
        this.#openStreams--;
        if (this.#openStreams === 0) this.#onClosed?.();
      });
    };
    listen('stdout', stdout);
    listen('stderr', stderr);
    this.exited = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    // Whoever waits sees the rejection; nobody waiting is no reason to end the process.
    this.exited.catch(() => undefined);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** After `exited`: waits for the rest of the output, bounded, and closes it. Later output is read and thrown away. */
  async drain(): Promise<void> {
    if (this.#openStreams > 0) {
      const started = performance.now();
      this.#lastOutput = Math.max(this.#lastOutput, started);
      await new Promise<void>((resolve) => {
        let timer: NodeJS.Timeout | undefined;
        const finish = (): void => {
          clearTimeout(timer);
          resolve();
        };
        const look = (): void => {
          const now = performance.now();
          if (now - this.#lastOutput >= QUIET_MS || now - started >= DRAIN_MS) finish();
          else timer = setTimeout(look, Math.min(this.#lastOutput + QUIET_MS, started + DRAIN_MS) - now + 1);
        };
        this.#onClosed = finish;
        look();
      });
    }
    await this.output.seal();
    this.release();
  }

  /** Ends the command and everything it started; resolves with what could not be ended. */
  end(): Promise<readonly LivingProcess[]> {
    this.#ending ??= endProcesses(this.#tree, this.#killTimes);
    this.#reportEnd();
    return this.#ending;
  }

  /** Resolves when `end` was called and has done what it can. */
  async ended(): Promise<void> {
    await this.#endCalled;
    await this.#ending;
  }

  /** What the command left running in its group after its shell has exited. */
  leftRunning(): Promise<readonly LivingProcess[]> {
    const { groupId } = this.#tree;
    return groupId > 1 && groupLives(groupId) ? livingProcesses(this.#tree) : Promise.resolve([]);
  }

  /** Resolves when the shell has exited and nothing that it started lives. */
  async gone(): Promise<CommandExit> {
    const exit = await this.exited;
    await untilGone(this.#tree);
    return exit;
  }

  /** Lets this program exit although the command, or something it started, goes on. Its pipes stay open, so nothing it writes fails. */
  release(): void {
    this.#child.unref();
    for (const stream of this.#streams) {
      if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
    }
  }
}
