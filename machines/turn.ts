import { assign, sendParent, sendTo, setup } from 'xstate';
import type { JsonObject } from '../src/json.js';
import type { StopReason } from '../src/messages/types.js';
import type { ModelError, ModelStreamEvent, StreamEnd } from '../src/model/types.js';
import type { AbortReason, ToolUseRequest } from '../src/tool/call.js';
import { messageOf } from './errorText.js';
import { type ExecutorReport, executorMachine } from './executor.js';
import { eventPort, port } from './port.js';
import type { AbortEvent, ExecutorOutput, ExecutorRequest } from './protocol.js';
import type { Eagerness } from './schedule.js';

/** Which turn of which query: the stable part of every id that the turn's requests carry. */
export interface TurnAddress {
  /** The query's id. */
  readonly queryId: string;
  /** Number of the turn within its query, from 1. */
  readonly turn: number;
}
/** What preparing fixes for the length of the turn. The request itself stays with the port. */
export interface TurnPlan {
  /** Concurrency-safe calls that may run at once. */
  readonly maxConcurrency: number;
  /** When calls may start while the stream is open. */
  readonly eager: Eagerness;
  /** Requests that may be sent while nothing complete has arrived. */
  readonly maxAttempts: number;
  /**
   * Calls of an earlier process that were never begun, to be taken up again in place of a request: the model has asked for them, and
   * what it asked for in the same breath has its results already. Empty for an ordinary turn.
   */
  readonly resumedCalls: readonly ToolUseRequest[];
}
/** Counts of an answer so far. A block counts when its end has arrived. */
export interface Received {
  /** Complete blocks. */
  readonly blocks: number;
  /** Complete `tool_use` blocks for tools of ours. */
  readonly toolUses: number;
}

/** Where a turn stands. */
export interface TurnContext {
  /** Which turn of which query. */
  readonly address: TurnAddress;
  /** What preparing has fixed. */
  readonly plan: TurnPlan;
  /** Number of the request, from 1: more than 1 after a retry. */
  readonly attempt: number;
  /** What of the answer has arrived. */
  readonly received: Received;
  /** How the stream ended; null while it is open. */
  readonly end: StreamEnd | null;
  /** The executor has been told that no further call will come. */
  readonly isStreamClosed: boolean;
  /** Why the turn is being stopped; null while it is not. */
  readonly abort: AbortReason | null;
  /** What the calls came to; null until every one has yielded. */
  readonly executed: ExecutorOutput | null;
  /** Something broke outside the model: the query ends with it. */
  readonly fault: string | null;
}
/** What a turn hears: its query, its executor, the model's stream, and what it begins with. */
export type TurnEvent =
  | AbortEvent
  | ExecutorReport
  | ModelStreamEvent
  | { readonly type: 'turn.prepared'; readonly plan: TurnPlan }
  /** Preparing broke: the model is not asked. */
  | { readonly type: 'turn.unprepared'; readonly reason: string };

/** What a turn tells its query. */
export interface TurnOutput {
  /** Calls that the model asked for. */
  readonly toolUses: number;
  /** Why the model stopped; null where the stream broke or the API does not say. */
  readonly stopReason: StopReason | null;
  /** What the API says of the reason; null for nothing. */
  readonly stopDetails: JsonObject | null;
  /** Why the turn was stopped; null where it was not. */
  readonly abortReason: AbortReason | null;
  /** A hook asked for the query to end after these results. */
  readonly preventContinuation: boolean;
  /** The model's error that ended the turn; null where none did. */
  readonly error: ModelError | null;
  /** True when the stream broke after something complete had arrived: what was kept may be cut short. */
  readonly incomplete: boolean;
}

/** Claude API docs, "Handling stop reasons". */
const REFUSED = 'The model refused to answer; what it had begun to say is discarded.';

const nothing: Received = { blocks: 0, toolUses: 0 };
const isComplete = (end: StreamEnd, stopReason: StopReason): boolean => end.kind === 'complete' && end.stopReason === stopReason;

const turn = setup({
  types: {
    context: {} as TurnContext,
    events: {} as TurnEvent,
    input: {} as TurnAddress,
    output: {} as TurnOutput,
  },
  actors: {
    streamModel: eventPort<ModelStreamEvent, TurnAddress & { readonly attempt: number }>('streamModel'),
    waitForRetry: port<TurnAddress & { readonly attempt: number; readonly error: ModelError | null }, null>('waitForRetry'),
    executor: executorMachine,
    attachResults: port<
      TurnAddress & { readonly executed: ExecutorOutput | null; readonly abort: AbortReason | null },
      { readonly preventContinuation: boolean }
    >('attachResults'),
  },
  actions: {
    /** Fixes the plan, where nothing waits: answers with one event sent to this actor. Provided; must be total. */
    prepareTurn: () => {},
    /** Puts a complete block on the transcript, before any tool of it runs. Provided; must be total. */
    recordBlock: (_, _params: { readonly event: ModelStreamEvent }) => {},
    noteMessage: (_, _params: { readonly messageId: string; readonly model: string }) => {},
    /** Takes the blocks of an abandoned generation off the transcript again. Provided; must be total. */
    dropMessage: (_, _params: { readonly reason: string }) => {},
    noteStream: (_, _params: { readonly note: string }) => {},
    noteEnd: (_, _params: { readonly end: StreamEnd }) => {},
    rememberPlan: assign({ plan: (_, params: { readonly plan: TurnPlan }) => params.plan }),
    countBlock: assign({ received: ({ context }) => ({ ...context.received, blocks: context.received.blocks + 1 }) }),
    countToolUse: assign({
      received: ({ context: { received } }) => ({ blocks: received.blocks + 1, toolUses: received.toolUses + 1 }),
    }),
    countNothing: assign({ received: nothing }),
    countAttempt: assign({ attempt: ({ context }) => context.attempt + 1 }),
    rememberEnd: assign({ end: (_, params: { readonly end: StreamEnd }) => params.end }),
    rememberAbort: assign({ abort: (_, params: { readonly reason: AbortReason }) => params.reason }),
    rememberExecuted: assign({ executed: (_, params: { readonly executed: ExecutorOutput }) => params.executed }),
    rememberFault: assign({ fault: (_, params: { readonly fault: string }) => params.fault }),
    preventContinuation: assign({
      executed: ({ context }) => ({ abortReason: null, calls: [], ...context.executed, preventContinuation: true }),
    }),
    countResumed: assign({
      received: ({ context: { plan } }) => ({ blocks: plan.resumedCalls.length, toolUses: plan.resumedCalls.length }),
    }),
    handOver: sendTo(
      'executor',
      ({ event }): ExecutorRequest =>
        event.type === 'block.completed' && event.toolUse
          ? { type: 'toolUse.received', call: event.toolUse }
          : { type: 'stream.ended', discarded: false },
    ),
    passAbort: sendTo('executor', (_, params: { readonly reason: AbortReason }): AbortEvent => ({ type: 'abort', reason: params.reason })),
    bubbleAbort: sendParent((_, report: ExecutorReport) => report),
  },
  guards: {
    callsAreTakenUpAgain: ({ context }) => context.plan.resumedCalls.length > 0,
    isClientToolUse: ({ event }) => event.type === 'block.completed' && event.toolUse !== undefined,
    someCallWasAskedFor: ({ context }) => context.received.toolUses > 0,
    isHardAbort: (_, params: { readonly reason: AbortReason }) => params.reason !== 'newMessage',
    isRefusal: (_, params: { readonly end: StreamEnd }) => isComplete(params.end, 'refusal'),
    refusesAfterMereWords: ({ context: { received } }, { end }: { readonly end: StreamEnd }) =>
      isComplete(end, 'refusal') && received.blocks > 0 && received.toolUses === 0,
    mayAskAgain: ({ context }, { end }: { readonly end: StreamEnd }) =>
      end.kind === 'broken' && end.error.retryable && context.received.blocks === 0 && context.attempt < context.plan.maxAttempts,
  },
});

const resuming = turn.extend({
  actions: {
    closeStream: turn.enqueueActions(({ context, enqueue }) => {
      // An executor that has been told may be done by now.
      if (context.isStreamClosed) return;
      enqueue.assign({ isStreamClosed: true });
      enqueue.sendTo('executor', { type: 'stream.ended', discarded: false });
    }),
    discardStream: turn.enqueueActions(({ context, enqueue }) => {
      if (context.isStreamClosed) return;
      enqueue.assign({ isStreamClosed: true });
      enqueue.sendTo('executor', { type: 'stream.ended', discarded: true });
    }),
    handOverResumed: turn.enqueueActions(({ context, enqueue }) => {
      for (const call of context.plan.resumedCalls) enqueue.sendTo('executor', { type: 'toolUse.received', call });
    }),
  },
});

const machine = resuming.createMachine({
  id: 'turn',
  options: { maxIterations: 1000 },
  context: ({ input }) => ({
    address: input,
    plan: { maxConcurrency: 10, eager: 'all', maxAttempts: 1, resumedCalls: [] },
    attempt: 1,
    received: nothing,
    end: null,
    isStreamClosed: false,
    abort: null,
    executed: null,
    fault: null,
  }),
  output: ({ context }) => outputOf(context),
  initial: 'preparing',
  states: {
    preparing: {
      description: 'Fresh pool, permissions and request from the session as it is now.',
      entry: 'prepareTurn',
      on: {
        'turn.prepared': { target: 'answering', actions: { type: 'rememberPlan', params: ({ event }) => event } },
        'turn.unprepared': { target: 'done', actions: { type: 'rememberFault', params: ({ event }) => ({ fault: event.reason }) } },
        abort: {
          guard: { type: 'isHardAbort', params: ({ event }) => event },
          target: 'done',
          actions: { type: 'rememberAbort', params: ({ event }) => event },
        },
      },
    },

    answering: {
      invoke: {
        id: 'executor',
        src: 'executor',
        input: ({ context }) => ({ maxConcurrency: context.plan.maxConcurrency, eager: context.plan.eager }),
        onDone: { target: 'attaching', actions: { type: 'rememberExecuted', params: ({ event }) => ({ executed: event.output }) } },
        onError: { target: 'attaching', actions: { type: 'rememberFault', params: ({ event }) => ({ fault: messageOf(event.error) }) } },
      },
      on: {
        abort: [
          {
            guard: { type: 'isHardAbort', params: ({ event }) => event },
            target: '.settling',
            actions: [
              { type: 'rememberAbort', params: ({ event }) => event },
              { type: 'passAbort', params: ({ event }) => event },
              'closeStream',
            ],
          },
          { actions: { type: 'passAbort', params: ({ event }) => event } },
        ],
        'call.aborted': {
          description: 'A call ended in a way that must not be passed over: the rest of the answer is not waited for.',
          target: '.settling',
          actions: [
            { type: 'rememberAbort', params: ({ event }) => event },
            'closeStream',
            { type: 'bubbleAbort', params: ({ event }) => event },
          ],
        },
      },
      initial: 'choosing',
      states: {
        choosing: {
          description: 'Calls that an earlier process left before they began are taken up again in place of a request.',
          always: [
            { guard: 'callsAreTakenUpAgain', target: 'settling', actions: ['countResumed', 'handOverResumed', 'closeStream'] },
            { target: 'streaming' },
          ],
        },
        streaming: {
          invoke: {
            id: 'model',
            src: 'streamModel',
            input: ({ context }) => ({ ...context.address, attempt: context.attempt }),
            onError: {
              target: 'settling',
              actions: [{ type: 'rememberFault', params: ({ event }) => ({ fault: messageOf(event.error) }) }, 'closeStream'],
            },
          },
          on: {
            'message.started': { actions: { type: 'noteMessage', params: ({ event }) => event } },
            'block.completed': [
              {
                guard: 'isClientToolUse',
                actions: [{ type: 'recordBlock', params: ({ event }) => ({ event }) }, 'countToolUse', 'handOver'],
              },
              { actions: [{ type: 'recordBlock', params: ({ event }) => ({ event }) }, 'countBlock'] },
            ],
            'message.discarded': [
              {
                guard: 'someCallWasAskedFor',
                description:
                  'A second generation begins although calls of the first may have run: the first stands, the second is not read.',
                target: 'settling',
                actions: [{ type: 'noteStream', params: ({ event }) => ({ note: event.reason }) }, 'closeStream'],
              },
              { actions: [{ type: 'dropMessage', params: ({ event }) => ({ reason: event.reason }) }, 'countNothing'] },
            ],
            'stream.noted': { actions: { type: 'noteStream', params: ({ event }) => ({ note: event.note }) } },
            'stream.ended': [
              {
                guard: { type: 'mayAskAgain', params: ({ event }) => ({ end: event.end }) },
                target: 'backingOff',
                actions: { type: 'rememberEnd', params: ({ event }) => ({ end: event.end }) },
              },
              {
                description: 'What a refusal leaves of an answer is not sent back; only calls need their results.',
                guard: { type: 'refusesAfterMereWords', params: ({ event }) => ({ end: event.end }) },
                target: 'settling',
                actions: [
                  { type: 'rememberEnd', params: ({ event }) => ({ end: event.end }) },
                  { type: 'noteEnd', params: ({ event }) => ({ end: event.end }) },
                  { type: 'dropMessage', params: { reason: REFUSED } },
                  'discardStream',
                ],
              },
              {
                guard: { type: 'isRefusal', params: ({ event }) => ({ end: event.end }) },
                target: 'settling',
                actions: [
                  { type: 'rememberEnd', params: ({ event }) => ({ end: event.end }) },
                  { type: 'noteEnd', params: ({ event }) => ({ end: event.end }) },
                  'discardStream',
                ],
              },
              {
                target: 'settling',
                actions: [
                  { type: 'rememberEnd', params: ({ event }) => ({ end: event.end }) },
                  { type: 'noteEnd', params: ({ event }) => ({ end: event.end }) },
                  'closeStream',
                ],
              },
            ],
          },
        },
        backingOff: {
          description: 'Nothing complete has arrived, so asking again runs nothing twice.',
          invoke: {
            src: 'waitForRetry',
            input: ({ context }) => ({
              ...context.address,
              attempt: context.attempt,
              error: context.end?.kind === 'broken' ? context.end.error : null,
            }),
            onDone: { target: 'streaming', actions: 'countAttempt' },
            onError: { target: 'settling', actions: 'closeStream' },
          },
        },
        settling: { description: 'The answer is over; the calls it asked for run to their end.' },
      },
    },

    attaching: {
      description: 'One user message: every result in call order, then what waited for it (queued texts, notifications, hook context).',
      invoke: {
        id: 'attach',
        src: 'attachResults',
        input: ({ context }) => ({ ...context.address, executed: context.executed, abort: context.abort }),
        onDone: [
          { guard: ({ event }) => event.output.preventContinuation, target: 'done', actions: 'preventContinuation' },
          { target: 'done' },
        ],
        onError: { target: 'done', actions: { type: 'rememberFault', params: ({ event }) => ({ fault: messageOf(event.error) }) } },
      },
      on: {
        abort: {
          guard: { type: 'isHardAbort', params: ({ event }) => event },
          actions: { type: 'rememberAbort', params: ({ event }) => event },
        },
      },
    },

    done: { type: 'final' },
  },
});

function outputOf({ received, end, abort, executed, fault }: TurnContext): TurnOutput {
  const broken = end?.kind === 'broken' ? end.error : null;
  return {
    toolUses: received.toolUses,
    stopReason: end?.kind === 'complete' ? end.stopReason : null,
    stopDetails: end?.kind === 'complete' ? (end.stopDetails ?? null) : null,
    abortReason: abort ?? executed?.abortReason ?? null,
    preventContinuation: executed?.preventContinuation === true,
    error: fault === null ? (received.blocks === 0 ? broken : null) : { type: 'runtime_error', message: fault, retryable: false },
    incomplete: broken !== null && received.blocks > 0,
  };
}

type Machine = typeof machine;
/** The machine's type by name: inferred, it would be written out in the declarations of every machine that invokes it. */
export interface TurnMachine extends Machine {}

/**
 * One model request and the tools it asks for. Calls start while the stream goes on; what drives the loop is whether a
 * complete `tool_use` block arrived, not `stop_reason`. Once something complete has arrived the model is never asked again.
 */
export const turnMachine: TurnMachine = machine;
