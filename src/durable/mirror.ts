import { createActor, sendTo, setup } from 'xstate';
import type { CallState } from '../../machines/toolCall.js';
import type { InspectableSession } from '../inspect/inspectable.js';
import type { SessionUpdate } from '../session/updates.js';
import type { RemoteSession } from './client.js';

/*
 * A session on another machine as actors in this process. They decide nothing: they stand where the updates say that the session's own
 * actors stand, so that whoever watches actors can watch it.
 */

type CallUpdate = Extract<SessionUpdate, { type: 'call.state' }>;

const PARTS: Readonly<Record<'executing' | 'completed', readonly string[]>> = {
  executing: ['resolving', 'parsing', 'validating', 'hooking', 'deciding', 'calling', 'reporting'],
  completed: ['succeeded', 'failed', 'invalid', 'denied', 'cancelled', 'stopped'],
};
const partsOf = (whole: keyof typeof PARTS) => Object.fromEntries(PARTS[whole].map((part) => [part, {}]));
const PLACES: readonly string[] = [
  'queued',
  ...PARTS.executing.map((part) => `executing.${part}`),
  ...PARTS.completed.map((part) => `completed.${part}`),
  'yielded',
];

const callMirror = setup({
  types: { events: {} as CallUpdate, context: {} as { readonly callId: string; readonly tool: string }, input: {} as CallUpdate },
  guards: { stands: ({ event }, { state }: { readonly state: string }) => event.state === state },
}).createMachine({
  id: 'remoteCall',
  description: 'A tool call on another machine, as its updates show it.',
  context: ({ input: { callId, tool } }) => ({ callId, tool }),
  initial: 'queued',
  on: {
    'call.state': PLACES.map((state) => ({ guard: { type: 'stands' as const, params: { state } }, target: `.${state}` })),
  },
  states: {
    queued: {},
    executing: { initial: 'resolving', states: partsOf('executing') },
    completed: { initial: 'succeeded', states: partsOf('completed') },
    yielded: { type: 'final' },
  },
});

const mirror = setup({
  types: { events: {} as SessionUpdate, context: {} as { readonly sessionId: string }, input: {} as { readonly sessionId: string } },
  actors: { call: callMirror },
});
const following = mirror.extend({
  actions: {
    followCall: mirror.enqueueActions(({ event, enqueue, self }) => {
      if (event.type !== 'call.state') return;
      const id = `call ${event.callId}`;
      const known = self.getSnapshot().children[id];
      if (!known) enqueue.spawnChild('call', { id, input: event });
      enqueue(sendTo(id, event));
      if (event.state === ('yielded' satisfies CallState)) enqueue.stopChild(id);
    }),
  },
});

const sessionMirror = following.createMachine({
  id: 'remoteSession',
  description: 'A session on another machine, as its updates show it.',
  context: ({ input }) => input,
  type: 'parallel',
  on: { 'call.state': { actions: 'followCall' } },
  states: {
    conversation: {
      initial: 'idle',
      on: { 'session.ended': '.closed' },
      states: {
        idle: { on: { 'query.started': 'querying' } },
        querying: { on: { 'query.ended': 'idle' } },
        closed: {},
      },
    },
    questions: {
      initial: 'none',
      states: {
        none: { on: { 'permission.requested': 'open', 'question.asked': 'open' } },
        open: { on: { 'permission.resolved': 'none', 'permission.withdrawn': 'none', 'question.answered': 'none' } },
      },
    },
  },
});

/** A session elsewhere, as an inspector here sees it. */
export interface Mirrored extends InspectableSession {
  /** Lets go of the session. */
  close(): void;
}

/** A session on Restate as something to inspect: `attachInspector(inspectable(session))`. */
export function inspectable(session: RemoteSession): Mirrored {
  const actor = createActor(sessionMirror, { id: `session:${session.id}`, input: { sessionId: session.id } });
  actor.start();
  const subscription = session.updates$.subscribe((update) => actor.send(update));
  return {
    id: session.id,
    actor,
    updates$: session.updates$,
    get mode() {
      return session.mode;
    },
    get openPermissions() {
      return session.openPermissions;
    },
    get openQuestions() {
      return session.openQuestions;
    },
    answer: (callId, inputDigest, answer) => session.answer(callId, inputDigest, answer),
    answerQuestion: (callId, answers) => session.answerQuestion(callId, answers),
    close: () => {
      subscription.unsubscribe();
      actor.stop();
    },
  };
}
