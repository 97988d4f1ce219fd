import type { FlowLog } from '../flowLog.js';
import type { FlowEvent } from '../protocol/flowEvents.js';
import { definitionOf, type Spelling } from './definition.js';
import { type ActorView, FlowState } from './flowState.js';

const VERSION = '0.7.2';
const spelling: Spelling = {
  eventName: (event) => event,
  guard: (name) => ({ guard: { type: name } }),
  initial: (child) => ({ target: [`#${child.id}`], actions: [] }),
};

/**
 * Tells a flow in the wire format of `@statelyai/inspect`: one JSON text a message. What has happened already is told first.
 * Returns how to stop. Unlike that package it keeps the order and the time of events, and everything is redacted.
 */
export function tellStately(log: FlowLog, send: (message: string) => void): () => void {
  const state = new FlowState(log);
  const say = (event: FlowEvent, type: string, sessionId: string, fields: object): void => {
    const root = state.actors.get(sessionId)?.root ?? sessionId;
    const createdAt = String(log.header.startedAt + event.t);
    send(JSON.stringify({ type, sessionId, rootId: root, ...fields, createdAt, _version: VERSION, id: null }));
  };
  const take = (event: FlowEvent): void => {
    if (event.type === 'event' && state.actors.has(event.actor)) {
      const body = event.body ? state.body(event.body.hash) : {};
      const source = event.source === null ? {} : { sourceId: event.source };
      say(event, '@xstate.event', event.actor, { ...source, event: { ...(typeof body === 'object' ? body : {}), type: event.event } });
    }
    const actor = state.take(event);
    if (!actor) return;
    const id = actor.started.actor;
    if (event.type === 'actor.started') {
      const definition = actor.graph ? { definition: JSON.stringify(definitionOf(actor.graph, spelling)) } : {};
      const parent = event.parent === null ? {} : { parentId: event.parent };
      say(event, '@xstate.actor', id, { name: event.name, ...parent, ...definition, snapshot: snapshotOf(actor) });
    } else {
      const cause = event.type === 'transition' ? event.event : 'xstate.snapshot';
      say(event, '@xstate.snapshot', id, { event: { type: cause }, snapshot: snapshotOf(actor) });
    }
    if (event.type === 'actor.stopped') state.forget(id);
  };
  for (const event of log.events(0)) log.guard(() => take(event));
  return log.listen(take);
}

function snapshotOf(actor: ActorView): object {
  return { ...actor.snapshot, historyValue: {} };
}
