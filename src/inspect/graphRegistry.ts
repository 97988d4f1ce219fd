import type { AnyMachineSnapshot, AnyStateMachine, AnyTransitionDefinition } from 'xstate';
import type { FlowLog } from './flowLog.js';
import { type MachineGraph, machineGraphWithIndex } from './protocol/graph.js';

type Fired = { readonly id: string; readonly guard?: string };
const NOTHING_FIRED: readonly Fired[] = [];
interface MachineIndex {
  readonly graph: MachineGraph;
  fired(transitions: readonly AnyTransitionDefinition[]): readonly Fired[];
}
export interface Configuration {
  readonly configuration: readonly string[];
  readonly leaves: readonly string[];
}
/** Configurations by the state nodes they consist of, one level a node: found without making a key. */
interface ConfigurationTree {
  readonly next: { get(node: object): ConfigurationTree | undefined; set(node: object, next: ConfigurationTree): unknown };
  made?: Configuration;
}

/** Graphs of the machines a flow has met, each made once and told to the log once; and the id lists of their configurations, shared. */
export class GraphRegistry {
  readonly #byRoot = new WeakMap<object, MachineIndex>();
  readonly #shapes = new Map<string, string>();
  /** Every configuration begins with the root of its machine, by which a machine that is of no use any more lets its own go. */
  readonly #configurations: ConfigurationTree = { next: new WeakMap() };

  constructor(readonly log: FlowLog) {}

  of(machine: AnyStateMachine): MachineIndex {
    const known = this.#byRoot.get(machine.root);
    if (known) return known;
    const drawn = drawnGraph(machine);
    const firedBy = (transition: AnyTransitionDefinition): readonly Fired[] => drawn.fired.get(transition) ?? NOTHING_FIRED;
    const index: MachineIndex = {
      graph: this.#named(drawn),
      fired: (transitions) => {
        const [only, ...more] = transitions;
        if (only === undefined) return NOTHING_FIRED;
        return more.length === 0 ? firedBy(only) : transitions.flatMap(firedBy);
      },
    };
    this.#byRoot.set(machine.root, index);
    return index;
  }

  configuration(snapshot: AnyMachineSnapshot): Configuration {
    let place = this.#configurations;
    for (const node of snapshot._nodes) {
      let next = place.next.get(node);
      if (next === undefined) {
        next = { next: new Map() };
        place.next.set(node, next);
      }
      place = next;
    }
    place.made ??= {
      configuration: snapshot._nodes.map((node) => node.id),
      leaves: snapshot._nodes.filter((node) => Object.keys(node.states).length === 0).map((node) => node.id),
    };
    return place.made;
  }

  /** Two machines of one id (a user's copy of ours, say) must not be drawn as one. */
  #named({ graph, shape }: DrawnGraph): MachineGraph {
    for (let times = 1; ; times++) {
      const id = times === 1 ? graph.id : `${graph.id}~${times}`;
      const taken = this.#shapes.get(id);
      if (taken !== undefined && taken !== shape) continue;
      const named = times === 1 ? graph : { ...graph, id };
      if (taken === undefined) {
        this.#shapes.set(id, shape);
        this.log.addGraph(named);
      }
      return named;
    }
  }
}

interface DrawnGraph {
  readonly graph: MachineGraph;
  /** By which two machines of one id are told apart. */
  readonly shape: string;
  readonly fired: ReadonlyMap<AnyTransitionDefinition, readonly Fired[]>;
}
/** The same machines are met by every flow of a process. */
const drawnGraphs = new WeakMap<object, DrawnGraph>();

function drawnGraph(machine: AnyStateMachine): DrawnGraph {
  const known = drawnGraphs.get(machine.root);
  if (known) return known;
  const { graph, edgesOf } = machineGraphWithIndex(machine);
  const fired = new Map<AnyTransitionDefinition, readonly Fired[]>();
  for (const [transition, edges] of edgesOf) {
    fired.set(
      transition,
      edges.map(({ id, guard }) => (guard === undefined ? { id } : { id, guard })),
    );
  }
  const drawn = { graph, shape: JSON.stringify([graph.nodes, graph.edges]), fired };
  drawnGraphs.set(machine.root, drawn);
  return drawn;
}
