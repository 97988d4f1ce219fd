import type { TaskEnd } from '../../../machines/backgroundTask.js';
import type { QueryOutput } from '../../../machines/query.js';
import type { SessionStart } from '../../../machines/session.js';
import type { AbortReason } from '../../tool/call.js';
import { messageOf } from '../../tool/errors.js';
import { promptText, returnUndelivered } from '../delivery.js';
import { tellOfFailure } from '../observers.js';
import { closeOpenCalls } from '../openCalls.js';
import { asyncPort } from '../port.js';
import type { Services } from '../services.js';
import { stopEvent } from './query.js';

export const startSession = asyncPort<{ readonly sessionId: string }, SessionStart>(async (_, { services }) => {
  // Whoever creates a session gets to listen before it says its first word.
  await Promise.resolve();
  await services.lifecycle.start();
  return {
    // A subagent's prompt is an agent's: the call that hands it over has hooks of its own.
    hasPromptHooks: services.agent === undefined && services.hooks.isConfigured('UserPromptSubmit'),
    hasStopHooks: services.hooks.isConfigured(stopEvent(services), services.agent?.type),
    callsWait: services.resumption !== undefined,
  };
});

export const closeSession = asyncPort<{ readonly sessionId: string }, null>(async (_, { services }) => {
  await services.lifecycle.close();
  return null;
});

/** A person asked for a summary. */
export const compactSession = asyncPort<{ readonly sessionId: string }, null>(async (_, { services, signal }) => {
  await services.summarize('manual', signal);
  return null;
});

export const awaitEnd = asyncPort<{ readonly taskId: string }, TaskEnd>(({ taskId }, { services }) => services.tasks.awaitEnd(taskId));

/** A query begins with everything that waits. It enters the conversation when the query is admitted: until then a hook may block it. */
export function openQuery(queryId: string, services: Services): void {
  services.runningQuery = queryId;
  // Results of an earlier process's calls come before anything new; what waits goes beside them.
  services.opened = services.resumption === undefined ? services.inbox.takeAll() : undefined;
  services.update({ type: 'query.started', queryId, prompt: promptText(services.opened ?? []) });
}

/** What waits before the session has started is ended unasked. Calls of an earlier process go on waiting, and with them what was said since. */
export function endWaiting(queryId: string, reason: AbortReason, services: Services): void {
  if (services.resumption !== undefined) return;
  openQuery(queryId, services);
  endQuery({ queryId, end: 'aborted', reason, turns: 0 }, services);
}

/** A query is over. Whatever ended it, the history that it leaves can be gone on from. */
export function endQuery(
  { queryId, end, reason, turns, error = null }: Pick<QueryOutput, 'queryId' | 'end' | 'reason' | 'turns'> & Partial<QueryOutput>,
  session: Services,
): void {
  session.runningQuery = undefined;
  try {
    closeOpenCalls(session, reason);
  } catch (error) {
    session.update({ type: 'notice', level: 'error', message: messageOf(error) });
  }
  returnUndelivered(session);
  session.update({ type: 'query.ended', queryId, end, reason, turns, text: session.conversation.answerText, usage: session.usage });
  tellOfFailure({ queryId, end, reason }, error, session);
}
