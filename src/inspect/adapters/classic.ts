import type { FlowLog } from '../flowLog.js';
import type { FlowEvent } from '../protocol/flowEvents.js';
import { definitionOf, type Spelling } from './definition.js';
import { type ActorView, FlowState } from './flowState.js';

/** Names of XState 5's own events as XState 4 called them. */
function v4Name(event: string): string {
  return event
    .replace(/^xstate\.done\.actor\./, 'done.invoke.')
    .replace(/^xstate\.error\.actor\./, 'error.platform.')
    .replace(/^xstate\.done\.state\./, 'done.state.')
    .replace(/^xstate\.after\.([^.]+)\.(.*)$/, 'xstate.after($1)#$2');
}
const spelling: Spelling = {
  eventName: v4Name,
  guard: (name) => ({ cond: { type: 'xstate.guard', name } }),
  initial: (child) => child.key,
};

/**
 * Tells a flow in the protocol of the classic `@xstate/inspect` (XState 4): service.register, service.state, service.event,
 * service.stop, with machine, state and event as JSON inside JSON. What has happened already is told first. Returns how to stop.
 */
export function tellClassic(log: FlowLog, send: (message: string) => void): () => void {
  const state = new FlowState(log);
  const registered = new Set<string>();
  const say = (message: object): void => send(JSON.stringify(message));

  const take = (event: FlowEvent): void => {
    if (event.type === 'event' && registered.has(event.actor)) {
      const scxml = scxmlEvent(event.event, event.body ? state.body(event.body.hash) : {}, event.source);
      say({ type: 'service.event', event: JSON.stringify(scxml), sessionId: event.actor });
    }
    const actor = state.take(event);
    if (!actor || event.type === 'actor.started') return;
    const { started } = actor;
    const cause = event.type === 'transition' ? event.event : 'xstate.update';
    const stateText = JSON.stringify(v4State(actor, cause));
    if (!registered.has(started.actor)) {
      // Only now is there a first state, which a registration must carry.
      registered.add(started.actor);
      const parent = started.parent === null ? {} : { parent: started.parent };
      say({
        type: 'service.register',
        machine: JSON.stringify(v4Machine(actor)),
        state: stateText,
        id: started.name,
        sessionId: started.actor,
        ...parent,
      });
    } else say({ type: 'service.state', state: stateText, sessionId: started.actor });
    if (event.type !== 'actor.stopped') return;
    say({ type: 'service.stop', sessionId: started.actor });
    state.forget(started.actor);
    registered.delete(started.actor);
  };
  for (const event of log.events(0)) log.guard(() => take(event));
  return log.listen(take);
}

function v4Machine(actor: ActorView): object {
  const root = { predictableActionArguments: true, context: {} };
  if (actor.graph) return { ...definitionOf(actor.graph, spelling), ...root };
  // XState 4 knows machines only: promises and callbacks get one that says how they stand.
  const states = { running: {}, done: { type: 'final' }, error: { type: 'final' }, stopped: { type: 'final' } };
  return { ...root, id: actor.started.name, initial: 'running', states };
}

function v4State(actor: ActorView, cause: string): object {
  const { snapshot } = actor;
  const event = scxmlEvent(cause, {}, null);
  const value = snapshot.value ?? (snapshot.status === 'active' ? 'running' : snapshot.status);
  return {
    value,
    context: snapshot.context ?? {},
    _event: event,
    event: event.data,
    _sessionid: actor.started.actor,
    actions: [],
    activities: {},
    meta: {},
    events: [],
    transitions: [],
    children: snapshot.children,
    done: snapshot.status === 'done',
    tags: snapshot.tags,
    status: snapshot.status,
  };
}

function scxmlEvent(
  type: string,
  body: unknown,
  origin: string | null,
): { name: string; data: object; $$type: 'scxml'; type: 'external'; origin?: string } {
  const name = v4Name(type);
  const data = { ...(typeof body === 'object' ? body : {}), type: name };
  return { name, data, $$type: 'scxml', type: 'external', ...(origin === null ? {} : { origin }) };
}
