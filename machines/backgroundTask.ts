import { assign, sendParent, setup } from 'xstate';
import { port } from './port.js';

/** How a task ended. Terminal: nothing follows it. */
export interface TaskEnd {
  /** `killed`: it was told to stop, or died of a signal. */
  readonly status: 'completed' | 'failed' | 'killed';
  /** Null where a signal ended it, or where there is none to speak of. */
  readonly exitCode: number | null;
  /** What the model is told, in a sentence. */
  readonly summary: string;
}

/** What a task's actor is started with. */
export interface BackgroundTaskInput {
  /** The child's id, re-used once a task has ended. */
  readonly slot: string;
  /** The task's id. */
  readonly taskId: string;
  /** `bash`, `powershell` or `agent`. */
  readonly kind: string;
  /** One line for a person. */
  readonly title: string;
}
/** A task, and its end once it has one. */
export interface BackgroundTaskContext extends BackgroundTaskInput {
  /** How it ended; null while it runs. */
  readonly end: TaskEnd | null;
}

/** Session → task. */
export interface StopTaskEvent {
  readonly type: 'task.stop';
}
/** Task → session. */
export interface TaskEndedReport {
  readonly type: 'task.ended';
  /** The child's id. */
  readonly slot: string;
  /** The task's id. */
  readonly taskId: string;
  /** How it ended. */
  readonly end: TaskEnd;
}

const unknownEnd: TaskEnd = { status: 'failed', exitCode: null, summary: 'It ended in an unknown way.' };

const machine = setup({
  types: {
    context: {} as BackgroundTaskContext,
    events: {} as StopTaskEvent,
    input: {} as BackgroundTaskInput,
    output: {} as TaskEnd,
  },
  actors: {
    /** Answers when the work has ended and all of its output is flushed. */
    awaitEnd: port<{ readonly taskId: string }, TaskEnd>('awaitEnd'),
  },
  actions: {
    /** Ends the work and everything it started. Provided; must be total. */
    stopWork: (_, _params: { readonly taskId: string }) => {},
    rememberEnd: assign({ end: (_, params: { readonly end: TaskEnd }) => params.end }),
    tellEnded: sendParent(
      ({ context }): TaskEndedReport => ({
        type: 'task.ended',
        slot: context.slot,
        taskId: context.taskId,
        end: context.end ?? unknownEnd,
      }),
    ),
  },
}).createMachine({
  id: 'backgroundTask',
  options: { maxIterations: 1000 },
  context: ({ input }) => ({ ...input, end: null }),
  output: ({ context }) => context.end ?? unknownEnd,
  initial: 'running',
  states: {
    running: {
      invoke: {
        src: 'awaitEnd',
        input: ({ context }) => ({ taskId: context.taskId }),
        onDone: { target: 'ended', actions: { type: 'rememberEnd', params: ({ event }) => ({ end: event.output }) } },
        onError: { target: 'ended', actions: { type: 'rememberEnd', params: ({ event }) => ({ end: failedEnd(event.error) }) } },
      },
      initial: 'working',
      states: {
        working: {
          on: { 'task.stop': { target: 'stopping', actions: { type: 'stopWork', params: ({ context }) => context } } },
        },
        stopping: { description: 'Told to stop and waited for: it is not over before its last process is gone.' },
      },
    },
    ended: { entry: 'tellEnded', type: 'final' },
  },
});

const failedEnd = (error: unknown): TaskEnd => ({
  status: 'failed',
  exitCode: null,
  summary: error instanceof Error ? error.message : String(error),
});

type Machine = typeof machine;
/** The machine's type by name: inferred, it would be written out in the declarations of every machine that invokes it. */
export interface BackgroundTaskMachine extends Machine {}

/**
 * Work that goes on beside the conversation. It is running until its port says that everything it started is gone and its output is
 * complete; being told to stop does not end it, it only asks for the end. `ended` is final, so statuses never go back.
 */
export const backgroundTaskMachine: BackgroundTaskMachine = machine;
