import { countWhile } from '../../../../src/inspect/protocol/countWhile.js';
import type { ActorStarted, FlowEvent, FlowHeader } from '../../../../src/inspect/protocol/flowEvents.js';
import { FlowIndex } from '../../../../src/inspect/protocol/flowIndex.js';
import type { MachineGraph } from '../../../../src/inspect/protocol/graph.js';
import { Actors } from './actors.js';
import { type Call, foldCall, newCall } from './calls.js';
import { Interner } from './interner.js';
import { Lanes } from './lanes.js';

export interface Hole {
  readonly from: number;
  readonly to: number;
  readonly reason: string;
}

/** The flow as the page knows it: every event in order, and what they add up to. Mutated in place; readers follow `version`. */
export class Flow {
  header: FlowHeader | null = null;
  readonly events: FlowEvent[] = [];
  readonly calls: Call[] = [];
  readonly problems: FlowEvent[] = [];
  readonly #tree = new Actors();
  readonly actors = this.#tree.byId;
  readonly roots = this.#tree.roots;
  readonly graphs = new Map<string, MachineGraph>();
  readonly holes: Hole[] = [];
  readonly activeCalls = new Set<Call>();
  index = new FlowIndex();
  lastT = 0;
  laneCount = 0;
  modelWaitsSince: number | null = null;
  readonly #calls = new Map<string, Call>();
  readonly #callsByActor = new Map<string, Call>();
  readonly #callEvents = new Map<string, FlowEvent[]>();
  #interner = new Interner();
  #lanes = new Lanes();

  get lastSeq(): number {
    return this.index.lastSeq;
  }
  get firstSeq(): number {
    return this.events[0]?.seq ?? 0;
  }
  call(toolUseId: string): Call | undefined {
    return this.#calls.get(toolUseId);
  }
  callOfActor(actor: string): Call | undefined {
    return this.#callsByActor.get(actor);
  }
  eventsOfCall(toolUseId: string): readonly FlowEvent[] {
    return this.#callEvents.get(toolUseId) ?? [];
  }

  /** The call as it was right after `seq`; the live one when null. */
  callAt(call: Call, seq: number | null): Call {
    if (seq === null || call.lastSeq <= seq) return call;
    const then = newCall(call.toolUseId, call.index, call.startSeq, call.startT, call.transcript);
    Object.assign(then, {
      actor: call.actor,
      tool: call.tool,
      label: call.label,
      turn: call.turn,
      agent: call.agent,
      lane: call.lane,
      at: call.at,
    });
    for (const event of this.eventsOfCall(call.toolUseId)) {
      if (event.seq > seq) break;
      foldCall(then, event);
    }
    return then;
  }

  /** Read from a transcript, which tells of calls and results alone. */
  get isTranscript(): boolean {
    return this.header?.source !== undefined;
  }
  /** The event of that number, or the last one before it. */
  eventAt(seq: number): FlowEvent | undefined {
    return this.events[this.positionOf(seq)];
  }
  /** Position in `events` of the last event up to `seq`; -1 before the first. */
  positionOf(seq: number): number {
    return lastUpTo(this.events, seq);
  }
  /** The actor an event belongs to; null for one that belongs to the flow as a whole. */
  actorOf(event: FlowEvent): string | null {
    if ('actor' in event && event.actor !== undefined) return event.actor;
    if ('toolUseId' in event && event.toolUseId !== undefined) return this.#calls.get(event.toolUseId)?.actor ?? null;
    return null;
  }

  reset(): void {
    this.header = null;
    for (const list of [this.events, this.calls, this.problems, this.holes]) list.length = 0;
    for (const map of [this.#calls, this.#callsByActor, this.#callEvents, this.graphs]) map.clear();
    this.#tree.clear();
    this.activeCalls.clear();
    this.index = new FlowIndex();
    this.#interner = new Interner();
    this.#lanes = new Lanes();
    this.lastT = 0;
    this.laneCount = 0;
    this.modelWaitsSince = null;
  }

  /** Takes the next event. One that was seen already is ignored. */
  add(received: FlowEvent): void {
    const event = this.#interner.event(received);
    if (!this.index.add(event)) return;
    if (event.type === 'header') {
      this.header = event;
      return;
    }
    this.events.push(event);
    this.lastT = Math.max(this.lastT, event.t);
    this.#fold(event);
  }

  /** Events that nobody has any more. */
  addHole(hole: Hole): void {
    if (hole.to >= hole.from) this.holes.push(hole);
  }

  #fold(event: FlowEvent): void {
    switch (event.type) {
      case 'actor.started':
        this.#start(event);
        return;
      case 'actor.stopped':
        this.#tree.stop(event);
        break;
      case 'transition': {
        const actor = this.actors.get(event.actor);
        if (actor) actor.leaves = event.to;
        const call = this.#callsByActor.get(event.actor);
        if (call) this.#foldCall(call, event);
        return;
      }
      case 'context':
        this.actors.get(event.actor)?.contexts.push(event);
        return;
      case 'model':
        this.modelWaitsSince = event.phase === 'request' ? event.t : null;
        if (event.error !== undefined) this.problems.push(event);
        return;
      case 'error':
        this.problems.push(event);
        this.#tree.mark(event.actor, 1, 0);
        return;
      case 'gap':
        this.addHole(event);
        return;
      case 'note':
        if (event.level === 'warning') this.problems.push(event);
        return;
      case 'decision':
      case 'hook':
      case 'progress':
      case 'result':
      case 'approval':
        break;
      default:
        return;
    }
    const call =
      event.type === 'actor.stopped'
        ? this.#callsByActor.get(event.actor)
        : event.toolUseId === undefined
          ? undefined
          : (this.#calls.get(event.toolUseId) ?? this.#newCall(event.toolUseId, event));
    if (call) this.#foldCall(call, event);
    if (event.type === 'hook' && event.run.status !== 'ok' && event.run.status !== 'blocked') this.problems.push(event);
    if (event.type === 'result' && (event.isError || event.outcome === 'denied')) {
      this.problems.push(event);
      if (call?.actor) this.#tree.mark(call.actor, 1, 0);
    }
    if (event.type === 'approval' && call?.actor) this.#tree.mark(call.actor, 0, event.phase === 'asked' ? 1 : -1);
  }

  #foldCall(call: Call, event: FlowEvent): void {
    const before = call.endT;
    foldCall(call, event);
    this.#callEvents.get(call.toolUseId)?.push(event);
    if (before !== null || call.endT === null) return;
    this.#lanes.leave(call.lane, call.endT);
    this.activeCalls.delete(call);
  }

  #newCall(toolUseId: string, event: FlowEvent): Call {
    const call = newCall(toolUseId, this.calls.length, event.seq, event.t, this.isTranscript);
    if ('toolName' in event) call.tool = event.toolName;
    call.lane = this.#lanes.take(event.t);
    this.laneCount = this.#lanes.count;
    this.calls.push(call);
    this.activeCalls.add(call);
    this.#calls.set(toolUseId, call);
    this.#callEvents.set(toolUseId, []);
    return call;
  }

  #start(event: ActorStarted): void {
    const actor = this.#tree.start(event);
    if (event.kind !== 'toolCall') return;
    const call = this.#calls.get(event.toolUseId ?? '') ?? this.#newCall(event.toolUseId ?? event.actor, event);
    call.actor = event.actor;
    call.tool = event.name;
    call.label = event.label;
    call.at = event.at;
    call.input ??= event.input;
    call.agent = this.#tree.agentOf(actor);
    const turn = this.#tree.countCall(actor);
    if (call.turn === 0) call.turn = turn;
    this.#callsByActor.set(event.actor, call);
  }
}

/** Position of the last event up to `seq` among events in order; -1 before the first. */
export function lastUpTo(events: readonly FlowEvent[], seq: number): number {
  return countWhile(events, (event) => event.seq <= seq) - 1;
}
