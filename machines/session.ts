import { assign, sendTo, setup } from 'xstate';
import type { AbortReason } from '../src/tool/call.js';
import type { PermissionQuestion } from './permission.js';
import { port } from './port.js';
import type { AbortEvent } from './protocol.js';
import { type QueryLimits, type QueryOutput, queryMachine } from './query.js';

/** A question that waits for a person: one call, one exact input. */
export type OpenQuestion = Pick<PermissionQuestion, 'callId' | 'toolName' | 'inputDigest'>;

export interface SessionInput {
  readonly sessionId: string;
  readonly limits: QueryLimits;
  /** Queries that an earlier process of this session has run; ids go on from there. */
  readonly queriesBefore: number;
}
export interface SessionContext extends Omit<SessionInput, 'queriesBefore'> {
  readonly queries: number;
  /** Prompts and notifications that wait for the model. */
  readonly waiting: number;
  readonly questions: readonly OpenQuestion[];
  readonly hooks: QueryHooks;
  readonly last: QueryOutput | null;
  /** Set once the session is to close: the running query settles first. */
  readonly closing: boolean;
}
/** Whether a query has hooks to run; asked afresh for every query. */
export interface QueryHooks {
  readonly hasPromptHooks: boolean;
  readonly hasStopHooks: boolean;
}

export type SessionEvent =
  /** Prompts or notifications were put into the inbox or taken out of it; `waiting` are left. */
  | { readonly type: 'inbox.changed'; readonly waiting: number; readonly fromPerson: boolean }
  | { readonly type: 'question.opened'; readonly question: OpenQuestion }
  | { readonly type: 'question.closed'; readonly callId: string }
  | AbortEvent
  | { readonly type: 'session.close' };

/**
 * One conversation. It is idle or it answers; beside that it keeps the questions that wait for a person.
 * What arrives meanwhile waits in the inbox: it goes with the next request of a running query, else starts a query of its own.
 */
export const sessionMachine = setup({
  types: {
    context: {} as SessionContext,
    events: {} as SessionEvent,
    input: {} as SessionInput,
  },
  actors: {
    startSession: port<{ readonly sessionId: string }, QueryHooks>('startSession'),
    query: queryMachine,
    closeSession: port<{ readonly sessionId: string }, null>('closeSession'),
  },
  actions: {
    /** Moves what waits in the inbox into a new user message. Provided; must be total. */
    openQuery: (_, _params: { readonly queryId: string }) => {},
    noteQueryEnd: (_, _params: { readonly output: QueryOutput }) => {},
    noteFailure: (_, _params: { readonly error: unknown }) => {},
    countQuery: assign({ queries: ({ context }) => context.queries + 1 }),
    rememberHooks: assign({ hooks: (_, params: { readonly hooks: QueryHooks }) => params.hooks }),
    rememberClosing: assign({ closing: true }),
    rememberWaiting: assign({ waiting: (_, params: { readonly waiting: number }) => params.waiting }),
    rememberQuery: assign({ last: (_, params: { readonly output: QueryOutput }) => params.output }),
    addQuestion: assign({
      questions: ({ context }, params: { readonly question: OpenQuestion }) => [...context.questions, params.question],
    }),
    removeQuestion: assign({
      questions: ({ context }, params: { readonly callId: string }) => context.questions.filter((one) => one.callId !== params.callId),
    }),
    passAbort: sendTo('query', (_, params: { readonly reason: AbortReason }): AbortEvent => ({ type: 'abort', reason: params.reason })),
    tellNewMessage: sendTo('query', { type: 'abort', reason: 'newMessage' }),
    tellClosing: sendTo('query', { type: 'abort', reason: 'sessionClosed' }),
  },
  guards: {
    isClosing: ({ context }) => context.closing,
    somethingWaits: ({ context }) => context.waiting > 0,
    personSpoke: (_, params: { readonly waiting: number; readonly fromPerson: boolean }) => params.fromPerson && params.waiting > 0,
    noQuestionIsLeft: ({ context }) => context.questions.length === 0,
  },
}).createMachine({
  id: 'session',
  options: { maxIterations: 1000 },
  context: ({ input: { queriesBefore, ...input } }) => ({
    ...input,
    queries: queriesBefore,
    waiting: 0,
    questions: [],
    hooks: { hasPromptHooks: false, hasStopHooks: false },
    last: null,
    closing: false,
  }),
  type: 'parallel',
  states: {
    conversation: {
      initial: 'starting',
      on: {
        'inbox.changed': { actions: { type: 'rememberWaiting', params: ({ event }) => event } },
      },
      states: {
        starting: {
          description: 'SessionStart hooks, servers and a resumed transcript come first; prompts wait.',
          invoke: {
            src: 'startSession',
            input: ({ context }) => ({ sessionId: context.sessionId }),
            onDone: { target: 'idle', actions: { type: 'rememberHooks', params: ({ event }) => ({ hooks: event.output }) } },
            onError: { target: 'closing', actions: { type: 'noteFailure', params: ({ event }) => event } },
          },
          on: { 'session.close': 'closing' },
        },
        idle: {
          always: { guard: 'somethingWaits', target: 'querying' },
          on: { 'session.close': 'closing' },
        },
        querying: {
          entry: ['countQuery', { type: 'openQuery', params: ({ context }) => ({ queryId: queryId(context) }) }],
          invoke: {
            id: 'query',
            src: 'query',
            input: ({ context }) => ({ queryId: queryId(context), limits: context.limits, ...context.hooks }),
            onDone: {
              target: 'answered',
              actions: [
                { type: 'rememberQuery', params: ({ event }) => ({ output: event.output }) },
                { type: 'noteQueryEnd', params: ({ event }) => ({ output: event.output }) },
              ],
            },
            onError: { target: 'answered', actions: { type: 'noteFailure', params: ({ event }) => event } },
          },
          on: {
            abort: { actions: { type: 'passAbort', params: ({ event }) => event } },
            'session.close': { actions: ['rememberClosing', 'tellClosing'] },
            'inbox.changed': [
              {
                guard: { type: 'personSpoke', params: ({ event }) => event },
                actions: [{ type: 'rememberWaiting', params: ({ event }) => event }, 'tellNewMessage'],
              },
              { actions: { type: 'rememberWaiting', params: ({ event }) => event } },
            ],
          },
        },
        answered: { always: [{ guard: 'isClosing', target: 'closing' }, { target: 'idle' }] },
        closing: {
          invoke: {
            src: 'closeSession',
            input: ({ context }) => ({ sessionId: context.sessionId }),
            onDone: 'closed',
            onError: { target: 'closed', actions: { type: 'noteFailure', params: ({ event }) => event } },
          },
        },
        closed: { type: 'final' },
      },
    },
    questions: {
      description: 'What a person is asked right now. Answers are addressed to one call and bound to the input that was shown.',
      initial: 'none',
      states: {
        none: {
          on: { 'question.opened': { target: 'open', actions: { type: 'addQuestion', params: ({ event }) => event } } },
        },
        open: {
          always: { guard: 'noQuestionIsLeft', target: 'none' },
          on: {
            'question.opened': { actions: { type: 'addQuestion', params: ({ event }) => event } },
            'question.closed': { actions: { type: 'removeQuestion', params: ({ event }) => event } },
          },
        },
      },
    },
  },
});

const queryId = ({ queries }: SessionContext): string => `query-${queries}`;
