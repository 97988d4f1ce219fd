import type { ActorLogic, ActorSystem, AnyActorRef, AnyEventObject, AnyMachineSnapshot, AnyStateMachine, Snapshot } from 'xstate';
import type { PermissionContext } from '../../../machines/permission.js';
import type { ToolCallContext } from '../../../machines/toolCall.js';
import type { ToolUseRequest } from '../../tool/call.js';
import { type Microstep, Stepper } from './stepper.js';
import type { CallCase } from './types.js';

/** Something that the world says to the machines, by itself or as the answer of a port. */
export interface WorldEvent {
  /** Names the saying; the same in every walk. */
  readonly type: string;
  /** For a person: `the person says yes`. */
  readonly say: string;
  /** Which of the two machines hears it. */
  readonly to: 'call' | 'permission';
  /** What the machine receives, in order. */
  readonly events: readonly AnyEventObject[];
}

/** A call on its way: the tool call machine, and the permission machine while it decides. */
export type WalkSnapshot = Snapshot<undefined> & {
  readonly call: AnyMachineSnapshot;
  readonly permission: AnyMachineSnapshot | null;
  /** What the last saying made of them, eventless steps included. */
  readonly steps: readonly Microstep[];
};

/** A port that a machine waits for: the invoked child's id and the name of its logic. */
export interface OpenPort {
  readonly id: string;
  readonly port: string;
  readonly ref: AnyActorRef;
}

export const callContext = (snapshot: WalkSnapshot): ToolCallContext => snapshot.call.context;
export const permissionContext = (snapshot: AnyMachineSnapshot): PermissionContext => snapshot.context;

export const doneEvent = (id: string, output: unknown): AnyEventObject => ({ type: `xstate.done.actor.${id}`, output, actorId: id });
export const errorEvent = (id: string, message: string): AnyEventObject => ({
  type: `xstate.error.actor.${id}`,
  error: new Error(message),
  actorId: id,
});

/**
 * Both machines as one piece of logic for `xstate/graph`. Pure: children are created and never started, so what a port would answer
 * comes as an event, and the permission machine's decision is handed to the tool call the moment it falls.
 */
export class MachinePair {
  readonly call: Stepper;
  readonly permission: Stepper;
  private readonly callPorts: ReadonlyMap<string, string>;
  private readonly permissionPorts: ReadonlyMap<string, string>;

  constructor(machines: { readonly toolCall: AnyStateMachine; readonly permission: AnyStateMachine }) {
    this.call = new Stepper(machines.toolCall);
    this.permission = new Stepper(machines.permission);
    this.callPorts = portsOf(machines.toolCall);
    this.permissionPorts = portsOf(machines.permission);
  }

  /** The logic for a call. */
  logic(call: CallCase): ActorLogic<WalkSnapshot, WorldEvent, undefined, ActorSystem<never>> {
    return {
      getInitialSnapshot: () => this.start(call),
      transition: (snapshot, event) => this.step(snapshot, event),
      getPersistedSnapshot: (snapshot) => snapshot,
    };
  }

  start({ tool, input }: CallCase): WalkSnapshot {
    const request: ToolUseRequest = {
      id: 'toolu_1',
      name: tool,
      index: 0,
      rawInput: JSON.stringify(input),
      input: { kind: 'object', value: input },
    };
    const { snapshot, steps } = this.call.start({ slot: 'call-0', call: request });
    return { status: 'active', output: undefined, error: undefined, call: snapshot, permission: null, steps };
  }

  openPorts(snapshot: WalkSnapshot): { readonly call: readonly OpenPort[]; readonly permission: readonly OpenPort[] } {
    return {
      call: portsIn(snapshot.call, this.callPorts),
      permission: snapshot.permission === null ? [] : portsIn(snapshot.permission, this.permissionPorts),
    };
  }

  step(before: WalkSnapshot, { to, events }: WorldEvent): WalkSnapshot {
    const steps: Microstep[] = [];
    let { call, permission } = before;
    for (const event of events) {
      if (to === 'permission') {
        if (permission === null) continue;
        const stepped = this.permission.send(permission, event);
        permission = stepped.snapshot;
        steps.push(...stepped.steps);
      } else {
        const stepped = this.call.send(call, event);
        call = stepped.snapshot;
        steps.push(...stepped.steps);
      }
      for (;;) {
        const judging = portsIn(call, this.callPorts).find(({ port }) => port === 'permission');
        if (judging === undefined) {
          permission = null;
          break;
        }
        if (permission === null) {
          const started = this.permission.start(inputOf(judging.ref));
          permission = started.snapshot;
          steps.push(...started.steps);
        }
        if (permission.status !== 'done') break;
        const handed = this.call.send(call, doneEvent(judging.id, permission.output));
        call = handed.snapshot;
        permission = null;
        steps.push(...handed.steps);
      }
    }
    const common = { error: undefined, output: undefined, call, permission, steps };
    return call.status === 'done' ? { status: 'done', ...common } : { status: 'active', ...common };
  }
}

/** What each invoked child runs, by the child's id. */
function portsOf(machine: AnyStateMachine): ReadonlyMap<string, string> {
  const ports = new Map<string, string>();
  const visit = (node: AnyStateMachine['root']): void => {
    for (const { id, src } of node.invoke) if (typeof src === 'string') ports.set(id, src);
    for (const child of Object.values(node.states)) visit(child);
  };
  visit(machine.root);
  return ports;
}

function portsIn(snapshot: AnyMachineSnapshot, ports: ReadonlyMap<string, string>): OpenPort[] {
  return Object.entries<AnyActorRef | undefined>(snapshot.children).flatMap(([id, ref]) => {
    const port = ports.get(id);
    return port === undefined || ref === undefined ? [] : [{ id, port, ref }];
  });
}

function inputOf(ref: AnyActorRef): unknown {
  const options: unknown = 'options' in ref ? ref.options : undefined;
  return typeof options === 'object' && options !== null && 'input' in options ? options.input : undefined;
}
