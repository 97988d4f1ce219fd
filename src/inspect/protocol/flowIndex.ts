import { countWhile } from './countWhile.js';
import type { ActorStarted, ActorStopped, FlowEvent, TransitionTaken } from './flowEvents.js';

/** What an actor was at one moment of the flow. */
export interface ActorMoment {
  /** How it began: its kind, name, parent and input. */
  readonly started: ActorStarted;
  /** Ids of all active states; empty for an actor that is no machine or has not entered its initial state. */
  readonly configuration: readonly string[];
  /** Ids of the active leaf states. */
  readonly leaves: readonly string[];
  /** Its newest transition by then; null before its first. */
  readonly lastTransition: TransitionTaken | null;
  /** Whether it was alive, and how it had ended if not. */
  readonly status: 'active' | ActorStopped['status'];
}

interface ActorLine {
  readonly started: ActorStarted;
  readonly transitions: TransitionTaken[];
  stopped: ActorStopped | null;
}

/**
 * Time travel: the state of any actor at any `seq`, by binary search over its own transitions, so that a jump in a
 * flow of a million events costs as much as a step. Only reads what was recorded; nothing is run again.
 */
export class FlowIndex {
  readonly #actors = new Map<string, ActorLine>();
  #lastSeq = -1;

  /** Number of the newest event taken; 0 before the first. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Takes the next event. Events must come in order of `seq`; one that was seen already is ignored. Returns whether it was new. */
  add(event: FlowEvent): boolean {
    if (event.seq <= this.#lastSeq) return false;
    this.#lastSeq = event.seq;
    if (event.type === 'actor.started') this.#actors.set(event.actor, { started: event, transitions: [], stopped: null });
    else if (event.type === 'transition') this.#actors.get(event.actor)?.transitions.push(event);
    else if (event.type === 'actor.stopped') {
      const line = this.#actors.get(event.actor);
      if (line && line.stopped === null) line.stopped = event;
    }
    return true;
  }

  /** The actor at the moment right after `seq`; undefined when it had not started by then. */
  at(actor: string, seq: number): ActorMoment | undefined {
    const line = this.#actors.get(actor);
    if (!line || line.started.seq > seq) return undefined;
    const last = line.transitions[countWhile(line.transitions, (taken) => taken.seq <= seq) - 1] ?? null;
    return {
      started: line.started,
      configuration: last?.configuration ?? [],
      leaves: last?.to ?? [],
      lastTransition: last,
      status: line.stopped && line.stopped.seq <= seq ? line.stopped.status : 'active',
    };
  }

  /** Ids of all actors that had started by `seq`, in order of their start. */
  actorsAt(seq: number): string[] {
    return [...this.#actors.values()].filter((line) => line.started.seq <= seq).map((line) => line.started.actor);
  }
}
