import { assertEvent, assign, sendParent, setup } from 'xstate';
import type { AbortReason, CallOutcome, ToolUseRequest } from '../src/tool/call.js';
import { brokenGateOutcome, brokenRunOutcome } from './outcome.js';
import type { CallReport, ExecutorOutput, ExecutorRequest } from './protocol.js';
import { advance, type Eagerness, freeSlot, type ScheduledCall, scheduled } from './schedule.js';
import { toolCallMachine } from './toolCall.js';

/** How an executor schedules. */
export interface ExecutorInput {
  /** Concurrency-safe calls that may run at once. */
  readonly maxConcurrency: number;
  /** When calls may start while the model's stream is open. */
  readonly eager: Eagerness;
}
/** The calls of a turn, as their executor keeps them. */
export interface ExecutorContext extends ExecutorInput {
  /** Every call of the turn, in block order. */
  readonly calls: readonly ScheduledCall[];
  /** True while the model's stream is open. */
  readonly streaming: boolean;
  /** Why it is aborting; null while it is not. */
  readonly abort: AbortReason | null;
  /** A call has failed in a way that stops its siblings: those that the stream still brings are answered unrun. */
  readonly siblingsAreStopped: boolean;
}
/** What an executor hears: its turn, its calls, and the ends of their actors. */
export type ExecutorEvent =
  | ExecutorRequest
  | CallReport
  /** A call has yielded: its actor is done, and forgotten. */
  | { readonly type: 'xstate.done.actor.*'; readonly actorId: string }
  | { readonly type: 'xstate.error.actor.*'; readonly error: unknown; readonly actorId: string };

/** A call's abort that reaches the query: `siblingError` never bubbles past the executor. */
export interface ExecutorReport {
  readonly type: 'call.aborted';
  /** The child's id. */
  readonly slot: string;
  /** The `tool_use` id. */
  readonly callId: string;
  /** Why the call asks for more than itself to end. */
  readonly reason: AbortReason;
}

const change = (calls: readonly ScheduledCall[], callId: string, patch: Partial<ScheduledCall>): readonly ScheduledCall[] =>
  calls.map((call) => (call.callId === callId && call.stage !== 'yielded' ? { ...call, ...patch } : call));

const executor = setup({
  types: {
    context: {} as ExecutorContext,
    events: {} as ExecutorEvent,
    input: {} as ExecutorInput,
    output: {} as ExecutorOutput,
  },
  actors: { toolCall: toolCallMachine },
  actions: {
    /** Applies the context modifiers of these calls, in this order. Provided; must be total. */
    applyModifiers: (_, _params: { readonly callIds: readonly string[] }) => {},
    /** Writes the result of a call whose own actor broke. Provided; must be total. */
    fixResultOf: (_, _params: { readonly callId: string; readonly outcome: CallOutcome }) => {},
    /** The set of calls in progress has changed. */
    tellInProgress: (_, _params: { readonly callIds: readonly string[] }) => {},
    /** The same id came twice in one turn: one execution, and the second is told as a protocol error. */
    noteDuplicate: (_, _params: { readonly call: ToolUseRequest }) => {},
  },
  guards: {
    isKnownCall: ({ context }, { call }: { readonly call: ToolUseRequest }) => context.calls.some((one) => one.callId === call.id),
    isHardAbort: (_, { reason }: { readonly reason: AbortReason }) => reason !== 'newMessage',
    siblingsAreStopped: ({ context }) => context.siblingsAreStopped,
    concernsSiblingsOnly: (_, { reason }: { readonly reason: AbortReason }) => reason === 'siblingError',
    isDiscarded: (_, { discarded }: { readonly discarded: boolean }) => discarded,
    everyCallHasYielded: ({ context }) => context.calls.every((call) => call.stage === 'yielded'),
    everyCallHasYieldedAndStreamIsOver: ({ context }) => !context.streaming && context.calls.every((call) => call.stage === 'yielded'),
  },
});

type Enqueue = Parameters<Parameters<typeof executor.enqueueActions>[0]>[0]['enqueue'];

/** Everything that follows from a call's new stage: modifiers, results in order, free slots. */
function moveOn(context: ExecutorContext, enqueue: Enqueue): void {
  const { calls, modified, yielding, starting } = advance(context);
  if (modified.length > 0) enqueue({ type: 'applyModifiers', params: { callIds: modified } });
  if (yielding !== undefined) enqueue.sendTo(yielding, { type: 'call.yield' });
  for (const slot of starting) enqueue.sendTo(slot, { type: 'call.start' });
  enqueue.assign({ calls });
  if (starting.length > 0) {
    const callIds = calls.filter(({ stage }) => stage === 'running').map(({ callId }) => callId);
    enqueue({ type: 'tellInProgress', params: { callIds } });
  }
}

const deciding = executor.extend({
  actions: {
    admitCall: executor.enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'toolUse.received');
      const { call } = event;
      const slot = freeSlot(context.calls);
      enqueue.spawnChild('toolCall', { id: slot, input: { slot, call } });
      enqueue.assign({ calls: [...context.calls, scheduled(call, slot)] });
    }),
    queueCall: executor.enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'call.classified');
      const { callId, safe, resourceKeys } = event;
      moveOn({ ...context, calls: change(context.calls, callId, { stage: 'queued', safe, resourceKeys }) }, enqueue);
    }),
    settleCall: executor.enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'call.completed');
      const { callId, outcome } = event;
      const calls = change(context.calls, callId, { stage: 'completed', outcome, modified: outcome.hasModifier !== true });
      moveOn({ ...context, calls }, enqueue);
    }),
    forgetCall: executor.enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'xstate.done.actor.*');
      const { actorId: slot } = event;
      enqueue.stopChild(slot);
      const calls = context.calls.map(
        (call): ScheduledCall => (call.slot === slot && call.stage === 'yielding' ? { ...call, stage: 'yielded' } : call),
      );
      moveOn({ ...context, calls }, enqueue);
    }),
    rememberAbort: assign({ abort: (_, { reason }: { readonly reason: AbortReason }) => reason }),
    stopSiblings: assign({ siblingsAreStopped: true }),
    closeStream: assign({ streaming: false }),

    moveOn: executor.enqueueActions(({ context, enqueue }) => moveOn(context, enqueue)),
    /** A call's actor broke: no action of ours may throw, so this is a defect; its result is written all the same. */
    buryBrokenCall: executor.enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'xstate.error.actor.*');
      const { actorId: slot, error } = event;
      const call = context.calls.find((one) => one.slot === slot && one.stage !== 'yielded');
      enqueue.stopChild(slot);
      if (!call) return;
      const broken = call.stage === 'running' ? brokenRunOutcome : brokenGateOutcome;
      const outcome = call.outcome ?? broken('the runtime', error);
      if (!call.outcome) enqueue({ type: 'fixResultOf', params: { callId: call.callId, outcome } });
      moveOn({ ...context, calls: change(context.calls, call.callId, { stage: 'yielded', outcome }) }, enqueue);
    }),
    /** Everyone but the call that asked for it; a new message reaches each running call, which answers by its interruptBehavior. */
    abortCalls: executor.enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, ['abort', 'call.aborted']);
      const except = event.type === 'call.aborted' ? event.callId : undefined;
      for (const call of context.calls) {
        if (call.stage !== 'yielded' && call.callId !== except) enqueue.sendTo(call.slot, { type: 'abort', reason: event.reason });
      }
    }),
    abortUnstarted: executor.enqueueActions(({ context, enqueue }) => {
      const reason = context.abort ?? (context.siblingsAreStopped ? 'siblingError' : 'streamDiscarded');
      for (const call of context.calls) {
        if (call.stage === 'new' || call.stage === 'queued') enqueue.sendTo(call.slot, { type: 'abort', reason });
      }
    }),
    bubbleAbort: sendParent((_, report: ExecutorReport) => report),
  },
});

const machine = deciding.createMachine({
  id: 'executor',
  options: { maxIterations: 1000 },
  context: ({ input }) => ({ ...input, calls: [], streaming: true, abort: null, siblingsAreStopped: false }),
  output: ({ context }) => ({
    calls: context.calls.map(({ callId, name, outcome }) => ({
      callId,
      name,
      outcome: outcome ?? brokenGateOutcome('the executor', 'no outcome'),
    })),
    abortReason: context.abort,
    preventContinuation: context.calls.some((call) => call.outcome?.preventContinuation === true),
  }),
  initial: 'accepting',
  on: {
    'call.classified': { actions: 'queueCall' },
    'call.progress': {},
    'call.completed': { actions: 'settleCall' },
    'xstate.done.actor.*': { actions: 'forgetCall' },
    'call.aborted': [
      {
        guard: { type: 'concernsSiblingsOnly', params: ({ event }) => event },
        actions: ['stopSiblings', 'abortCalls'],
      },
      {
        target: '.aborting',
        actions: [
          { type: 'rememberAbort', params: ({ event }) => event },
          'abortCalls',
          { type: 'bubbleAbort', params: ({ event }) => event },
        ],
      },
    ],
    abort: [
      {
        guard: { type: 'isHardAbort', params: ({ event }) => event },
        target: '.aborting',
        actions: [{ type: 'rememberAbort', params: ({ event }) => event }, 'abortCalls'],
      },
      {
        description: 'A new message of the person: each running call answers by its own interruptBehavior.',
        actions: 'abortCalls',
      },
    ],
    'xstate.error.actor.*': { actions: 'buryBrokenCall' },
  },
  states: {
    accepting: {
      description: 'The stream is open; calls are admitted as their blocks complete and start as soon as they may.',
      on: {
        'toolUse.received': [
          {
            guard: { type: 'isKnownCall', params: ({ event }) => event },
            actions: { type: 'noteDuplicate', params: ({ event }) => event },
          },
          {
            guard: 'siblingsAreStopped',
            actions: ['admitCall', 'abortUnstarted'],
          },
          { actions: 'admitCall' },
        ],
        'stream.ended': [
          {
            guard: { type: 'isDiscarded', params: ({ event }) => event },
            target: 'draining',
            actions: ['closeStream', 'abortUnstarted'],
          },
          { target: 'draining', actions: ['closeStream', 'moveOn'] },
        ],
      },
    },
    draining: {
      description: 'The stream has ended; what was asked for runs to its end.',
      always: { guard: 'everyCallHasYielded', target: 'drained' },
    },
    aborting: {
      description: 'Every call has been told to stop and is waited for. A block that still completes is answered unrun.',
      always: { guard: 'everyCallHasYieldedAndStreamIsOver', target: 'drained' },
      on: {
        'toolUse.received': [
          {
            guard: { type: 'isKnownCall', params: ({ event }) => event },
            actions: { type: 'noteDuplicate', params: ({ event }) => event },
          },
          {
            actions: ['admitCall', 'abortUnstarted'],
          },
        ],
        'stream.ended': { actions: ['closeStream', 'moveOn'] },
      },
    },
    drained: { type: 'final' },
  },
});

type Machine = typeof machine;
/** The machine's type by name: inferred, it would be written out in the declarations of every machine that invokes it. */
export interface ExecutorMachine extends Machine {}

/**
 * The streaming tool executor of a turn: decides which calls run when, and hands results over in `tool_use` order.
 * It lives from the first byte of the stream to the last yielded call.
 */
export const executorMachine: ExecutorMachine = machine;
