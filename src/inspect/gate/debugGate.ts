import type { AnyActorLogic, AnyActorRef, AnyEventObject, AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { type Clock, type MonotonicClock, systemClock } from '../../model/clock.js';
import { isMachine } from '../actorRefs.js';
import type { FlowLog } from '../flowLog.js';
import { isBelow } from '../protocol/actorPath.js';
import type { FlowEvent } from '../protocol/flowEvents.js';
import type { Breakpoint, HeldEvent, HeldState } from '../protocol/rpc.js';
import { BreakpointSet } from './breakpointSet.js';
import { entered, newStates } from './foresight.js';
import { FreezingClock } from './freezingClock.js';
import { Grace } from './grace.js';
import { type Held, HeldEvents } from './heldEvents.js';

/** What the gate needs of an inspector: names for actors, and a log to tell and to hear. */
export interface GateWatch {
  readonly log: FlowLog;
  pathOf(ref: object): string | undefined;
}
/** Clock, breakpoints and limits of a gate. */
export interface DebugGateOptions {
  /** Clock under the freezing one. Default: the system's. */
  readonly clock?: MonotonicClock;
  /** Breakpoints set in code: a page may switch them off, not remove them. Default none. */
  readonly breakpoints?: readonly Breakpoint[];
  /** An event that ends a pause, because the flow could not end otherwise. Default: an abort that a person or a closing session asked for. */
  readonly endsPause?: (event: AnyEventObject) => boolean;
}

/**
 * Pause, step and breakpoints on public XState API alone: a wrapper around machine logic that holds events before
 * `transition`, and a clock whose `after` timers stand still. Create it with the session and give the actor
 * `gate.instrument(machine)` and `gate.clock`.
 *
 * Macrosteps are atomic. Only machines are held: a child process or a model stream that runs goes on, and its
 * answer waits at the machine that asked. Breakpoints `before` a state evaluate guards once more, so guards must be pure.
 */
export class DebugGate {
  /** For `createActor`: its timers stand still while the flow is paused. */
  readonly clock: Clock;
  readonly #timers: FreezingClock;
  readonly #base: MonotonicClock;
  readonly #endsPause: (event: AnyEventObject) => boolean;
  readonly #instrumented = new WeakMap<object, AnyStateMachine>();
  readonly #exempt = new Set<string>();
  readonly #listeners = new Set<() => void>();
  readonly #breakpoints: BreakpointSet;
  readonly #held = new HeldEvents();
  #paused = false;
  #why: HeldState['why'] = null;
  #letNextThrough = 0;
  #watch: GateWatch | undefined;
  #grace: Grace | undefined;

  constructor(options: DebugGateOptions = {}) {
    this.#base = options.clock ?? systemClock;
    this.#timers = new FreezingClock(this.#base);
    this.clock = this.#timers;
    this.#breakpoints = new BreakpointSet(options.breakpoints ?? []);
    this.#endsPause = options.endsPause ?? isPersonsAbort;
  }

  /** The machine and every machine named in its `actors`, at any depth, behind this gate. Once per machine, not per actor. */
  instrument<M extends AnyStateMachine>(machine: M): M;
  instrument(machine: AnyStateMachine): AnyStateMachine {
    const known = this.#instrumented.get(machine);
    if (known) return known;
    const actors: Record<string, AnyActorLogic> = {};
    for (const [name, logic] of Object.entries<unknown>(machine.implementations.actors)) {
      if (isMachine(logic)) actors[name] = this.instrument(logic);
    }
    const provided = Object.keys(actors).length > 0 ? machine.provide({ actors }) : machine;
    const wrapped: AnyStateMachine = Object.create(provided);
    const transition = provided.transition.bind(wrapped);
    wrapped.transition = (snapshot, event, scope) => this.#transition(provided, transition, snapshot, event, scope);
    this.#instrumented.set(machine, wrapped);
    this.#instrumented.set(wrapped, wrapped);
    return wrapped;
  }

  /** @internal Called by the inspector; a gate without one still pauses and steps. Returns how to let go. */
  watch(watch: GateWatch): () => void {
    this.#watch = watch;
    const stop = watch.log.listen((event) => this.#observe(event));
    return () => {
      stop();
      if (this.#watch === watch) this.#watch = undefined;
    };
  }

  /** @internal Whether the snapshot XState announces now is but the echo of an event that was held. */
  isHeld(ref: object, event: object): boolean {
    return this.#held.isLast(ref, event);
  }
  /** @internal Whether this event is one that was held before and is let go now. */
  isRelease(ref: object, event: object): boolean {
    return this.#held.isReleasing(ref, event);
  }

  /** Whether events are held. */
  get paused(): boolean {
    return this.#paused;
  }
  /** Every breakpoint, set in code or on a page. */
  get breakpoints(): readonly Breakpoint[] {
    return this.#breakpoints.list;
  }
  /** What is held at the moment, and why. */
  get state(): HeldState {
    return {
      paused: this.#paused,
      why: this.#why,
      held: this.#held.list.map((held) => this.#describe(held)),
      frozenTimers: this.#paused ? this.#timers.size : 0,
      resumesInMs: this.#grace?.remaining ?? null,
    };
  }

  /** Hears when `state` or the breakpoints have changed. Returns how to stop listening. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Holds every event that comes from now on. `by` is who did it, for the flow's account. */
  pause(by = 'code'): void {
    this.#pause({ kind: 'manual', by });
  }

  /** Lets held events go in the order in which they came, and timers go on. */
  resume(by = 'code'): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#why = null;
    this.#letNextThrough = 0;
    this.#exempt.clear();
    this.#tell('resumed', by);
    this.#timers.thaw();
    this.#releaseAll();
    this.#changed();
  }

  /** Lets the oldest held event go, of this actor if given; with none held, the next one that comes. */
  step(options: { readonly actor?: string; readonly by?: string } = {}): void {
    if (!this.#paused) return;
    const held = this.#held.list.find((candidate) => options.actor === undefined || this.#path(candidate.self) === options.actor);
    if (held) this.#release(held, options.by ?? 'code');
    else this.#letNextThrough++;
    this.#changed();
  }

  /** Lets an actor and all below it run on while the rest stays paused. */
  runToEnd(actor: string, by = 'code'): void {
    if (!this.#paused) return;
    this.#exempt.add(actor);
    for (const held of this.#held.list.filter((candidate) => this.#isExempt(candidate.self))) this.#release(held, by);
    this.#changed();
  }

  /** Replaces the breakpoints of pages. Those set in code stay; a page may only switch them on and off. */
  setBreakpoints(wanted: readonly Breakpoint[]): void {
    this.#breakpoints.replace(wanted);
    this.#changed();
  }

  /** @internal From now on a pause ends by itself `ms` after the last controlling page has gone, so that a closed tab hangs nobody. */
  resumeWhenAlone(ms: number): void {
    this.#grace = new Grace(this.#base, ms, () => this.resume('grace'));
    this.#grace.watch(this.#paused);
  }
  /** @internal */
  setControllers(count: number): void {
    this.#grace?.setControllers(count, this.#paused);
  }
  /** @internal No server is left that pages could control the flow through: a pause must not outlive it. */
  abandon(): void {
    this.#grace?.cancel();
    this.#grace = undefined;
    this.resume('grace');
  }

  #transition(
    machine: AnyStateMachine,
    proceed: AnyStateMachine['transition'],
    snapshot: AnyMachineSnapshot,
    event: AnyEventObject,
    scope: Parameters<AnyStateMachine['transition']>[2],
  ): AnyMachineSnapshot {
    const self: AnyActorRef = scope.self;
    this.#held.forgetLast();
    if (event.type === 'xstate.stop') {
      this.#forget(self);
      return proceed(snapshot, event, scope);
    }
    if (!this.#mayPass(machine, self, snapshot, event)) return snapshot;
    const next = proceed(snapshot, event, scope);
    const hit =
      this.#paused || next === snapshot ? undefined : this.#breakpoints.afterEntering(this.#path(self), () => newStates(snapshot, next));
    if (hit) this.#hit(self, hit);
    return next;
  }

  #mayPass(machine: AnyStateMachine, self: AnyActorRef, snapshot: AnyMachineSnapshot, event: AnyEventObject): boolean {
    if (this.#held.arrive(self, event)) return true;
    if (this.#paused && this.#endsPause(event)) {
      this.#hold(machine, self, snapshot, event);
      // Held first and let go with the others, so that every actor still gets its events in order.
      queueMicrotask(() => this.resume('abort'));
      return false;
    }
    if (this.#isExempt(self)) return true;
    const waiting = this.#held.waitsAt(self);
    if (!this.#paused && !waiting) {
      const hit = this.#breakpoints.beforeEvent(this.#path(self), event.type, () => entered(machine, snapshot, event));
      if (!hit) return true;
      this.#hit(self, hit);
    } else if (this.#letNextThrough > 0 && !waiting) {
      this.#letNextThrough--;
      return true;
    }
    this.#hold(machine, self, snapshot, event);
    return false;
  }

  #hold(machine: AnyStateMachine, self: AnyActorRef, snapshot: AnyMachineSnapshot, event: AnyEventObject): void {
    this.#held.hold({ self, event, t: this.#watch?.log.elapsed ?? 0, next: entered(machine, snapshot, event) });
    this.#tell('held', this.#why?.by ?? 'code', self, event.type);
    this.#changed();
  }

  #release(held: Held, by: string): void {
    if (!this.#held.take(held)) return;
    this.#tell('released', by, held.self, held.event.type);
    this.#held.send(held);
  }

  #releaseAll(): void {
    // An event let go may hit a breakpoint: then the rest stays.
    for (let held = this.#held.oldest; held && !this.#paused; held = this.#held.oldest) this.#release(held, 'resume');
  }

  #forget(self: AnyActorRef): void {
    this.#exempt.delete(this.#path(self));
    this.#held.forget(self);
  }

  #hit(self: AnyActorRef, hit: Breakpoint): void {
    const state = hit.on === 'state' ? { state: hit.state } : {};
    this.#pause({ kind: 'breakpoint', by: hit.id, actor: this.#path(self), ...state });
  }

  /** What the domain says may hit a breakpoint too: the pause takes hold at the next event. */
  #observe(event: FlowEvent): void {
    const actor = this.#breakpoints.actorOf(event);
    const hit = this.#breakpoints.onFlowEvent(event);
    if (hit && !this.#paused) this.#pause({ kind: 'breakpoint', by: hit.id, ...(actor === undefined ? {} : { actor }) });
  }

  #pause(why: NonNullable<HeldState['why']>): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#why = why;
    this.#timers.freeze();
    if (why.kind === 'breakpoint')
      this.#watch?.log.put({
        type: 'control',
        action: 'breakpoint',
        by: 'breakpoint',
        breakpoint: why.by,
        ...(why.actor === undefined ? {} : { actor: why.actor }),
      });
    this.#tell('paused', why.kind === 'manual' ? why.by : 'breakpoint');
    this.#changed();
  }

  #isExempt(self: AnyActorRef): boolean {
    if (this.#exempt.size === 0) return false;
    const exempt = [...this.#exempt];
    // By name as well: the session of a subagent is a system of its own, shown below the call that it works for.
    for (let at: AnyActorRef | undefined = self; at; at = at._parent) {
      const path = this.#path(at);
      if (exempt.some((actor) => isBelow(path, actor))) return true;
    }
    return false;
  }

  #path(ref: AnyActorRef): string {
    return this.#watch?.pathOf(ref) ?? ref.id;
  }

  #describe(held: Held): HeldEvent {
    const body = Object.keys(held.event).length > 1 ? this.#watch?.log.bodies.put(held.event) : undefined;
    const { id, t, next } = held;
    return { id, actor: this.#path(held.self), event: held.event.type, t, ...(body ? { body } : {}), next };
  }

  #tell(action: 'paused' | 'resumed' | 'held' | 'released', by: string, self?: AnyActorRef, event?: string): void {
    const actor = self ? this.#path(self) : undefined;
    this.#watch?.log.put({
      type: 'control',
      action,
      by,
      ...(actor === undefined ? {} : { actor }),
      ...(event === undefined ? {} : { event }),
    });
  }

  #changed(): void {
    this.#grace?.watch(this.#paused);
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch {
        if (this.#watch) this.#watch.log.faults++;
      }
    }
  }
}

/** An abort by which a person or the end of the session wants the flow to end: it must not wait behind a pause. */
function isPersonsAbort(event: AnyEventObject): boolean {
  return event.type === 'abort' && (event.reason === 'userInterrupt' || event.reason === 'sessionClosed');
}
