import { type AnyActor, type AnyStateMachine, isMachineSnapshot } from 'xstate';
import { type GraphWithIndex, type MachineGraph, machineGraphWithIndex } from '../../inspect/protocol/graph.js';
import { initialLeaves, leavesOf, type Microstep, Stepper } from './stepper.js';

/** How often each state was entered and each transition taken, by id; zero for what was never reached. */
export interface MachineCoverage {
  /** Times entered, by state id. */
  readonly states: Readonly<Record<string, number>>;
  /** Times taken, by the id of the graph's edge. */
  readonly transitions: Readonly<Record<string, number>>;
}
/** The format of a coverage file: what `sixgates diagram --coverage` reads. */
export interface CoverageFile {
  /** The version of the format; readers refuse another. */
  readonly format: 'sixgates-coverage/1';
  /** Counts by machine id. */
  readonly machines: Readonly<Record<string, MachineCoverage>>;
}
export const COVERAGE_FORMAT: CoverageFile['format'] = 'sixgates-coverage/1';

/** A part of a machine that nothing reached, in words. */
export interface Unreached {
  /** Id of the machine. */
  readonly machine: string;
  /** What was not reached. */
  readonly kind: 'state' | 'transition';
  /** Id of the state, or of the graph's edge. */
  readonly id: string;
  /** `deciding → calling on done: permission [isAllowed]`. */
  readonly text: string;
}

/** What a machine is counted under, and which edges of its graph each of its transitions is. */
interface Tracked {
  readonly key: string;
  readonly edgesOf: GraphWithIndex['edgesOf'];
}

/**
 * Counts which states and transitions of machines were reached. Every microstep counts, so that a transition without an event
 * is covered only when it was really taken.
 */
export class Coverage {
  private readonly graphs = new Map<string, MachineGraph>();
  private readonly known = new WeakMap<AnyStateMachine, Tracked>();
  private readonly states = new Map<string, Map<string, number>>();
  private readonly transitions = new Map<string, Map<string, number>>();

  constructor(machines: Iterable<AnyStateMachine> = []) {
    for (const machine of machines) this.track(machine);
  }

  /** Counts for this machine from now on; what is never reached shows as zero. */
  track(machine: AnyStateMachine): void {
    this.tracked(machine);
  }

  /**
   * What a machine is counted under: its id. Copies of a machine with other implementations are counted together; another machine that has
   * the same id, as all have that were given none, is `<id> (2)`.
   */
  private tracked(machine: AnyStateMachine): Tracked {
    const known = this.known.get(machine);
    if (known !== undefined) return known;
    const { graph, edgesOf } = machineGraphWithIndex(machine);
    const shape = JSON.stringify(graph);
    let key = machine.id;
    for (let n = 2; ; n++) {
      const other = this.graphs.get(key);
      if (other === undefined || JSON.stringify(other) === shape) break;
      key = `${machine.id} (${n})`;
    }
    const tracked = { key, edgesOf };
    this.known.set(machine, tracked);
    if (this.graphs.has(key)) return tracked;
    this.graphs.set(key, graph);
    // The root is no state of its own; a transition that enters several states is one transition.
    this.states.set(key, new Map(graph.nodes.slice(1).map(({ id }) => [id, 0])));
    this.transitions.set(key, new Map(graph.edges.map(({ id }) => [id, 0])));
    return tracked;
  }

  /** Counts a microstep, `times` over. Of a machine that is not tracked nothing is counted. */
  add({ machine, edges, leaves }: Microstep, times = 1): void {
    const nodes = this.graphs.get(machine)?.nodes;
    if (nodes === undefined) return;
    const states = this.states.get(machine);
    const transitions = this.transitions.get(machine);
    for (const id of edges) raise(transitions, id, times);
    for (const id of withAncestors(leaves, nodes)) raise(states, id, times);
  }

  /**
   * Watches an actor and all actors of its system while they run: machines are counted as they appear. Returns the function that ends the
   * watch. Of an actor that has not been started its first steps count, eventless ones included: its context and guards are evaluated once
   * more for that. Of one that runs, or goes on from a snapshot, the states count in which it is.
   */
  watch(actor: AnyActor): () => void {
    const seen = new WeakSet<object>([actor]);
    this.addBeginning(actor);
    const subscription = actor.system.inspect((event) => {
      if (event.type !== '@xstate.microstep' && event.type !== '@xstate.snapshot') return;
      if (!isMachineSnapshot(event.snapshot)) return;
      const { machine } = event.snapshot;
      const { key, edgesOf } = this.tracked(machine);
      if (!seen.has(event.actorRef)) {
        // Of the step into the initial state itself XState tells nothing.
        seen.add(event.actorRef);
        if (snapshotGivenTo(event.actorRef) === undefined) this.add({ machine: key, edges: [], leaves: initialLeaves(machine.root) });
      }
      if (event.type === '@xstate.snapshot') return;
      const edges = event._transitions.flatMap((transition) => edgesOf.get(transition)?.map(({ id }) => id) ?? []);
      this.add({ machine: key, edges, leaves: leavesOf(event.snapshot) });
    });
    return () => subscription.unsubscribe();
  }

  /** What an actor has done before anybody could watch: its machine takes its first steps when it is made. */
  private addBeginning(actor: AnyActor): void {
    const snapshot: unknown = actor.getSnapshot();
    if (!isMachineSnapshot(snapshot)) return;
    const { machine } = snapshot;
    const { key } = this.tracked(machine);
    const isNew = isUnstarted(actor) && snapshotGivenTo(actor) === undefined && snapshot.status !== 'error';
    const steps = isNew ? new Stepper(machine).start(actor.options.input).steps : [{ edges: [], leaves: leavesOf(snapshot) }];
    for (const step of steps) this.add({ ...step, machine: key });
  }

  /** Adds what another exploration or watch has reached. Machines that only the other one knows are not taken over. */
  merge(other: Coverage): void {
    for (const id of this.machines) {
      for (const [state, times] of other.states.get(id) ?? []) raise(this.states.get(id), state, times);
      for (const [transition, times] of other.transitions.get(id) ?? []) raise(this.transitions.get(id), transition, times);
    }
  }

  /** Ids of the machines that are counted. */
  get machines(): readonly string[] {
    return [...this.graphs.keys()];
  }

  /** Reached and all, of states and of transitions, over all machines or one of them. */
  counts(machine?: string): { readonly states: readonly [number, number]; readonly transitions: readonly [number, number] } {
    const of = (all: ReadonlyMap<string, ReadonlyMap<string, number>>): readonly [number, number] => {
      const values = [...all].filter(([id]) => machine === undefined || id === machine).flatMap(([, one]) => [...one.values()]);
      return [values.filter((times) => times > 0).length, values.length];
    };
    return { states: of(this.states), transitions: of(this.transitions) };
  }

  /** What was never reached, of all machines or one of them. */
  unreached(machine?: string): readonly Unreached[] {
    const found: Unreached[] = [];
    for (const [id, graph] of this.graphs) {
      if (machine !== undefined && machine !== id) continue;
      for (const node of graph.nodes)
        if (this.states.get(id)?.get(node.id) === 0)
          found.push({ machine: id, kind: 'state', id: node.id, text: short(node.id, graph.id) });
      for (const edge of graph.edges) {
        if (this.transitions.get(id)?.get(edge.id) !== 0) continue;
        const text = `${short(edge.source, graph.id)} → ${edge.internal ? 'itself' : short(edge.target, graph.id)} on ${edge.label}`;
        found.push({ machine: id, kind: 'transition', id: edge.id, text });
      }
    }
    return found;
  }

  /** The content of a coverage file. */
  toJSON(): CoverageFile {
    const machines = Object.fromEntries(
      this.machines.map((id) => [
        id,
        { states: Object.fromEntries(this.states.get(id) ?? []), transitions: Object.fromEntries(this.transitions.get(id) ?? []) },
      ]),
    );
    return { format: COVERAGE_FORMAT, machines };
  }

  /** A report of a few lines for a terminal. */
  describe(): string {
    const lines = this.machines.map((id) => {
      const { states, transitions } = this.counts(id);
      return `${id}: ${states.join(' of ')} states, ${transitions.join(' of ')} transitions`;
    });
    const missing = this.unreached();
    return [...lines, ...missing.map(({ machine, kind, text }) => `  not reached: ${machine} ${kind} ${text}`)].join('\n');
  }
}

/** `ProcessingStatus.NotStarted`, which XState does not export. */
const isUnstarted = (actor: AnyActor): boolean => '_processingStatus' in actor && actor._processingStatus === 0;

/** The snapshot that an actor goes on from; undefined for one that begins. */
const snapshotGivenTo = (actor: object): unknown => ('options' in actor && isOptions(actor.options) ? actor.options.snapshot : undefined);
const isOptions = (value: unknown): value is { readonly snapshot?: unknown } => typeof value === 'object' && value !== null;

const short = (id: string, machine: string): string => (id.startsWith(`${machine}.`) ? id.slice(machine.length + 1) : id);

function raise(counts: Map<string, number> | undefined, id: string, times: number): void {
  const before = counts?.get(id);
  if (before !== undefined) counts?.set(id, before + times);
}

function withAncestors(leaves: readonly string[], nodes: readonly { readonly id: string; readonly parent: string | null }[]): Set<string> {
  const parents = new Map(nodes.map(({ id, parent }) => [id, parent]));
  const active = new Set<string>();
  for (const leaf of leaves) for (let at: string | null = leaf; at !== null; at = parents.get(at) ?? null) active.add(at);
  return active;
}
