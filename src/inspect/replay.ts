import { type AnyEventObject, type AnyMachineSnapshot, type AnyStateMachine, createEmptyActor, type StateValue } from 'xstate';
import { messageOf } from '../tool/errors.js';
import type { ActorStarted, EventReceived, FlowEvent, FlowRecording, TransitionTaken } from './protocol/flowEvents.js';
import { pureInitial, pureMicrosteps } from './pureStep.js';

/** A place where the machine of today does otherwise than the recording. */
export interface Mismatch {
  /** Path of the actor. */
  readonly actor: string;
  /** `seq` of the recorded event. */
  readonly seq: number;
  /** Position among the actor's events, 1-based; 0 is its initial state. */
  readonly step: number;
  /** Type of the recorded event. */
  readonly event: string;
  /** Leaf states, one list a microstep. */
  readonly expected: readonly (readonly string[])[];
  /** What the machine of today does. */
  readonly actual: readonly (readonly string[])[];
  /** All of it in a sentence. */
  readonly message: string;
}
/** What came of folding a recording through machines. */
export interface ReplayReport {
  /** Macrosteps compared. */
  readonly steps: number;
  /** Of each actor the first difference. */
  readonly mismatches: readonly Mismatch[];
  /** Actors that could not be replayed, and why. */
  readonly skipped: readonly { readonly actor: string; readonly reason: string }[];
}

interface ActorTape {
  readonly started: ActorStarted;
  readonly events: EventReceived[];
  /** One entry a macrostep, in order: its microsteps, or none when the event was ignored. */
  readonly macrosteps: { readonly event: string; readonly steps: TransitionTaken[] }[];
  /** Children it had when a late inspector came. */
  readonly children: string[];
  initial: TransitionTaken | undefined;
  context: string | undefined;
}

/**
 * Folds the recorded events of every actor with the pure transition functions of its machine and compares the states.
 * Nothing runs: no action, no tool, no model. Of an actor that differs only the first difference is told.
 */
export function replayRecording(recording: FlowRecording, machines: Iterable<AnyStateMachine>): ReplayReport {
  const byId = new Map([...machines].map((machine) => [machine.id, machine]));
  const mismatches: Mismatch[] = [];
  const skipped: { actor: string; reason: string }[] = [];
  let steps = 0;
  for (const tape of tapesOf(recording.events).values()) {
    const { actor, machine: machineId } = tape.started;
    if (machineId === null) continue;
    const machine = byId.get(machineId);
    const start = machine ? startOf(tape, machine, recording.bodies) : `no machine "${machineId}" was given`;
    if (!machine || typeof start === 'string') {
      skipped.push({ actor, reason: typeof start === 'string' ? start : 'unknown machine' });
      continue;
    }
    const result = replayActor(tape, machine, start, recording.bodies);
    steps += result.steps;
    if (result.mismatch) mismatches.push(result.mismatch);
    if (result.skipped !== undefined) skipped.push({ actor, reason: result.skipped });
  }
  return { steps, mismatches, skipped };
}

function tapesOf(events: readonly FlowEvent[]): Map<string, ActorTape> {
  const tapes = new Map<string, ActorTape>();
  for (const event of events) {
    if (event.type === 'actor.started') {
      tapes.set(event.actor, { started: event, events: [], macrosteps: [], children: [], initial: undefined, context: undefined });
      if (event.late && event.parent !== null) tapes.get(event.parent)?.children.push(event.actor.slice(event.parent.length + 1));
      continue;
    }
    const tape = 'actor' in event && event.actor !== undefined ? tapes.get(event.actor) : undefined;
    if (!tape) continue;
    if (event.type === 'event') tape.events.push(event);
    else if (event.type === 'ignored') tape.macrosteps.push({ event: event.event, steps: [] });
    else if (event.type === 'context') tape.context ??= event.body.hash;
    else if (event.type === 'transition') {
      // The initial macrostep may have several microsteps; its last one is the state that rests.
      if (event.initial || (tape.macrosteps.length === 0 && event.event === 'xstate.init')) tape.initial = event;
      else if (event.micro === 0) tape.macrosteps.push({ event: event.event, steps: [event] });
      else tape.macrosteps.at(-1)?.steps.push(event);
    }
  }
  return tapes;
}

function startOf(tape: ActorTape, machine: AnyStateMachine, bodies: ReadonlyMap<string, string>): AnyMachineSnapshot | string {
  const { started, initial } = tape;
  if (!started.late) {
    const input = started.input ? bodyOf(started.input.hash, bodies) : undefined;
    if (started.input && input === undefined) return 'its input is not in the recording';
    try {
      return pureInitial(machine, input);
    } catch (error) {
      return `its initial state cannot be entered again: ${messageOf(error)}`;
    }
  }
  const context = tape.context === undefined ? undefined : bodyOf(tape.context, bodies);
  if (!initial || context === undefined) return 'the inspector came late and its context is not in the recording';
  const snapshot = machine.resolveState({ value: stateValueOf(machine, initial.configuration), context });
  // Actions that address a child must find one; nothing is ever sent to it.
  return Object.assign(snapshot, { children: Object.fromEntries(tape.children.map((id) => [id, createEmptyActor()])) });
}

function replayActor(
  tape: ActorTape,
  machine: AnyStateMachine,
  start: AnyMachineSnapshot,
  bodies: ReadonlyMap<string, string>,
): { steps: number; mismatch?: Mismatch; skipped?: string } {
  const { actor } = tape.started;
  let snapshot = start;
  if (tape.initial && !sameSet(leavesOf(snapshot), tape.initial.to)) {
    const expected = [tape.initial.to];
    return { steps: 1, mismatch: mismatch(actor, tape.initial.seq, 0, 'xstate.init', expected, [leavesOf(snapshot)]) };
  }
  for (const [index, recorded] of tape.macrosteps.entries()) {
    const received = tape.events[index];
    if (received?.event !== recorded.event)
      return { steps: index, skipped: `step ${index + 1}: its events are not complete in the recording` };
    const body = received.body ? bodyOf(received.body.hash, bodies) : {};
    if (typeof body !== 'object' || body === null || received.body?.clipped) {
      return { steps: index, skipped: `step ${index + 1}: the body of ${received.event} was clipped or is missing` };
    }
    const taken = microsteps(machine, snapshot, { ...body, type: received.event });
    if (typeof taken === 'string') return { steps: index, skipped: `step ${index + 1} (${received.event}): ${taken}` };
    const actual = withoutRepeats(taken.map(leavesOf), leavesOf(snapshot));
    const expected = withoutRepeats(
      recorded.steps.map((step) => step.to),
      leavesOf(snapshot),
    );
    if (!sameList(actual, expected))
      return { steps: index + 1, mismatch: mismatch(actor, received.seq, index + 1, received.event, expected, actual) };
    snapshot = taken.at(-1) ?? snapshot;
  }
  return { steps: tape.macrosteps.length };
}

function microsteps(machine: AnyStateMachine, snapshot: AnyMachineSnapshot, event: AnyEventObject): readonly AnyMachineSnapshot[] | string {
  try {
    return pureMicrosteps(machine, snapshot, event);
  } catch (error) {
    return `the machine throws: ${messageOf(error)}`;
  }
}

function mismatch(
  actor: string,
  seq: number,
  step: number,
  event: string,
  expected: readonly (readonly string[])[],
  actual: readonly (readonly string[])[],
): Mismatch {
  const show = (list: readonly (readonly string[])[]): string => list.map((leaves) => leaves.join(' + ')).join(' → ') || 'no change';
  const message = `${actor}, step ${step} (${event}): recorded ${show(expected)}, now ${show(actual)}`;
  return { actor, seq, step, event, expected, actual, message };
}

function leavesOf(snapshot: AnyMachineSnapshot): string[] {
  return snapshot._nodes.filter((node) => Object.keys(node.states).length === 0).map((node) => node.id);
}

/** The state value whose active states are exactly these. */
function stateValueOf(machine: AnyStateMachine, configuration: readonly string[]): StateValue {
  const active = new Set(configuration);
  const visit = (node: AnyStateMachine['root']): StateValue => {
    const children = Object.values(node.states).filter((child) => active.has(child.id));
    const only = children[0];
    if (node.type === 'compound' && only && Object.keys(only.states).length === 0) return only.key;
    return Object.fromEntries(children.map((child) => [child.key, visit(child)]));
  };
  return visit(machine.root);
}

function bodyOf(hash: string, bodies: ReadonlyMap<string, string>): unknown {
  const text = bodies.get(hash);
  if (text === undefined) return undefined;
  const parsed: unknown = JSON.parse(text, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && '‹Error›' in value && 'message' in value ? new Error(String(value.message)) : value,
  );
  return parsed;
}

function withoutRepeats(list: readonly (readonly string[])[], before: readonly string[]): (readonly string[])[] {
  const out: (readonly string[])[] = [];
  let last = before;
  for (const leaves of list) {
    if (!sameSet(leaves, last)) out.push(leaves);
    last = leaves;
  }
  return out;
}
function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id) => b.includes(id));
}
function sameList(a: readonly (readonly string[])[], b: readonly (readonly string[])[]): boolean {
  return a.length === b.length && a.every((leaves, index) => sameSet(leaves, b[index] ?? []));
}
