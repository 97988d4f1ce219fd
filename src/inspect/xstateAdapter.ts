import type { AnyActor, AnyActorRef, AnyEventObject, AnyMachineSnapshot, AnyTransitionDefinition, InspectionEvent, Observer } from 'xstate';
import { isMachineSnapshot } from 'xstate';
import { type ActorFacts, type ActorNaming, nameActor } from './actorNames.js';
import { type AnyMachine, asActor, errorText, machineOf, optionOf } from './actorRefs.js';
import { FULL_LIMITS } from './capture.js';
import type { FlowLog } from './flowLog.js';
import { GraphRegistry } from './graphRegistry.js';
import type { Placement } from './inspectable.js';

export interface XStateAdapterOptions {
  /** Replaces the built-in naming; return undefined to fall back to it. */
  readonly nameActor?: (facts: ActorFacts) => ActorNaming | undefined;
  /** A gate that may hold events: one that is let go was recorded when it came, one that is held was not processed yet. */
  readonly gate?: { isHeld(ref: object, event: object): boolean; isRelease(ref: object, event: object): boolean };
}

interface NamesBelow {
  /** How often each name was used for an actor below. */
  names: Map<string, number> | undefined;
}
interface ActorRecord extends NamesBelow {
  readonly path: string;
  readonly callPrefix: string;
  readonly machine: AnyMachine | null;
  leaves: readonly string[];
  context: unknown;
  micro: number;
  stopped: boolean;
}
type Snapshot = Extract<InspectionEvent, { type: '@xstate.snapshot' }>['snapshot'];

/**
 * Turns XState 5 inspection into flow events. One observer at the root serves every actor of the system. It knows what
 * inspection leaves out: microsteps carry the passing states, an actor that throws sends no snapshot, and an inspector
 * that comes late must learn the living tree. It never throws: an exception here would wedge the actor's mailbox.
 */
export class XStateAdapter {
  readonly #records = new WeakMap<object, ActorRecord>();
  readonly #top: NamesBelow = { names: undefined };
  readonly #graphs: GraphRegistry;
  readonly #hosts = new WeakMap<object, Placement>();
  readonly #rootChecks = new Set<AnyActorRef>();

  constructor(
    readonly log: FlowLog,
    readonly options: XStateAdapterOptions = {},
  ) {
    this.#graphs = new GraphRegistry(log);
  }

  /** For `createActor(machine, { inspect: adapter.observer })`: sees everything from the first moment. */
  readonly observer: Observer<InspectionEvent> = {
    next: (event) => {
      try {
        this.#inspect(event);
      } catch {
        this.log.faults++;
      }
    },
  };

  /** Attaches to a system that exists already; the living actors are replayed first. Returns how to detach. */
  attach(root: AnyActor, host?: Placement): () => void {
    if (host) this.#hosts.set(root, host);
    this.log.guard(() => this.#walk(root));
    const subscription = root.system.inspect(this.observer);
    return () => subscription.unsubscribe();
  }

  /** The path of an actor the adapter has seen. */
  pathOf(ref: object): string | undefined {
    return this.#records.get(ref)?.path;
  }

  #inspect(inspection: InspectionEvent): void {
    // Actions are the most frequent; they hold live actors in their parameters and say nothing that the edge does not.
    if (inspection.type === '@xstate.action') return;
    const ref = asActor(inspection.actorRef);
    if (!ref) return;
    const record = this.#record(ref, false);
    switch (inspection.type) {
      case '@xstate.event':
        this.#event(ref, record, inspection);
        return;
      case '@xstate.microstep':
        this.#microstep(record, inspection.event.type, inspection.snapshot, inspection._transitions);
        return;
      case '@xstate.snapshot':
        this.#snapshot(ref, record, inspection.event, inspection.snapshot);
        return;
      default:
        // The actor event was the registration.
        return;
    }
  }

  #record(ref: AnyActorRef, late: boolean): ActorRecord {
    const known = this.#records.get(ref);
    if (known) return known;
    const host = this.#hosts.get(ref);
    const above = ref._parent ?? host?.actor;
    const parent = above ? this.#record(above, late) : null;
    const callPrefix = `${parent?.callPrefix ?? ''}${host?.callPrefix ?? ''}`;
    const machine = machineOf(ref);
    const input = optionOf(ref, 'input');
    const src = typeof ref.src === 'string' ? ref.src : null;
    // Without an id, a root is called by its session id and an invoked actor `<index>.<state id>`.
    const madeUp = ref.id === ref.sessionId || (src !== null && /^\d+\./.test(ref.id));
    const facts: ActorFacts = { id: madeUp ? null : ref.id, src, machineId: machine?.id ?? null, input };
    const naming = this.options.nameActor?.(facts) ?? nameActor(facts);
    const own = host?.name ?? facts.id ?? src ?? facts.machineId ?? 'actor';
    const record: ActorRecord = {
      path: parent ? `${parent.path}/${uniqueName(parent, own)}` : uniqueName(this.#top, own),
      callPrefix,
      machine,
      leaves: [],
      context: undefined,
      micro: 0,
      stopped: false,
      names: undefined,
    };
    this.#records.set(ref, record);
    this.log.take({
      type: 'actor.started',
      actor: record.path,
      parent: parent?.path ?? null,
      machine: machine ? this.#graphs.of(machine).graph.id : null,
      ...naming,
      name: this.log.text(naming.name, 200),
      label: this.log.text(host?.name ?? naming.label, 200),
      ...(host === undefined ? {} : { agent: callPrefix.slice(0, -1) }),
      ...(naming.toolUseId === undefined ? {} : { toolUseId: `${callPrefix}${naming.toolUseId}` }),
      ...(input === undefined ? {} : { input: this.log.bodies.put(input, FULL_LIMITS) }),
      // A restored actor does not begin where its machine does.
      ...(late || optionOf(ref, 'snapshot') !== undefined ? { late: true as const } : {}),
    });
    return record;
  }

  #event(ref: AnyActorRef, record: ActorRecord, inspection: Extract<InspectionEvent, { type: '@xstate.event' }>): void {
    const { event } = inspection;
    const source = asActor(inspection.sourceRef);
    if (event.type === 'xstate.init') this.#initial(ref, record);
    if (event.type === 'xstate.init' || this.options.gate?.isRelease(ref, event)) return;
    if (event.type.startsWith('xstate.error.actor.') && source) this.#stop(this.#record(source, false), 'error', undefined, event.error);
    if (!ref._parent) this.#checkRootLater(ref);
    const { log } = this;
    const actor = record.path;
    const from = source ? this.#record(source, false).path : null;
    const body = saysMore(event) ? log.bodies.put(event) : undefined;
    if (body) log.add({ type: 'event', actor, source: from, event: event.type, body, seq: log.nextSeq(), t: log.nextT() });
    else log.add({ type: 'event', actor, source: from, event: event.type, seq: log.nextSeq(), t: log.nextT() });
  }

  /** XState announces no microstep for entering the initial state, only for the eventless ones that follow it. */
  #initial(ref: AnyActorRef, record: ActorRecord): void {
    const snapshot: unknown = ref.getSnapshot();
    if (record.leaves.length === 0 && isMachineSnapshot(snapshot)) this.#enter(record, snapshot);
  }

  #enter(record: ActorRecord, snapshot: AnyMachineSnapshot): void {
    const { configuration, leaves } = this.#graphs.configuration(snapshot);
    const place = { actor: record.path, event: 'xstate.init', from: [], to: leaves, configuration, edges: [], micro: 0 };
    this.log.take({ type: 'transition', ...place, initial: true });
    record.leaves = leaves;
  }

  #microstep(record: ActorRecord, event: string, snapshot: Snapshot, transitions: readonly AnyTransitionDefinition[]): void {
    if (!record.machine || !isMachineSnapshot(snapshot)) return;
    const initial = event === 'xstate.init' && record.leaves.length === 0;
    if (transitions.length === 0 && !initial) return;
    const { configuration, leaves } = this.#graphs.configuration(snapshot);
    const { log } = this;
    const from = record.leaves;
    const edges = this.#graphs.of(record.machine).fired(transitions);
    record.leaves = leaves;
    const micro = record.micro++;
    const { path: actor } = record;
    if (initial) log.take({ type: 'transition', actor, event, from, to: leaves, configuration, edges, micro, initial });
    else log.add({ type: 'transition', actor, event, from, to: leaves, configuration, edges, micro, seq: log.nextSeq(), t: log.nextT() });
  }

  #snapshot(ref: AnyActorRef, record: ActorRecord, event: AnyEventObject, snapshot: Snapshot): void {
    if (record.machine && isMachineSnapshot(snapshot)) {
      if (this.options.gate?.isHeld(ref, event)) return;
      const idle = record.micro === 0 && event.type !== 'xstate.init' && event.type !== 'xstate.stop' && snapshot.status === 'active';
      if (idle) this.log.take({ type: 'ignored', actor: record.path, event: event.type });
      record.micro = 0;
      this.#contextIfChanged(record, snapshot.context);
    }
    if (snapshot.status === 'active') return;
    this.#stop(record, snapshot.status, snapshot.output, snapshot.error);
  }

  #contextIfChanged(record: ActorRecord, context: unknown): void {
    if (context === record.context) return;
    record.context = context;
    const { log } = this;
    const body = log.bodies.putAnew(context);
    log.add({ type: 'context', actor: record.path, body, seq: log.nextSeq(), t: log.nextT() });
  }

  #stop(record: ActorRecord, status: 'done' | 'error' | 'stopped', output: unknown, error: unknown): void {
    if (record.stopped) return;
    record.stopped = true;
    // What a machine held is of no use any more, and a closed actor must not pin it.
    record.context = undefined;
    const message = status === 'error' ? this.log.text(errorText(error)) : undefined;
    if (message !== undefined) this.log.take({ type: 'error', actor: record.path, message });
    this.log.take({
      type: 'actor.stopped',
      actor: record.path,
      status,
      ...(output === undefined ? {} : { output: this.log.bodies.put(output) }),
      ...(message === undefined ? {} : { error: message }),
    });
  }

  /**
   * A root that throws has nobody to report to. It is not subscribed to, since an error observer of ours would keep XState
   * from reporting an error that nobody else handles; instead its status is looked at once the event has been dealt with.
   */
  #checkRootLater(root: AnyActorRef): void {
    if (this.#rootChecks.has(root)) return;
    this.#rootChecks.add(root);
    queueMicrotask(() => {
      this.#rootChecks.delete(root);
      this.log.guard(() => {
        const snapshot = root.getSnapshot();
        const record = this.#records.get(root);
        if (record && snapshot?.status === 'error') this.#stop(record, 'error', undefined, snapshot.error);
      });
    });
  }

  #walk(ref: AnyActorRef): void {
    const snapshot: unknown = ref.getSnapshot();
    const late = !('_processingStatus' in ref && ref._processingStatus === 0);
    const record = this.#record(ref, late);
    if (!isMachineSnapshot(snapshot)) return;
    if (record.leaves.length === 0) this.#enter(record, snapshot);
    this.#contextIfChanged(record, snapshot.context);
    for (const child of Object.values(snapshot.children)) {
      const childRef = asActor(child);
      if (childRef) this.#walk(childRef);
    }
    if (snapshot.status !== 'active') this.#stop(record, snapshot.status, snapshot.output, snapshot.error);
  }
}

/** Whether an event holds anything but its type. */
function saysMore(event: AnyEventObject): boolean {
  for (const key in event) if (key !== 'type') return true;
  return false;
}

/** A name that comes again gets a suffix. */
function uniqueName(above: NamesBelow, name: string): string {
  above.names ??= new Map();
  const times = (above.names.get(name) ?? 0) + 1;
  above.names.set(name, times);
  return times === 1 ? name : `${name}~${times}`;
}
