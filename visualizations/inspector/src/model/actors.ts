import { isBelow } from '../../../../src/inspect/protocol/actorPath.js';
import type { ActorKind, ActorStarted, ActorStopped, BodyRef, ContextChanged } from '../../../../src/inspect/protocol/flowEvents.js';

/** An actor in the tree. */
export interface Actor {
  readonly id: string;
  readonly parent: string | null;
  readonly kind: ActorKind;
  readonly machine: string | null;
  readonly name: string;
  readonly label: string;
  readonly toolUseId: string | undefined;
  readonly startSeq: number;
  readonly startT: number;
  readonly children: string[];
  /** Children that have not ended; made with the first child, since most actors never have one. */
  activeChildren: Set<string> | null;
  /** Children that have ended with a problem in them. */
  troubled: number;
  readonly input: BodyRef | undefined;
  /** Number among its kind within the session: turn 3, query 2. */
  readonly ordinal: number;
  endT: number | null;
  endSeq: number | null;
  status: 'active' | ActorStopped['status'];
  output: BodyRef | undefined;
  error: string | undefined;
  leaves: readonly string[];
  /** In this actor and all below it. */
  problems: number;
  waiting: number;
  calls: number;
  contexts: ContextChanged[];
}

/** The actors of a flow as a tree, with what went wrong or waits below each. Mutated in place. */
export class Actors {
  readonly byId = new Map<string, Actor>();
  readonly roots: string[] = [];
  readonly #ordinals = new Map<string, number>();

  clear(): void {
    this.byId.clear();
    this.roots.length = 0;
    this.#ordinals.clear();
  }

  start(event: ActorStarted): Actor {
    const parent = event.parent === null ? undefined : this.byId.get(event.parent);
    const ordinalKey = `${this.#sessionOf(parent)?.id ?? ''}|${event.kind}`;
    const ordinal = (this.#ordinals.get(ordinalKey) ?? 0) + 1;
    this.#ordinals.set(ordinalKey, ordinal);
    const actor: Actor = {
      id: event.actor,
      parent: parent ? event.parent : null,
      kind: event.kind,
      machine: event.machine,
      name: event.name,
      label: event.label,
      toolUseId: event.toolUseId,
      startSeq: event.seq,
      startT: event.t,
      children: [],
      activeChildren: null,
      troubled: 0,
      input: event.input,
      ordinal,
      endT: null,
      endSeq: null,
      status: 'active',
      output: undefined,
      error: undefined,
      leaves: [],
      problems: 0,
      waiting: 0,
      calls: 0,
      contexts: [],
    };
    this.byId.set(event.actor, actor);
    if (parent) {
      parent.children.push(event.actor);
      parent.activeChildren ??= new Set();
      parent.activeChildren.add(event.actor);
    } else this.roots.push(event.actor);
    return actor;
  }

  stop(event: ActorStopped): void {
    const actor = this.byId.get(event.actor);
    if (actor?.status !== 'active') return;
    actor.status = event.status;
    actor.endT = event.t;
    actor.endSeq = event.seq;
    actor.output = event.output;
    actor.error = event.error;
    const parent = this.#parentOf(actor);
    if (parent?.activeChildren?.delete(actor.id) && (actor.problems > 0 || actor.status === 'error')) parent.troubled++;
  }

  /** Marks an actor and everything above it, so that a problem deep in a folded tree is seen from the top. */
  mark(id: string, problems: number, waiting: number): void {
    for (let at = this.byId.get(id); at; at = this.#parentOf(at)) {
      at.problems += problems;
      at.waiting = Math.max(0, at.waiting + waiting);
    }
  }

  /** Counts a call on everything above it. Returns the turn it belongs to; 0 where there is none. */
  countCall(call: Actor): number {
    let turn = 0;
    for (let at = this.#parentOf(call); at; at = this.#parentOf(at)) {
      if (at.kind === 'turn' && turn === 0) turn = at.ordinal;
      at.calls++;
    }
    return turn;
  }

  /** Name of the subagent that an actor works for; empty for the main session. */
  agentOf(actor: Actor): string {
    const session = this.#sessionOf(this.#parentOf(actor));
    return session && session.parent !== null ? agentName(session) : '';
  }

  #sessionOf(actor: Actor | undefined): Actor | undefined {
    for (let at = actor; at; at = this.#parentOf(at)) if (at.kind === 'session') return at;
    return undefined;
  }
  #parentOf(actor: Actor): Actor | undefined {
    return actor.parent === null ? undefined : this.byId.get(actor.parent);
  }
}

/** What a subagent's session is called. */
export const agentName = ({ label, name }: Pick<Actor, 'label' | 'name'>): string => (label === '' ? name : label);

/** Whether an actor is `scope` or lies below it. A null scope holds everything. */
export const isWithin = (actor: string | null, scope: string | null): boolean =>
  scope === null || (actor !== null && isBelow(actor, scope));
