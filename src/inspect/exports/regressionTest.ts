import type { ActorStarted, EventReceived, FlowRecording, TransitionTaken } from '../protocol/flowEvents.js';

/** Where a generated test finds a machine: `import { <name> } from '<from>'`. */
export interface MachineModule {
  /** What to import from: a package or a path. */
  readonly from: string;
  /** The export that is the machine. */
  readonly name: string;
}
/** Which actor a test is made of, and for which runner. */
export interface RegressionTestOptions {
  /** The runner that the test is written for. */
  readonly runner: 'vitest' | 'nodeTest';
  /** Path of the actor in the flow. */
  readonly actor: string;
  /** Where the test imports the actor's machine from. */
  readonly machine: MachineModule;
}
interface Step {
  readonly event: unknown;
  /** Active leaf states afterwards. */
  readonly states: readonly string[];
}

/**
 * A test that folds an actor's recorded events with its machine's pure transitions and compares the states after each. It runs
 * no action, tool or model and needs nothing but XState and the machine. Throws when the recording does not hold all events.
 */
export function regressionTest(recording: FlowRecording, options: RegressionTestOptions): string {
  const started = recording.events.find((event): event is ActorStarted => event.type === 'actor.started' && event.actor === options.actor);
  if (!started) throw new Error(`The recording holds no start of the actor "${options.actor}".`);
  if (started.late)
    throw new Error(
      `The inspector came after "${options.actor}" had started, so its first state is not recorded. Choose a machine below it, or attach the inspector before the actor starts.`,
    );
  const flow = stepsOf(recording, started);
  const json = (value: unknown): string => JSON.stringify(value);
  const steps = flow.steps.map((step) => `  ${json(step)},`).join('\n');
  const runner =
    options.runner === 'vitest'
      ? ["import { expect, test } from 'vitest';", 'const same = (actual, expected, message) => expect(actual, message).toEqual(expected);']
      : [
          "import assert from 'node:assert/strict';",
          "import { test } from 'node:test';",
          'const same = (actual, expected, message) => assert.deepEqual(actual, expected, message);',
        ];
  return `// Made from the recording ${json(recording.header.name)}, actor ${json(options.actor)}. Folds recorded events; runs nothing.
${runner.join('\n')}
import { createActor, createEmptyActor, fromCallback } from 'xstate';
import { ${options.machine.name} as machine } from ${json(options.machine.from)};

const input = ${json(flow.input) ?? 'undefined'};
const initial = ${json(flow.initial)};
const steps = [
${steps}
];
// A scope in which no action runs; it has a parent, for machines that report to one.
const scope = () => {
  const self = createActor(fromCallback(() => {}), { parent: createEmptyActor() });
  const ignore = () => {};
  const { id, sessionId, system } = self;
  return { self, id, sessionId, system, logger: ignore, defer: ignore, emit: ignore, stopChild: ignore, actionExecutor: ignore };
};
const statesOf = (snapshot) =>
  snapshot._nodes.filter((node) => Object.keys(node.states).length === 0).map((node) => node.id).sort();

test(${json(`recorded flow: ${options.actor}`)}, () => {
  let snapshot = machine.getInitialSnapshot(scope(), input);
  same(statesOf(snapshot), initial, 'initial state');
  steps.forEach(({ event, states }, index) => {
    snapshot = machine.transition(snapshot, event, scope());
    same(statesOf(snapshot), states, \`step \${index + 1} (\${event.type})\`);
  });
});
`;
}

function stepsOf(recording: FlowRecording, started: ActorStarted): { input: unknown; initial: readonly string[]; steps: Step[] } {
  const { actor } = started;
  const bodyOf = (hash: string): unknown => {
    const text = recording.bodies.get(hash);
    if (text === undefined) throw new Error(`The recording lacks a body that "${actor}" needs, so no test can be made of it.`);
    return JSON.parse(text);
  };
  const events: EventReceived[] = [];
  let initial: readonly string[] = [];
  let states: readonly string[] = [];
  const ends: (readonly string[])[] = [];
  const take = (transition: TransitionTaken): void => {
    states = [...transition.to].sort();
    if (ends.length === 0 && transition.event === 'xstate.init') initial = states;
    else if (transition.micro === 0) ends.push(states);
    else ends[ends.length - 1] = states;
  };
  for (const event of recording.events) {
    if (!('actor' in event) || event.actor !== actor) continue;
    if (event.type === 'event') events.push(event);
    else if (event.type === 'transition') take(event);
    else if (event.type === 'ignored') ends.push(states);
  }
  const steps = ends.map((after, index): Step => {
    const received = events[index];
    if (!received) throw new Error(`The recording lacks events of "${actor}", so no test can be made of it.`);
    if (received.body?.clipped) throw new Error(`The event ${received.event} of "${actor}" was clipped, so no test can be made of it.`);
    const body = received.body ? bodyOf(received.body.hash) : {};
    return { event: { ...(typeof body === 'object' ? body : {}), type: received.event }, states: after };
  });
  return { input: started.input ? bodyOf(started.input.hash) : undefined, initial, steps };
}
