import { spawn } from 'node:child_process';
import { after, idlyAfter, type MonotonicClock } from '../model/clock.js';
import { OUTPUT_CAP_BYTES, STDERR_CAP_BYTES } from './limits.js';
import { groupAlive, own, signalGroup } from './process-group.js';

export interface ProcessSpec {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: string;
  readonly timeoutMs: number;
  readonly clock: MonotonicClock;
  /** The first complete line of stdout, as soon as it is there. */
  readonly onFirstLine?: (line: string) => void;
}

export type ProcessEnd =
  | { readonly kind: 'exit'; readonly code: number | null; readonly stdout: string; readonly stderr: string; readonly overflow: boolean }
  | { readonly kind: 'timeout'; readonly ms: number }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly message: string };

export interface RunningProcess {
  /** Never rejects. */
  readonly end: Promise<ProcessEnd>;
  /** Ends the whole group; `end` settles as `cancelled`. */
  cancel(): void;
  /** Starts the time limit anew. */
  limit(ms: number): void;
}

/** From the polite signal to the one that cannot be ignored. */
const TERM_GRACE_MS = 500;
/** How long output is still read after the leader has gone while a child of its holds the pipes. */
const DRAIN_MS = 250;
const POLL_MS = 20;
const WATCH_MS = 1_000;
/** How often the drain is prolonged because output was still arriving. */
const DRAIN_ROUNDS = 4;

/**
 * Runs a program in a process group of its own. Its stdin gets the text and is closed; output is drained and kept up to a
 * cap; the time limit covers the whole group, children that outlive the leader included.
 */
export function runProcess(spec: ProcessSpec): RunningProcess {
  const { clock } = spec;
  const child = spawn(spec.file, [...spec.args], {
    cwd: spec.cwd,
    env: { ...spec.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  const disown = own(child);
  const stdout = new Capture(OUTPUT_CAP_BYTES, spec.onFirstLine);
  const stderr = new Capture(STDERR_CAP_BYTES);
  child.stdout.on('data', (chunk: Buffer) => stdout.add(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.add(chunk));
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    // A hook need not read its input (EPIPE), and a killed one breaks its pipes: neither is a failure of the hook.
    stream.on('error', () => {});
  }
  child.stdin.end(spec.stdin);

  let resolveEnd: (end: ProcessEnd) => void = () => {};
  const end = new Promise<ProcessEnd>((resolve) => {
    resolveEnd = resolve;
  });
  let ending = false;
  let offTimer = () => {};
  let offDrain = () => {};
  const settle = (result: ProcessEnd) => {
    offDrain();
    for (const stream of [child.stdout, child.stderr]) stream.destroy();
    resolveEnd(result);
  };

  const terminate = (result: ProcessEnd) => {
    if (ending) return;
    ending = true;
    offTimer();
    const { pid } = child;
    if (pid === undefined) return settle(result);
    signalGroup(pid, 'SIGTERM');
    endGroup(pid, clock, () => {
      disown();
      settle(result);
    });
  };
  let deadline = Number.POSITIVE_INFINITY;
  const limit = (ms: number) => {
    offTimer();
    deadline = clock.now() + ms;
    if (!ending) offTimer = after(clock, ms, () => terminate({ kind: 'timeout', ms }));
  };

  child.once('error', (error) => {
    if (ending) return;
    ending = true;
    offTimer();
    disown();
    settle({ kind: 'failed', message: `It could not be started: ${error.message}.` });
  });
  let exit: { readonly code: number | null } | undefined;
  const finish = () => {
    if (ending || exit === undefined) return;
    ending = true;
    offTimer();
    disown();
    settle({ kind: 'exit', code: exit.code, stdout: stdout.text(), stderr: stderr.text(), overflow: stdout.overflow });
    if (child.pid !== undefined) watchLeftovers(child.pid, clock, Math.max(0, deadline - clock.now()));
  };
  const drain = (rounds: number) => {
    const before = stdout.size;
    // One turn of the event loop more, so that output waiting in the pipe is read before silence is concluded.
    offDrain = after(clock, DRAIN_MS, () => setImmediate(() => (stdout.size > before && rounds > 0 ? drain(rounds - 1) : finish())));
  };
  child.once('exit', (code) => {
    exit = { code };
    drain(DRAIN_ROUNDS);
  });
  child.once('close', finish);
  limit(spec.timeoutMs);
  return { end, cancel: () => terminate({ kind: 'cancelled' }), limit };
}

/** Waits until a signalled group is gone, kills it after the grace, and goes on in any case shortly after. */
function endGroup(pid: number, clock: MonotonicClock, done: () => void): void {
  const start = clock.now();
  let killedAt: number | undefined;
  const look = () => {
    const now = clock.now();
    if (!groupAlive(pid) || (killedAt !== undefined && now - killedAt >= DRAIN_MS)) return done();
    if (killedAt === undefined && now - start >= TERM_GRACE_MS) {
      signalGroup(pid, 'SIGKILL');
      killedAt = now;
    }
    after(clock, POLL_MS, look);
  };
  after(clock, POLL_MS, look);
}

/**
 * What a leader that ended well left running may go on until the hook's time is over and is ended then. It does not keep
 * this process alive. Looking often keeps a recycled process id from being taken for the group.
 */
function watchLeftovers(pid: number, clock: MonotonicClock, remainingMs: number): void {
  if (!groupAlive(pid)) return;
  if (remainingMs <= 0) {
    signalGroup(pid, 'SIGTERM');
    endGroup(pid, clock, () => {});
    return;
  }
  const wait = Math.min(WATCH_MS, remainingMs);
  idlyAfter(clock, wait, () => watchLeftovers(pid, clock, remainingMs - wait));
}

/** Keeps the head of a stream and goes on reading, so that the writer never blocks. Decodes once, so no character is split. */
class Capture {
  overflow = false;
  private readonly chunks: Buffer[] = [];
  size = 0;
  private lineSeen = false;

  constructor(
    private readonly cap: number,
    private readonly onFirstLine?: (line: string) => void,
  ) {}

  add(chunk: Buffer): void {
    const room = this.cap - this.size;
    if (chunk.length > room) this.overflow = true;
    if (room > 0) {
      this.chunks.push(chunk.subarray(0, room));
      this.size += Math.min(chunk.length, room);
    }
    if (this.onFirstLine === undefined || this.lineSeen) return;
    const end = chunk.indexOf(0x0a);
    if (end === -1) return;
    this.lineSeen = true;
    const text = this.text();
    this.onFirstLine(text.slice(0, text.indexOf('\n')));
  }

  text(): string {
    return Buffer.concat(this.chunks, this.size).toString('utf8');
  }
}
