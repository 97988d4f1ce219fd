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
import { messageOf } from '../../tool/errors.js';

/** One microstep: the edges of the machine's graph that fired, and the leaf states after it. Eventless steps count like any other. */
export interface Microstep {
  /** Id of the machine. */
  readonly machine: string;
  /** Ids of the graph's edges that fired. */
  readonly edges: readonly string[];
  /** Ids of the active leaf states after the step. */
  readonly leaves: readonly string[];
}

/** A machine that takes more steps than this by itself goes in a circle. */
const MOST_MICROSTEPS = 1_000;

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
    // What throws in a machine's first steps becomes its state, in which it would stand still as if all were well.
    if (snapshot.status === 'error') throw brokenMachine(this.machine.id, snapshot.error);
    return { snapshot, steps: this.noted };
  }

  private note({ snapshot, _transitions }: MicrostepEvent): void {
    const edges = _transitions.flatMap((transition) => this.edgesOf.get(transition) ?? []);
    this.noted.push({ machine: this.machine.id, edges, leaves: leavesOf(snapshot) });
    if (this.noted.length > MOST_MICROSTEPS) throw new EndlessStepsError(this.machine.id, this.noted.slice(-4));
  }
}

/** A machine's eventless transitions, or the events that it raises itself, never end. */
class EndlessStepsError extends Error {
  override readonly name = 'EndlessStepsError';
  constructor(machine: string, last: readonly Microstep[]) {
    const way = last.map(({ leaves }) => leaves.join(' + ')).join(' → ');
    super(
      `The machine ${machine} does not come to rest: after ${MOST_MICROSTEPS} steps by itself it goes on (… ${way} …). ` +
        'Its eventless transitions or raised events form a circle; give one of them a guard that ends it.',
    );
  }
}

const brokenMachine = (machine: string, error: unknown): Error =>
  error instanceof EndlessStepsError ? error : new Error(`The machine ${machine} broke as it began: ${messageOf(error)}`, { cause: error });

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
