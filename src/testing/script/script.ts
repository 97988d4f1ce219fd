import type { JsonObject } from '../../json.js';
import { ScriptError } from './errors.js';
import { deepFreeze } from './freeze.js';
import { checkTurn } from './play.js';
import type { Turn } from './steps.js';

/** A request as the scripted model got it. */
export interface ScriptedRequest {
  /** Position among the requests that were answered from the script, from 1. */
  readonly n: number;
  /** The request body; frozen, so that a later change by the client is a TypeError and not a wrong recording. */
  readonly body: JsonObject;
  /** Header values by lower-case name; empty for an in-memory model. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The answers: one turn a request, in order; or a function that decides by request. */
export type Script = readonly Turn[] | ((request: ScriptedRequest, n: number) => Turn | Promise<Turn>);

/** A step that was never played. Numbers count from 1. */
export interface UnplayedStep {
  /** Number of the turn. */
  readonly turn: number;
  /** Number of the step within its turn. */
  readonly step: number;
  /** What the step would have done. */
  readonly kind: string;
}

/** A request that got an error, because it is not one the API would accept or because the script had no answer. */
export interface RefusedRequest {
  /** Position among all requests, from 1. */
  readonly request: number;
  /** HTTP status that the server would send. */
  readonly status: number;
  /** Why, in the API's words. */
  readonly message: string;
}

/** Hands out the turns of a script and remembers what was played of them. */
export class ScriptBook {
  private readonly taken: ScriptedRequest[] = [];
  private readonly progress: { readonly turn: Turn; readonly number: number; played: number }[] = [];
  private readonly refusedRequests: RefusedRequest[] = [];
  private arrived = 0;

  /** Throws a {@link ScriptError} at once for turns that contradict themselves. */
  constructor(private readonly script: Script) {
    if (typeof script !== 'function') for (const [at, turn] of script.entries()) checkTurn(turn, at + 1);
  }

  get requests(): readonly ScriptedRequest[] {
    return this.taken;
  }

  get refusals(): readonly RefusedRequest[] {
    return this.refusedRequests;
  }

  /** Counts an arriving request; the number is for {@link refuse}. */
  arrive(): number {
    this.arrived += 1;
    return this.arrived;
  }

  refuse(request: number, status: number, message: string): void {
    this.refusedRequests.push({ request, status, message });
  }

  /** The turn for this request and the means to report its progress; undefined when the script is at its end. */
  async take(body: JsonObject, headers: Readonly<Record<string, string>>): Promise<TakenTurn | undefined> {
    const n = this.taken.length + 1;
    const request = deepFreeze({ n, body, headers });
    if (typeof this.script !== 'function' && this.script[n - 1] === undefined) return undefined;
    this.taken.push(request);
    const turn = typeof this.script === 'function' ? await this.script(request, n) : (this.script[n - 1] ?? []);
    checkTurn(turn, n);
    const entry = { turn, number: n, played: 0 };
    this.progress.push(entry);
    return {
      turn,
      number: n,
      played: (step) => {
        entry.played = Math.max(entry.played, step);
      },
    };
  }

  /** Steps of turns that were asked for but not played to their end, and all steps of turns that nobody asked for. */
  unconsumed(): readonly UnplayedStep[] {
    const list: UnplayedStep[] = [];
    const add = (turn: Turn, number: number, from: number): void => {
      for (const [at, { kind }] of turn.entries()) if (at >= from) list.push({ turn: number, step: at + 1, kind });
    };
    for (const { turn, number, played } of this.progress) add(turn, number, played);
    if (typeof this.script !== 'function') {
      for (const [at, turn] of this.script.entries()) if (at >= this.taken.length) add(turn, at + 1, 0);
    }
    return list;
  }

  /** Throws a {@link ScriptError} that lists refused requests and unplayed steps; nothing to list, nothing thrown. */
  assertConsumed(): void {
    const refused = this.refusals.map(({ request, status, message }) => `request ${request} was refused (${status}): ${message}`);
    const left = this.unconsumed().map(({ turn, step, kind }) => `turn ${turn}, step ${step} (${kind}) was not played`);
    if (refused.length + left.length > 0)
      throw new ScriptError(['The script was not played as written:', ...refused, ...left].join('\n  '));
  }

  get length(): number | undefined {
    return typeof this.script === 'function' ? undefined : this.script.length;
  }
}

export interface TakenTurn {
  readonly turn: Turn;
  readonly number: number;
  /** Says that the steps up to this one (from 1) were played. */
  played(step: number): void;
}
