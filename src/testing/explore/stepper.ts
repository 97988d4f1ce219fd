import {
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyTransitionDefinition,
  type InspectionEvent,
  isMachineSnapshot,
} from 'xstate';
import { machineGraphWithIndex } from '../../inspect/protocol/graph.js';
import { type InertScope, inertScope } from '../../inspect/pureStep.js';

/** One microstep: the edges of the machine's graph that fired, and the leaf states after it. Eventless steps count like any other. */
export interface Microstep {
  /** Id of the machine. */
  readonly machine: string;
  /** Ids of the graph's edges that fired. */
  readonly edges: readonly string[];
  /** Ids of the active leaf states after the step. */
  readonly leaves: readonly string[];
}

type MicrostepEvent = Extract<InspectionEvent, { type: '@xstate.microstep' }>;

/**
 * Steps a machine without running it: no action, no port, no timer. Guards and assigns are evaluated by XState itself, and every
 * microstep is noted as XState reports it, so that transitions without an event are seen too.
 */
export class Stepper {
  private readonly scope: InertScope;
  private readonly edgesOf: ReadonlyMap<AnyTransitionDefinition, readonly string[]>;
  private noted: Microstep[] = [];

  constructor(readonly machine: AnyStateMachine) {
    const { edgesOf } = machineGraphWithIndex(machine);
    this.edgesOf = new Map([...edgesOf].map(([transition, edges]) => [transition, edges.map(({ id }) => id)]));
    this.scope = inertScope();
    const { self } = this.scope;
    self.system.inspect((event) => {
      if (event.type === '@xstate.microstep' && event.actorRef === self) this.note(event);
    });
  }

  /** The state it rests in at first. */
  start(input: unknown): { readonly snapshot: AnyMachineSnapshot; readonly steps: readonly Microstep[] } {
    const { snapshot, steps } = this.collect(() => this.machine.getInitialSnapshot(this.scope, input));
    // XState tells of no microstep into the initial state itself.
    return { snapshot, steps: [{ machine: this.machine.id, edges: [], leaves: initialLeaves(this.machine.root) }, ...steps] };
  }

  send(
    snapshot: AnyMachineSnapshot,
    event: AnyEventObject,
  ): { readonly snapshot: AnyMachineSnapshot; readonly steps: readonly Microstep[] } {
    return this.collect(() => this.machine.transition(snapshot, event, this.scope));
  }

  private collect(step: () => AnyMachineSnapshot): { snapshot: AnyMachineSnapshot; steps: readonly Microstep[] } {
    this.noted = [];
    const snapshot = step();
    return { snapshot, steps: this.noted };
  }

  private note({ snapshot, _transitions }: MicrostepEvent): void {
    const edges = _transitions.flatMap((transition) => this.edgesOf.get(transition) ?? []);
    this.noted.push({ machine: this.machine.id, edges, leaves: leavesOf(snapshot) });
  }
}

/** Ids of the leaf states in which a machine begins, before any eventless step. */
export function initialLeaves(node: AnyStateMachine['root']): string[] {
  const children = Object.values(node.states);
  if (children.length === 0) return [node.id];
  if (node.type === 'parallel') return children.flatMap(initialLeaves);
  return (node.initial?.target ?? []).flatMap(initialLeaves);
}

/** Ids of the active leaf states; none for the snapshot of anything but a machine. */
export function leavesOf(snapshot: object): string[] {
  if (!isMachineSnapshot(snapshot)) return [];
  return snapshot._nodes.filter((node) => Object.keys(node.states).length === 0).map((node) => node.id);
}
