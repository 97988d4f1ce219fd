import { createHash, randomUUID } from 'node:crypto';
import * as restate from '@restatedev/restate-sdk';
import type { Clock } from '../model/clock.js';
import { messageOf } from '../tool/errors.js';
import { isLive, runLive } from './live.js';
import { whyUnwritable } from './sizes.js';

/** What the journal holds of a step: its answer, or what it threw, and when. */
type Written<T> = { readonly at: number; readonly value: T } | { readonly at: number; readonly error: string };
interface Arrival {
  readonly key: number;
  readonly value?: unknown;
  readonly error?: unknown;
}
interface Pending {
  readonly promise: restate.RestatePromise<Arrival>;
  /** Whether a port waits for it, or may; else a machine does. */
  readonly ofPort: boolean;
  readonly deliver: (arrival: Arrival) => void;
}

export interface StepOptions {
  readonly signal?: AbortSignal;
  readonly ofPort?: boolean;
}

/** A journal entry that waits longer than this without a step of its own is a mistake of ours. */
const LONGEST_LOCAL_WORK_MS = 120_000;
const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * One passage of a session through the engine. Whatever the session asks of the world is a step in Restate's journal; the answers come
 * back one at a time, in the order in which the journal has them, and between two of them everything is quiet. So the order of the
 * journal alone decides what the machines do, and replaying it gives the same session.
 */
export class DurableFlow {
  /** Names this attempt; deliberately outside the journal. */
  readonly attempt = randomUUID();
  /** How many answers have been delivered: two moments with the same count have nothing between them. */
  deliveries = 0;
  /** Calls whose tool only waits for other things that are written down. */
  inlineCalls = 0;
  /** Questions and tasks that wait for a message. */
  waitsForMessages: () => number = () => 0;

  private readonly pending = new Map<number, Pending>();
  private readonly ended = new AbortController();
  private keys = 0;
  private ids = 0;
  private ports = 0;

  constructor(
    private readonly context: restate.ObjectContext,
    private time: number,
  ) {
    context.request().attemptCompletedSignal.addEventListener('abort', () => this.ended.abort('stopped'), { once: true });
  }

  /** Fires when this attempt is over, whoever goes on. */
  get attemptEnded(): AbortSignal {
    return this.ended.signal;
  }

  /** The time of the latest answer: the same in every attempt. Live work sees the real time. */
  readonly now = (): number => (isLive() ? Date.now() : this.time);
  /** An id that is the same in every attempt. */
  readonly newId = (): string => {
    if (isLive()) return randomUUID();
    const hex = createHash('sha256')
      .update(`${this.context.request().id}:${this.ids++}`)
      .digest('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  };
  /** Moves the time on to that of a message. */
  advance(at: number): void {
    this.time = Math.max(this.time, at);
  }

  /**
   * Does `work` once and writes its answer down; a later attempt gets the answer without the work. Work that an attempt did not finish
   * is done again by the next. A signal that fires because its actor was stopped drops the answer.
   */
  step<T>(id: string, work: (signal: AbortSignal) => Promise<T>, { signal, ofPort = true }: StepOptions = {}): Promise<T> {
    if (isLive()) return work(signal ?? this.ended.signal);
    const live = signal === undefined ? this.ended.signal : AbortSignal.any([signal, this.ended.signal]);
    const run = this.context.run(id, () => runLive(() => written(() => work(live))));
    return new Promise<T>((resolve, reject) => {
      const key = this.track(run, ofPort, ({ value, error }) => {
        signal?.removeEventListener('abort', drop);
        if (error !== undefined) return reject(error);
        if (!isWritten<T>(value)) return reject(new Error(`The journal entry ${id} is not one of this version.`));
        this.advance(value.at);
        if ('error' in value) reject(new Error(value.error));
        else resolve(value.value);
      });
      const drop = () => {
        if (signal?.reason !== 'stopped' || !this.pending.delete(key)) return;
        reject(new Error('Nobody waits for the answer any more.'));
      };
      if (signal?.aborted) drop();
      else signal?.addEventListener('abort', drop);
    });
  }

  /** Timers that outlive the worker. */
  readonly clock: Clock = {
    setTimeout: (fire, ms) => {
      if (isLive()) return setTimeout(fire, ms);
      const due = this.time + ms;
      return this.track(this.context.sleep(Math.max(1, Math.ceil(ms))), true, () => {
        this.advance(due);
        fire();
      });
    },
    clearTimeout: (id) => {
      if (typeof id === 'number') this.pending.delete(id);
      else if (id instanceof Object && Symbol.toPrimitive in id) clearTimeout(Number(id));
    },
  };

  /** Waits for a message to this invocation, by the name its sender gives. */
  message(name: string, deliver: (value: unknown) => void): void {
    this.track(this.context.signal<unknown>(name), false, ({ value }) => deliver(value));
  }

  /** Counts a port until it has answered. */
  watch(answer: Promise<unknown>): void {
    if (isLive()) return;
    this.ports++;
    const done = () => {
      this.ports--;
    };
    answer.then(done, done);
  }

  /** Resolves when nothing moves any more but what the journal waits for. */
  async quiet(): Promise<void> {
    const since = performance.now();
    for (let still = 0, spins = 0; still < 2; spins++) {
      if (spins < 50) await tick();
      else await new Promise((resolve) => setTimeout(resolve, 2));
      still = this.everyPortWaits() ? still + 1 : 0;
      if (performance.now() - since > LONGEST_LOCAL_WORK_MS) throw new Error('A port waits for something that is not written down.');
    }
  }

  /** Delivers the next answer in the order of the journal. */
  async deliverNext(): Promise<void> {
    const arrival = await restate.RestatePromise.race([...this.pending.values()].map(({ promise }) => promise));
    const pending = this.pending.get(arrival.key);
    if (!pending) return;
    this.pending.delete(arrival.key);
    this.deliveries++;
    pending.deliver(arrival);
  }

  private track<T>(promise: restate.RestatePromise<T>, ofPort: boolean, deliver: (arrival: Arrival) => void): number {
    const key = ++this.keys;
    this.pending.set(key, {
      promise: promise.map((value, error) => (error === undefined ? { key, value } : { key, error })),
      ofPort,
      deliver,
    });
    return key;
  }

  private everyPortWaits(): boolean {
    let steps = 0;
    for (const { ofPort } of this.pending.values()) if (ofPort) steps++;
    return this.ports <= steps + this.inlineCalls + this.waitsForMessages();
  }
}

/** Never throws: what work throws is its answer, so that the engine does not repeat it; neither does what it cannot write down. */
async function written<T>(work: () => Promise<T>): Promise<Written<T | null>> {
  try {
    const value = await work();
    const why = whyUnwritable(value);
    if (why !== undefined) return { at: Date.now(), error: `The answer could not be written down: ${why}.` };
    return { at: Date.now(), value: value === undefined ? null : value };
  } catch (error) {
    return { at: Date.now(), error: messageOf(error) };
  }
}

const isWritten = <T>(value: unknown): value is Written<T> =>
  typeof value === 'object' && value !== null && 'at' in value && ('value' in value || 'error' in value);
