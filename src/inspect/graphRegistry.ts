import type { AnyMachineSnapshot, AnyStateMachine, AnyTransitionDefinition } from 'xstate';
import type { FlowLog } from './flowLog.js';
import { type MachineGraph, machineGraphWithIndex } from './protocol/graph.js';

type Fired = { readonly id: string; readonly guard?: string };
interface MachineIndex {
  readonly graph: MachineGraph;
  fired(transition: AnyTransitionDefinition): readonly Fired[];
}
export interface Configuration {
  readonly configuration: readonly string[];
  readonly leaves: readonly string[];
}

/** Graphs of the machines a flow has met, each made once and told to the log once; and the id lists of their configurations, shared. */
export class GraphRegistry {
  readonly #byRoot = new WeakMap<object, MachineIndex>();
  readonly #shapes = new Map<string, string>();
  readonly #configurations = new Map<string, Configuration>();

  constructor(readonly log: FlowLog) {}

  of(machine: AnyStateMachine): MachineIndex {
    const known = this.#byRoot.get(machine.root);
    if (known) return known;
    const { graph, edgesOf } = machineGraphWithIndex(machine);
    const named = this.#named(graph);
    const fired = new Map<AnyTransitionDefinition, readonly Fired[]>();
    for (const [transition, edges] of edgesOf) {
      fired.set(
        transition,
        edges.map(({ id, guard }) => (guard === undefined ? { id } : { id, guard })),
      );
    }
    const index: MachineIndex = { graph: named, fired: (transition) => fired.get(transition) ?? [] };
    this.#byRoot.set(machine.root, index);
    return index;
  }

  configuration(snapshot: AnyMachineSnapshot): Configuration {
    const ids: string[] = snapshot._nodes.map((node) => node.id);
    const key = ids.join('\n');
    const known = this.#configurations.get(key);
    if (known) return known;
    const leaves = snapshot._nodes.filter((node) => Object.keys(node.states).length === 0).map((node) => node.id);
    const made = { configuration: ids, leaves };
    this.#configurations.set(key, made);
    return made;
  }

  /** Two machines of one id (a user's copy of ours, say) must not be drawn as one. */
  #named(graph: MachineGraph): MachineGraph {
    const shape = JSON.stringify([graph.nodes, graph.edges]);
    for (let times = 1; ; times++) {
      const id = times === 1 ? graph.id : `${graph.id}~${times}`;
      const taken = this.#shapes.get(id);
      if (taken !== undefined && taken !== shape) continue;
      const named = { ...graph, id };
      if (taken === undefined) {
        this.#shapes.set(id, shape);
        this.log.addGraph(named);
      }
      return named;
    }
  }
}
