import { createActor, setup } from 'xstate';
import * as machines from '../../../machines/index.js';
import { ApprovalDesk } from '../../../src/inspect/approvalDesk.js';
import { createFlowSink, FlowLog, type InspectedSystem, inspectFlow, type RedactionOptions } from '../../../src/inspect/index.js';
import { machineGraph } from '../../../src/inspect/protocol/graph.js';
import { XStateAdapter } from '../../../src/inspect/xstateAdapter.js';

/** A flow that is told directly, event by event, without any actor. */
export function toldFlow(name = 'told', env: RedactionOptions['env'] = {}): InspectedSystem {
  let now = Date.UTC(2026, 10, 30);
  const log = new FlowLog({ name, now: () => now++, maxEvents: 2_000_000, redaction: { env, salt: 'fixed' } });
  return {
    log,
    sink: createFlowSink(log),
    desk: new ApprovalDesk(log),
    adapter: new XStateAdapter(log),
    gate: undefined,
    detach: () => undefined,
  };
}

/** One idle actor of every machine of the library. */
export function everyMachine(): InspectedSystem {
  const system = toldFlow('every machine');
  for (const machine of Object.values(machines)) {
    const graph = machineGraph(machine);
    system.log.addGraph(graph);
    system.log.put({ type: 'actor.started', actor: graph.id, parent: null, kind: 'actor', machine: graph.id, name: graph.id, label: '' });
    const first = graph.nodes[0]?.id ?? '';
    system.log.put({
      type: 'transition',
      actor: graph.id,
      event: 'xstate.init',
      from: [],
      to: [first],
      configuration: [first],
      edges: [],
      micro: 0,
      initial: true,
    });
  }
  return system;
}

const TOOLS = ['Read', 'Bash', 'Grep', 'Edit', 'WebFetch', 'Glob'];

/** Many finished calls below one executor, told as briefly as a flow can be. */
export function tellCalls({ log }: InspectedSystem, count: number): void {
  if (log.lastSeq === 0) {
    log.addGraph(machineGraph(machines.executorMachine));
    log.addGraph(machineGraph(machines.toolCallMachine));
    log.put({ type: 'actor.started', actor: 'executor', parent: null, kind: 'executor', machine: 'executor', name: 'executor', label: '' });
  }
  const body = log.bodies.putText('"ok"');
  for (let i = 0; i < count; i++) {
    const [tool = 'Read'] = TOOLS.slice(i % TOOLS.length);
    const actor = `executor/call-${i}`;
    const toolUseId = `toolu_${i}`;
    const failed = i % 50 === 7;
    log.put({
      type: 'actor.started',
      actor,
      parent: 'executor',
      kind: 'toolCall',
      machine: 'toolCall',
      name: tool,
      label: `item ${i}`,
      toolUseId,
    });
    const at = failed ? 'toolCall.completed.failed' : 'toolCall.completed.succeeded';
    const configuration = ['toolCall', 'toolCall.completed', at];
    log.put({ type: 'transition', actor, event: 'call.start', from: ['toolCall.queued'], to: [at], configuration, edges: [], micro: 0 });
    const outcome = failed ? 'failed' : 'succeeded';
    log.put({ type: 'result', toolUseId, toolName: tool, outcome, isError: failed, summary: failed ? 'exit code 1' : 'done', body });
    log.put({ type: 'actor.stopped', actor, status: 'done' });
  }
}

/** A machine the page has never seen: 24 states, two regions, guards and a delay. */
const strangeMachine = setup({
  types: { events: {} as { type: 'NEXT' } | { type: 'OTHER' } | { type: 'JUMP' } },
  guards: { isOdd: () => true },
}).createMachine({
  id: 'strange',
  type: 'parallel',
  states: {
    left: {
      initial: 's0',
      states: Object.fromEntries(
        Array.from({ length: 11 }, (_, i) => [
          `s${i}`,
          {
            on: { NEXT: { target: `s${(i + 1) % 11}` }, ...(i === 4 ? { JUMP: { target: 's9', guard: 'isOdd' as const } } : {}) },
            ...(i === 10 ? { after: { 60000: 's0' } } : {}),
          },
        ]),
      ),
    },
    right: {
      initial: 'off',
      states: {
        off: { on: { OTHER: 'on' } },
        on: {
          initial: 'a',
          on: { OTHER: 'off' },
          states: Object.fromEntries(
            Array.from({ length: 8 }, (_, i) => [String.fromCharCode(97 + i), { on: { JUMP: String.fromCharCode(97 + ((i + 1) % 8)) } }]),
          ),
        },
      },
    },
  },
});

export function strangeFlow() {
  const actor = createActor(strangeMachine, { id: 'strange' });
  const system = inspectFlow(actor, { name: 'strange', redaction: { env: {}, salt: 'fixed' } });
  actor.start();
  return { actor, system };
}
