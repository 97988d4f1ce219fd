import { type AnyEventObject, type AnyMachineSnapshot, type AnyStateMachine, createActor, createEmptyActor, fromCallback } from 'xstate';

export type InertScope = Parameters<AnyStateMachine['microstep']>[2];

const nothing = fromCallback(() => {});

/**
 * A scope in which no action runs and nothing is sent. XState's own pure `transition` lacks a parent, so that a machine which
 * reports to one (`sendParent`) throws there; this scope has one, and a system of its own for what would be spawned.
 */
export function inertScope(): InertScope {
  const self = createActor(nothing, { parent: createEmptyActor() });
  const ignore = (): void => {};
  return {
    self,
    id: self.id,
    sessionId: self.sessionId,
    system: self.system,
    logger: ignore,
    defer: ignore,
    emit: ignore,
    stopChild: ignore,
    actionExecutor: ignore,
  };
}

/** The state a machine rests in at first. Runs no action and starts no child. */
export function pureInitial(machine: AnyStateMachine, input: unknown): AnyMachineSnapshot {
  return machine.getInitialSnapshot(inertScope(), input);
}

/** The states a machine passes through on an event, one a microstep. Runs no action; guards and assigns are evaluated. */
export function pureMicrosteps(
  machine: AnyStateMachine,
  snapshot: AnyMachineSnapshot,
  event: AnyEventObject,
): readonly AnyMachineSnapshot[] {
  return machine.microstep(snapshot, event, inertScope());
}
