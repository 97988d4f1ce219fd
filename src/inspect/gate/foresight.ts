import { type AnyEventObject, type AnyMachineSnapshot, type AnyStateMachine, isMachineSnapshot } from 'xstate';
import { pureMicrosteps } from '../pureStep.js';

/** The states that an event would enter, told without running anything: guards are evaluated, actions are not. */
export function entered(machine: AnyStateMachine, snapshot: AnyMachineSnapshot, event: AnyEventObject): readonly string[] {
  try {
    const states = new Set<string>();
    let before = snapshot;
    for (const after of pureMicrosteps(machine, snapshot, event)) {
      for (const id of newStates(before, after)) states.add(id);
      before = after;
    }
    return [...states];
  } catch {
    // The transition itself will fail in the same way, where XState reports it.
    return [];
  }
}

/** What is active after and was not before. */
export function newStates(before: AnyMachineSnapshot, after: AnyMachineSnapshot): string[] {
  if (!isMachineSnapshot(after)) return [];
  const known = new Set(before._nodes);
  return after._nodes.filter((node) => !known.has(node)).map((node) => node.id);
}
