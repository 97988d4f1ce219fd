import type { Subject } from 'rxjs';
import { type Actor, createActor } from 'xstate';
import type { SessionInput } from '../../machines/session.js';
import { messageOf } from '../tool/errors.js';
import { liveSession } from './live.js';
import type { SessionOptions } from './options.js';
import { bindServices } from './port.js';
import { endQuery } from './ports/session.js';
import type { Services } from './services.js';
import type { SessionUpdate } from './updates.js';

export type SessionActor = Actor<typeof liveSession>;

/** The session's actor, not started, with its services bound to its system. */
export function createSessionActor(services: Services, gate: SessionOptions['gate'], input: Omit<SessionInput, 'sessionId'>): SessionActor {
  const { sessionId } = services;
  const actor = createActor(gate ? gate.instrument(liveSession) : liveSession, {
    id: `session:${sessionId}`,
    input: { sessionId, ...input },
    ...(gate ? { clock: gate.clock } : {}),
  });
  bindServices(actor.system, services);
  return actor;
}

/** Resolves when the session is closed. One whose actor broke is told of, ends its query and lets go of what it holds before that. */
export const settling = (actor: SessionActor, services: Services, updates: Subject<SessionUpdate>): Promise<void> =>
  new Promise((done) => {
    actor.subscribe({
      next: (snapshot) => {
        if (snapshot.matches({ conversation: 'closed' })) done();
      },
      error: (error) => {
        services.update({ type: 'notice', level: 'error', message: `The session has broken: ${messageOf(error)}` });
        if (services.runningQuery !== undefined) {
          endQuery({ queryId: services.runningQuery, end: 'runtimeError', reason: messageOf(error), turns: 0 }, services);
        }
        // Nobody will close it any more, so everything that it holds is let go of here.
        services.tasks.stopAll();
        void services.lifecycle.close().then(() => {
          updates.complete();
          done();
        });
      },
      complete: done,
    });
  });
