import { type AnyActorRef, createActor } from 'xstate';
import type { FlowLog } from '../../../src/inspect/flowLog.js';
import { DebugGate, type FlowOptions, inspectFlow } from '../../../src/inspect/index.js';
import type { FlowEventOf, FlowEventType } from '../../../src/inspect/protocol/flowEvents.js';
import { simulatedClock } from '../../../src/testing/clock.js';
import { parentMachine } from './machines.js';

export const call = (slot: string, name: string, input: unknown = { command: `do ${name}` }) =>
  ({ type: 'ADD', slot, call: { id: `toolu_${slot}_${name}`, name, input } }) as const;

/** An inspected parent, with a fixed clock and no environment secrets. */
export function startFlow(options: FlowOptions = {}, makeGate = false) {
  const clock = simulatedClock();
  const gate = makeGate ? new DebugGate({ clock }) : undefined;
  const actor = createActor(gate ? gate.instrument(parentMachine) : parentMachine, { id: 'executor', clock: gate?.clock ?? clock });
  const system = inspectFlow(actor, {
    name: 'test flow',
    now: () => 1_000_000 + clock.now(),
    redaction: { env: {}, salt: 'fixed' },
    ...(gate ? { gate } : {}),
    ...options,
  });
  actor.start();
  return { ...system, actor, clock, gate };
}

export function eventsOf<T extends FlowEventType>(log: FlowLog, type: T): FlowEventOf<T>[] {
  return log.events(0).filter((event): event is FlowEventOf<T> => event.type === type);
}

/** Lets every promise that can settle do so: several turns of the microtask queue. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

export const childOf = (actor: AnyActorRef, id: string): AnyActorRef => actor.getSnapshot().children[id];
