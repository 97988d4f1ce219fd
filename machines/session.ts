import { assertEvent, assign, sendTo, setup } from 'xstate';
import type { AbortReason } from '../src/tool/call.js';
import {
  type BackgroundTaskInput,
  backgroundTaskMachine,
  type StopTaskEvent,
  type TaskEnd,
  type TaskEndedReport,
} from './backgroundTask.js';
import type { PermissionQuestion } from './permission.js';
import { port } from './port.js';
import type { AbortEvent } from './protocol.js';
import { type QueryLimits, type QueryOutput, queryMachine } from './query.js';

/** A background task that has not ended. */
export interface RunningTask {
  /** The child's id. */
  readonly slot: string;
  /** The task's id. */
  readonly taskId: string;
}

/** A question that waits for a person: one call, one exact input. */
export type OpenQuestion = Pick<PermissionQuestion, 'callId' | 'toolName' | 'inputDigest'>;

/** What a session is started with. */
export interface SessionInput {
  /** The session's id. */
  readonly sessionId: string;
  /** How far each query may go. */
  readonly limits: QueryLimits;
  /** Queries that an earlier process of this session has run; ids go on from there. */
  readonly queriesBefore: number;
}
/** Where a session stands. */
export interface SessionContext extends Omit<SessionInput, 'queriesBefore'> {
  /** Queries so far, those of earlier processes included. */
  readonly queries: number;
  /** Prompts and notifications that wait for the model. */
  readonly waiting: number;
  /** Questions that wait for a person. */
  readonly questions: readonly OpenQuestion[];
  /** Background tasks that have not ended. */
  readonly tasks: readonly RunningTask[];
  /** Which hooks the query that begins next has to run. */
  readonly hooks: QueryHooks;
  /** Calls of an earlier process wait to be taken up again: a query begins with them before anything else is said. */
  readonly callsWait: boolean;
  /** How the newest query ended; null before the first. */
  readonly last: QueryOutput | null;
  /** Set once the session is to close: the running query settles first. */
  readonly closing: boolean;
}
/** Whether a query has hooks to run; asked afresh for every query. */
export interface QueryHooks {
  /** UserPromptSubmit hooks. */
  readonly hasPromptHooks: boolean;
  /** Stop hooks (SubagentStop in a subagent). */
  readonly hasStopHooks: boolean;
}

/** What starting a session comes to. */
export interface SessionStart extends QueryHooks {
  /** Whether calls of an earlier process wait to be taken up again. */
  readonly callsWait: boolean;
}

/** What a session hears from outside and from its tasks. */
export type SessionEvent =
  /** Prompts or notifications were put into the inbox or taken out of it; `waiting` are left. */
  | { readonly type: 'inbox.changed'; readonly waiting: number; readonly fromPerson: boolean }
  | { readonly type: 'question.opened'; readonly question: OpenQuestion }
  | { readonly type: 'question.closed'; readonly callId: string }
  /** Work was handed over to run beside the conversation. */
  | { readonly type: 'task.adopted'; readonly task: Omit<BackgroundTaskInput, 'slot'> }
  | { readonly type: 'task.stopAsked'; readonly taskId: string }
  | TaskEndedReport
  /** A person wants older history summarised now; heard while idle. */
  | { readonly type: 'compaction.asked' }
  | AbortEvent
  | { readonly type: 'session.close' };

const session = setup({
  types: {
    context: {} as SessionContext,
    events: {} as SessionEvent,
    input: {} as SessionInput,
  },
  actors: {
    startSession: port<{ readonly sessionId: string }, SessionStart>('startSession'),
    query: queryMachine,
    backgroundTask: backgroundTaskMachine,
    compactSession: port<{ readonly sessionId: string }, null>('compactSession'),
    closeSession: port<{ readonly sessionId: string }, null>('closeSession'),
  },
  actions: {
    /** Moves what waits in the inbox into a new user message. Provided; must be total. */
    openQuery: (_, _params: { readonly queryId: string }) => {},
    /** Ends what waits in the inbox as a query that never began. Provided; must be total. */
    endWaiting: (_, _params: { readonly queryId: string; readonly reason: AbortReason }) => {},
    noteQueryEnd: (_, _params: { readonly output: QueryOutput }) => {},
    /** Fixes a task's status and puts its notification into the inbox. Provided; must be total. */
    noteTaskEnd: (_, _params: { readonly taskId: string; readonly end: TaskEnd }) => {},
    noteFailure: (_, _params: { readonly error: unknown }) => {},
    countQuery: assign({ queries: ({ context }) => context.queries + 1 }),
    rememberStart: assign((_, { callsWait, ...hooks }: SessionStart) => ({ hooks, callsWait })),
    forgetWaitingCalls: assign({ callsWait: false }),
    rememberClosing: assign({ closing: true }),
    rememberWaiting: assign({ waiting: (_, params: { readonly waiting: number }) => params.waiting }),
    rememberQuery: assign({ last: (_, params: { readonly output: QueryOutput }) => params.output }),
    addQuestion: assign({
      questions: ({ context }, params: { readonly question: OpenQuestion }) => [...context.questions, params.question],
    }),
    removeQuestion: assign({
      questions: ({ context }, params: { readonly callId: string }) => context.questions.filter((one) => one.callId !== params.callId),
    }),
    stopTask: sendTo(({ context }, params: { readonly taskId: string }) => slotOf(context.tasks, params.taskId), {
      type: 'task.stop',
    } satisfies StopTaskEvent),
    passAbort: sendTo('query', (_, params: { readonly reason: AbortReason }): AbortEvent => ({ type: 'abort', reason: params.reason })),
    tellNewMessage: sendTo('query', { type: 'abort', reason: 'newMessage' }),
    tellClosing: sendTo('query', { type: 'abort', reason: 'sessionClosed' }),
  },
  guards: {
    isClosing: ({ context }) => context.closing,
    somethingWaits: ({ context }) => context.waiting > 0 || context.callsWait,
    taskRuns: ({ context }, params: { readonly taskId: string }) => context.tasks.some((task) => task.taskId === params.taskId),
    noTaskIsLeft: ({ context }) => context.tasks.length === 0,
    personSpoke: (_, params: { readonly waiting: number; readonly fromPerson: boolean }) => params.fromPerson && params.waiting > 0,
    noQuestionIsLeft: ({ context }) => context.questions.length === 0,
  },
});

const withTasks = session.extend({
  actions: {
    adoptTask: session.enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'task.adopted');
      const slot = freeTaskSlot(context.tasks);
      enqueue.spawnChild('backgroundTask', { id: slot, input: { ...event.task, slot } });
      enqueue.assign({ tasks: [...context.tasks, { slot, taskId: event.task.taskId }] });
    }),
    buryTask: session.enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'task.ended');
      enqueue.stopChild(event.slot);
      enqueue.assign({ tasks: context.tasks.filter((task) => task.taskId !== event.taskId) });
    }),
  },
});

const machine = withTasks.createMachine({
  id: 'session',
  options: { maxIterations: 1000 },
  context: ({ input: { queriesBefore, ...input } }) => ({
    ...input,
    queries: queriesBefore,
    waiting: 0,
    questions: [],
    tasks: [],
    callsWait: false,
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
            onDone: { target: 'idle', actions: { type: 'rememberStart', params: ({ event }) => event.output } },
            onError: { target: 'closing', actions: { type: 'noteFailure', params: ({ event }) => event } },
          },
          on: {
            'session.close': 'closing',
            abort: {
              description: 'A person takes back what waits; the session goes on starting.',
              guard: 'somethingWaits',
              actions: [
                'countQuery',
                { type: 'endWaiting', params: ({ context, event }) => ({ queryId: queryId(context), reason: event.reason }) },
              ],
            },
          },
        },
        idle: {
          always: { guard: 'somethingWaits', target: 'querying' },
          on: { 'session.close': 'closing', 'compaction.asked': 'compacting' },
        },
        compacting: {
          description: 'A person asked for a summary of older history. What arrives meanwhile waits.',
          invoke: {
            src: 'compactSession',
            input: ({ context }) => ({ sessionId: context.sessionId }),
            onDone: 'answered',
            onError: { target: 'answered', actions: { type: 'noteFailure', params: ({ event }) => event } },
          },
          on: {
            abort: { target: 'answered' },
            'session.close': { target: 'closing' },
          },
        },
        querying: {
          entry: ['countQuery', { type: 'openQuery', params: ({ context }) => ({ queryId: queryId(context) }) }, 'forgetWaitingCalls'],
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
    tasks: {
      description: 'Work that goes on beside the conversation. Each end is told once: beside the next results, or by a query of its own.',
      initial: 'none',
      states: {
        none: { on: { 'task.adopted': { target: 'running', actions: 'adoptTask' } } },
        running: {
          always: { guard: 'noTaskIsLeft', target: 'none' },
          on: {
            'task.adopted': { actions: 'adoptTask' },
            'task.stopAsked': {
              guard: { type: 'taskRuns', params: ({ event }) => event },
              actions: { type: 'stopTask', params: ({ event }) => event },
            },
            'task.ended': { actions: ['buryTask', { type: 'noteTaskEnd', params: ({ event }) => event }] },
          },
        },
      },
    },
  },
});

/** The lowest slot that no running task holds. */
function freeTaskSlot(tasks: readonly RunningTask[]): string {
  for (let n = 0; ; n++) if (!tasks.some(({ slot }) => slot === `task-${n}`)) return `task-${n}`;
}
const slotOf = (tasks: readonly RunningTask[], taskId: string): string => tasks.find((task) => task.taskId === taskId)?.slot ?? taskId;

const queryId = ({ queries }: SessionContext): string => `query-${queries}`;

type Machine = typeof machine;
/** The machine's type by name: inferred, it would be written out in the declarations of every machine that invokes it. */
export interface SessionMachine extends Machine {}

/**
 * One conversation. It is idle or it answers; beside that it keeps the questions that wait for a person and the tasks that run on.
 * What arrives meanwhile waits in the inbox: it goes with the next request of a running query, else starts a query of its own.
 */
export const sessionMachine: SessionMachine = machine;
