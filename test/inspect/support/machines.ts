import { assign, fromPromise, sendParent, sendTo, setup } from 'xstate';

export interface CallInput {
  readonly slot: string;
  readonly call: { readonly id: string; readonly name: string; readonly input: unknown };
}
type CallEvent = { type: 'START' } | { type: 'ANSWER'; allow: boolean } | { type: 'abort'; reason: string };

/** A tool call in small: always-transitions, guards, an `after`, an invoked promise, nested states. */
export const callMachine = setup({
  types: {
    context: {} as { slot: string; call: CallInput['call']; allowed: boolean; output: string },
    events: {} as CallEvent,
    input: {} as CallInput,
    output: {} as { readonly id: string; readonly output: string },
  },
  actors: {
    run: fromPromise<string, { name: string }>(async ({ input }) => `ran ${input.name}`),
  },
  actions: {
    rememberOutput: assign({ output: (_, params: { output: string }) => params.output }),
    allow: assign({ allowed: true }),
  },
  guards: {
    isDenied: ({ context }) => context.call.name === 'Denied',
    isAllowed: ({ context }) => context.call.name !== 'Ask',
    saysYes: (_, params: { allow: boolean }) => params.allow,
  },
}).createMachine({
  id: 'toolCall',
  options: { maxIterations: 1000 },
  context: ({ input }) => ({ slot: input.slot, call: input.call, allowed: false, output: '' }),
  output: ({ context }) => ({ id: context.call.id, output: context.output }),
  initial: 'queued',
  on: { abort: '.cancelled' },
  states: {
    queued: { on: { START: 'executing' } },
    executing: {
      initial: 'deciding',
      states: {
        deciding: {
          description: 'Quiet: guards only.',
          always: [{ guard: 'isDenied', target: '#toolCall.denied' }, { guard: 'isAllowed', target: 'calling' }, { target: 'asking' }],
        },
        asking: {
          on: {
            ANSWER: [
              { guard: { type: 'saysYes', params: ({ event }) => event }, target: 'calling', actions: 'allow' },
              { target: '#toolCall.denied' },
            ],
          },
          after: { 60000: '#toolCall.denied' },
        },
        calling: {
          invoke: {
            id: 'run',
            src: 'run',
            input: ({ context }) => ({ name: context.call.name }),
            onDone: {
              target: '#toolCall.completed',
              actions: { type: 'rememberOutput', params: ({ event }) => ({ output: event.output }) },
            },
            onError: '#toolCall.failed',
          },
        },
      },
    },
    completed: { entry: sendParent(({ context }) => ({ type: 'COMPLETED', slot: context.slot })), type: 'final' },
    failed: { type: 'final' },
    denied: { entry: sendParent(({ context }) => ({ type: 'COMPLETED', slot: context.slot })), type: 'final' },
    cancelled: { type: 'final' },
  },
});

type ExecutorEvent =
  | ({ type: 'ADD' } & CallInput)
  | { type: 'TO'; slot: string; event: CallEvent }
  | { type: 'COMPLETED'; slot: string }
  | { type: 'CLOSE' };

const base = setup({
  types: { context: {} as { done: readonly string[] }, events: {} as ExecutorEvent },
  actors: { toolCall: callMachine },
});
/** Spawns calls in slots that are used again; a parallel root. */
export const parentMachine = base.createMachine({
  id: 'executor',
  context: { done: [] },
  type: 'parallel',
  states: {
    calls: {
      on: {
        ADD: {
          actions: base.enqueueActions(({ event, enqueue }) => {
            if (event.type !== 'ADD') return;
            enqueue.spawnChild('toolCall', { id: event.slot, input: { slot: event.slot, call: event.call } });
          }),
        },
        TO: {
          actions: sendTo(
            ({ event }) => event.slot,
            ({ event }) => event.event,
          ),
        },
        COMPLETED: {
          actions: base.enqueueActions(({ context, event, enqueue }) => {
            if (event.type !== 'COMPLETED') return;
            enqueue.stopChild(event.slot);
            enqueue.assign({ done: [...context.done, event.slot] });
          }),
        },
      },
    },
    stream: { initial: 'open', states: { open: { on: { CLOSE: 'closed' } }, closed: {} } },
  },
});
