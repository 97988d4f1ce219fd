import type { AnyActorRef, AnyStateMachine } from 'xstate';

/**
 * A machine that takes everything it has started down with it when it breaks. XState leaves the children of a machine that threw
 * running: processes, timers and streams would outlive the call they belong to. The machine is changed in place; give one of your own.
 */
export function contained<Machine extends AnyStateMachine>(machine: Machine): Machine;
export function contained(machine: AnyStateMachine): AnyStateMachine {
  const { transition, provide } = machine;
  machine.transition = function (this: AnyStateMachine, snapshot, event, scope) {
    try {
      return transition.call(this, snapshot, event, scope);
    } catch (error) {
      const children: readonly (AnyActorRef | undefined)[] = Object.values(snapshot.children);
      for (const child of children) if (child) scope.stopChild(child);
      throw error;
    }
  };
  machine.provide = function (this: AnyStateMachine, implementations) {
    return contained(provide.call(this, implementations));
  };
  return machine;
}
