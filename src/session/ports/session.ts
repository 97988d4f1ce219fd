import type { QueryHooks } from '../../../machines/session.js';
import { promptText } from '../delivery.js';
import { asyncPort } from '../port.js';
import type { Services } from '../services.js';
import { stopEvent } from './query.js';

export const startSession = asyncPort<{ readonly sessionId: string }, QueryHooks>(async (_, { services }) => {
  // Whoever creates a session gets to listen before it says its first word.
  await Promise.resolve();
  await services.lifecycle.start();
  return {
    hasPromptHooks: services.hooks.isConfigured('UserPromptSubmit'),
    hasStopHooks: services.hooks.isConfigured(stopEvent(services)),
  };
});

export const closeSession = asyncPort<{ readonly sessionId: string }, null>(async (_, { services }) => {
  await services.lifecycle.close();
  return null;
});

/** A query begins with everything that waits. It enters the conversation when the query is admitted: until then a hook may block it. */
export function openQuery(queryId: string, services: Services): void {
  services.opened = services.inbox.takeAll();
  services.update({ type: 'query.started', queryId, prompt: promptText(services.opened) });
}
