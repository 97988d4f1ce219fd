import { assign, sendTo, setup } from 'xstate';
import type { HookResult } from '../src/hooks/types.js';
import type { ModelError } from '../src/model/types.js';
import type { AbortReason } from '../src/tool/call.js';
import { messageOf } from './errorText.js';
import type { ExecutorReport } from './executor.js';
import { port } from './port.js';
import type { AbortEvent } from './protocol.js';
import { type TurnOutput, turnMachine } from './turn.js';

/** Why a query ended. */
export type QueryEnd =
  /** The model answered and asked for no further tool. */
  | 'completed'
  /** The answer reached its output limit, and held no complete call to go on with. */
  | 'maxTokens'
  /** The model refused to go on. */
  | 'refusal'
  /** The conversation no longer fits the model. */
  | 'contextWindowExceeded'
  /** The limit of turns was reached. */
  | 'maxTurns'
  /** The budget of tokens or dollars is used up. */
  | 'budgetExhausted'
  /** A hook asked for the query to end. */
  | 'hookStopped'
  /** A UserPromptSubmit hook refused the prompt. */
  | 'promptBlocked'
  /** A person stopped it, refused a call in a way that stops it, or closed the session. */
  | 'aborted'
  /** The model could not be asked, and asking again would not have helped. */
  | 'modelError'
  /** Something broke in the runtime itself. */
  | 'runtimeError';

/** What stands before the next request. */
export type Admission =
  | { readonly kind: 'proceed' }
  | { readonly kind: 'compact' }
  | { readonly kind: 'stop'; readonly end: 'budgetExhausted' | 'runtimeError'; readonly reason: string };

/** How far a query may go. */
export interface QueryLimits {
  /** Model requests that are answered, at most. */
  readonly maxTurns: number;
  /** Stop hooks may send a query round again this many times in a row; 0 means without limit. */
  readonly maxStopRounds: number;
  /** Paused answers that are continued in a row. */
  readonly maxPauses: number;
}
/** What a query is started with. */
export interface QueryInput {
  /** `query-<n>`, counted over the session. */
  readonly queryId: string;
  /** How far it may go. */
  readonly limits: QueryLimits;
  /** Whether UserPromptSubmit hooks are to run before the first turn. */
  readonly hasPromptHooks: boolean;
  /** Whether Stop hooks are to run before it ends. */
  readonly hasStopHooks: boolean;
}
/** Where a query stands. */
export interface QueryContext extends QueryInput {
  /** Turns so far. */
  readonly turns: number;
  /** Rounds in a row that Stop hooks have added. */
  readonly stopRounds: number;
  /** Answers in a row that were paused: `pause_turn`, or `compaction` with `pause_after_compaction`. */
  readonly pauses: number;
  /** Why it is being stopped; null while it is not. */
  readonly abort: AbortReason | null;
  /** What the newest turn came to; null before the first. */
  readonly last: TurnOutput | null;
  /** How it will end, unless something else happens first. */
  readonly ending: { readonly end: QueryEnd; readonly reason: string };
}
/** What a query hears from outside, from its turn, and of what stands before the next one. */
export type QueryEvent = AbortEvent | ExecutorReport | { readonly type: 'turn.admitted'; readonly admission: Admission };
/** How a query ended. */
export interface QueryOutput {
  /** The query's id. */
  readonly queryId: string;
  /** Why it ended. */
  readonly end: QueryEnd;
  /** The same in words for a person. */
  readonly reason: string;
  /** Turns it took. */
  readonly turns: number;
  /** Why it was stopped; null where it was not. */
  readonly abortReason: AbortReason | null;
  /** The model's error that ended it; null where none did. */
  readonly error: ModelError | null;
}

export interface QueryPortInput {
  readonly queryId: string;
}

const NO_TOOL_ASKED_FOR = 'the model asked for no tool';
const BROKEN_OFF = 'the answer broke off; what of it was complete was kept';

/** Reasons are compared as texts: those of the API's betas are in no type. */
const endedWith = ({ last }: QueryContext, stopReason: string): boolean => String(last?.stopReason) === stopReason;

const machine = setup({
  types: {
    context: {} as QueryContext,
    events: {} as QueryEvent,
    input: {} as QueryInput,
    output: {} as QueryOutput,
  },
  actors: {
    runPromptHooks: port<QueryPortInput, HookResult>('runPromptHooks'),
    compact: port<QueryPortInput, null>('compact'),
    turn: turnMachine,
    runStopHooks: port<QueryPortInput & { readonly rounds: number; readonly output: TurnOutput | null }, HookResult>('runStopHooks'),
  },
  actions: {
    /** Looks at budget and context window, where nothing waits: answers with one `turn.admitted` sent to this actor. Provided; must be total. */
    admitTurn: () => {},
    /** Puts a Stop hook's reason where the model reads it next. Provided; must be total. */
    recordStopReason: (_, _params: { readonly hook: HookResult }) => {},
    noteTurn: (_, _params: { readonly queryId: string; readonly turn: number }) => {},
    countTurn: assign({ turns: ({ context }) => context.turns + 1 }),
    countStopRound: assign({ stopRounds: ({ context }) => context.stopRounds + 1 }),
    countPause: assign({ pauses: ({ context }) => context.pauses + 1 }),
    forgetPauses: assign({ pauses: 0 }),
    rememberTurn: assign({ last: (_, params: { readonly output: TurnOutput }) => params.output }),
    /** A new message of the person is no abort of the query: it only cuts calls that allow it. */
    rememberAbort: assign({
      abort: ({ context }, params: { readonly reason: AbortReason }) => (params.reason === 'newMessage' ? context.abort : params.reason),
    }),
    conclude: assign({ ending: (_, ending: QueryContext['ending']) => ending }),
    passAbort: sendTo('turn', (_, params: { readonly reason: AbortReason }): AbortEvent => ({ type: 'abort', reason: params.reason })),
  },
  guards: {
    promptHooksAreConfigured: ({ context }) => context.hasPromptHooks,
    noStopHooksAreConfigured: ({ context }) => !context.hasStopHooks,
    isBlocked: (_, { hook }: { readonly hook: HookResult }) => hook.block !== undefined || hook.stop !== undefined,
    mayGoRoundAgain: ({ context }, { hook }: { readonly hook: HookResult }) =>
      hook.stop === undefined &&
      (hook.block !== undefined || hook.additionalContext.length > 0) &&
      (context.limits.maxStopRounds === 0 || context.stopRounds < context.limits.maxStopRounds),
    turnsAreUsedUp: ({ context }) => context.turns >= context.limits.maxTurns,
    mustCompact: (_, { admission }: { readonly admission: Admission }) => admission.kind === 'compact',
    mayProceed: (_, { admission }: { readonly admission: Admission }) => admission.kind === 'proceed',
    isHardAbort: (_, params: { readonly reason: AbortReason }) => params.reason !== 'newMessage',
    wasAborted: ({ context }) => context.abort !== null || (context.last?.abortReason ?? null) !== null,
    broke: ({ context }) => (context.last?.error ?? null) !== null,
    wasStoppedByHook: ({ context }) => context.last?.preventContinuation === true,
    wasRefused: ({ context }) => endedWith(context, 'refusal'),
    asksForMore: ({ context }) => (context.last?.toolUses ?? 0) > 0,
    isPausedAndMayGoOn: ({ context }) =>
      (endedWith(context, 'pause_turn') || endedWith(context, 'compaction')) && context.pauses < context.limits.maxPauses,
    ranOutOfTokens: ({ context }) => endedWith(context, 'max_tokens'),
    overranTheWindow: ({ context }) => endedWith(context, 'model_context_window_exceeded'),
  },
}).createMachine({
  id: 'query',
  options: { maxIterations: 1000 },
  context: ({ input }) => ({
    ...input,
    turns: 0,
    stopRounds: 0,
    pauses: 0,
    abort: null,
    last: null,
    ending: { end: 'completed', reason: NO_TOOL_ASKED_FOR },
  }),
  output: ({ context }) => ({
    queryId: context.queryId,
    end: context.ending.end,
    reason: context.ending.reason,
    turns: context.turns,
    abortReason: context.abort ?? context.last?.abortReason ?? null,
    error: context.last?.error ?? null,
  }),
  initial: 'submitting',
  on: {
    abort: {
      guard: { type: 'isHardAbort', params: ({ event }) => event },
      target: '.ended',
      actions: [
        { type: 'rememberAbort', params: ({ event }) => event },
        { type: 'conclude', params: ({ event }) => ({ end: 'aborted', reason: event.reason }) },
      ],
    },
  },
  states: {
    submitting: {
      description: 'UserPromptSubmit hooks may add to the prompt or block it.',
      initial: 'matching',
      states: {
        matching: { always: [{ guard: 'promptHooksAreConfigured', target: 'running' }, { target: '#query.admitting' }] },
        running: {
          invoke: {
            src: 'runPromptHooks',
            input: ({ context }) => ({ queryId: context.queryId }),
            onDone: [
              {
                guard: { type: 'isBlocked', params: ({ event }) => ({ hook: event.output }) },
                target: '#query.ended',
                actions: {
                  type: 'conclude',
                  params: ({ event }) => ({ end: 'promptBlocked', reason: blockReason(event.output) }),
                },
              },
              { target: '#query.admitting' },
            ],
            onError: {
              target: '#query.ended',
              actions: { type: 'conclude', params: ({ event }) => ({ end: 'runtimeError', reason: messageOf(event.error) }) },
            },
          },
        },
      },
    },

    admitting: {
      description: 'Limits and the context window are looked at before every request.',
      initial: 'counting',
      states: {
        counting: {
          always: [
            {
              guard: 'turnsAreUsedUp',
              target: '#query.ended',
              actions: {
                type: 'conclude',
                params: ({ context }) => ({ end: 'maxTurns', reason: `the limit of ${context.limits.maxTurns} turns was reached` }),
              },
            },
            { target: 'weighing' },
          ],
        },
        weighing: {
          entry: 'admitTurn',
          on: {
            'turn.admitted': [
              { guard: { type: 'mayProceed', params: ({ event }) => event }, target: '#query.turning' },
              { guard: { type: 'mustCompact', params: ({ event }) => event }, target: '#query.compacting' },
              { target: '#query.ended', actions: { type: 'conclude', params: ({ event }) => endOfStop(event.admission) } },
            ],
          },
        },
      },
    },

    compacting: {
      description: 'Older history becomes a summary, cut only where no call is open. If that fails, the full history is sent.',
      invoke: {
        src: 'compact',
        input: ({ context }) => ({ queryId: context.queryId }),
        onDone: 'turning',
        onError: 'turning',
      },
    },

    turning: {
      entry: ['countTurn', { type: 'noteTurn', params: ({ context }) => ({ queryId: context.queryId, turn: context.turns }) }],
      invoke: {
        id: 'turn',
        src: 'turn',
        input: ({ context }) => ({ queryId: context.queryId, turn: context.turns }),
        onDone: { target: 'weighingAnswer', actions: { type: 'rememberTurn', params: ({ event }) => ({ output: event.output }) } },
        onError: {
          target: 'ended',
          actions: { type: 'conclude', params: ({ event }) => ({ end: 'runtimeError', reason: messageOf(event.error) }) },
        },
      },
      on: {
        abort: {
          description: 'The turn is told, and waited for: it settles every call before the query ends.',
          actions: [
            { type: 'rememberAbort', params: ({ event }) => event },
            { type: 'passAbort', params: ({ event }) => event },
          ],
        },
        'call.aborted': { actions: { type: 'rememberAbort', params: ({ event }) => event } },
      },
    },
    weighingAnswer: {
      description: 'What the turn came to decides whether there is another. A refused or cancelled call cannot be passed over.',
      always: [
        {
          guard: 'wasAborted',
          target: 'ended',
          actions: { type: 'conclude', params: ({ context }) => ({ end: 'aborted', reason: abortOf(context) }) },
        },
        {
          guard: 'broke',
          target: 'ended',
          actions: { type: 'conclude', params: ({ context }) => endOfError(context.last?.error ?? null) },
        },
        {
          guard: 'wasStoppedByHook',
          target: 'ended',
          actions: { type: 'conclude', params: { end: 'hookStopped', reason: 'a hook asked to stop after these results' } },
        },
        {
          guard: 'wasRefused',
          target: 'ended',
          actions: { type: 'conclude', params: ({ context }) => ({ end: 'refusal', reason: refusalOf(context) }) },
        },
        { guard: 'asksForMore', target: 'admitting', actions: 'forgetPauses' },
        { guard: 'isPausedAndMayGoOn', target: 'admitting', actions: 'countPause' },
        {
          guard: 'ranOutOfTokens',
          target: 'ended',
          actions: { type: 'conclude', params: { end: 'maxTokens', reason: 'the answer reached max_tokens' } },
        },
        {
          guard: 'overranTheWindow',
          target: 'ended',
          actions: {
            type: 'conclude',
            params: { end: 'contextWindowExceeded', reason: 'the conversation no longer fits the model’s context window' },
          },
        },
        {
          target: 'stopping',
          actions: {
            type: 'conclude',
            params: ({ context }) => ({ end: 'completed', reason: context.last?.incomplete ? BROKEN_OFF : NO_TOOL_ASKED_FOR }),
          },
        },
      ],
    },

    stopping: {
      description: 'Stop hooks may send the query round again with a reason, a bounded number of times in a row.',
      initial: 'matching',
      states: {
        matching: { always: [{ guard: 'noStopHooksAreConfigured', target: '#query.ended' }, { target: 'running' }] },
        running: {
          invoke: {
            src: 'runStopHooks',
            input: ({ context }) => ({ queryId: context.queryId, rounds: context.stopRounds, output: context.last }),
            onDone: [
              {
                guard: { type: 'mayGoRoundAgain', params: ({ event }) => ({ hook: event.output }) },
                target: '#query.admitting',
                actions: [{ type: 'recordStopReason', params: ({ event }) => ({ hook: event.output }) }, 'countStopRound'],
              },
              { target: '#query.ended' },
            ],
            onError: { target: '#query.ended' },
          },
        },
      },
    },

    ended: { type: 'final' },
  },
});

const endOfStop = (admission: Admission): QueryContext['ending'] =>
  admission.kind === 'stop'
    ? { end: admission.end, reason: admission.reason }
    : { end: 'runtimeError', reason: 'the turn was not admitted' };

const blockReason = (hook: HookResult): string => hook.stop?.reason ?? hook.block?.reason ?? 'a UserPromptSubmit hook blocked the prompt';

const abortOf = ({ abort, last }: QueryContext): string => abort ?? last?.abortReason ?? 'aborted';

const endOfError = (error: ModelError | null): QueryContext['ending'] => ({
  end: error?.type === 'runtime_error' ? 'runtimeError' : 'modelError',
  reason: error?.message ?? 'unknown error',
});

const refusalOf = ({ last }: QueryContext): string => {
  const explanation = last?.stopDetails?.explanation;
  return typeof explanation === 'string' ? explanation : 'the model refused to answer';
};

type Machine = typeof machine;
/** The machine's type by name: inferred, it would be written out in the declarations of every machine that invokes it. */
export interface QueryMachine extends Machine {}

/**
 * The loop that answers one prompt: turn after turn until a turn asks for no tool, or a limit, a hook or a person ends it.
 * Whatever ends it, the last turn has given every call its result first.
 */
export const queryMachine: QueryMachine = machine;
