import type { Breakpoint } from '../../../../src/inspect/protocol/rpc.js';
import { isWithin } from './actors.js';
import type { Call } from './calls.js';
import type { Inspector } from './inspector.js';

/** What a person does, wherever on the page it is done: one function each, so that keys, buttons and rows agree. */

export function selectActor(inspector: Inspector, actor: string): void {
  const call = inspector.flow.callOfActor(actor);
  inspector.view.patch({
    actor,
    scope: actor === inspector.flow.roots[0] ? null : actor,
    call: call?.toolUseId ?? enclosingCall(inspector, actor)?.toolUseId ?? null,
    event: null,
    follow: false,
  });
}

/** Chooses a call without narrowing what the log shows. */
export function selectCall(inspector: Inspector, call: Call): void {
  inspector.view.patch({ call: call.toolUseId, event: null, follow: false, ...(call.actor === null ? {} : { actor: call.actor }) });
}

export function selectEvent(inspector: Inspector, seq: number): void {
  const event = inspector.flow.eventAt(seq);
  if (event?.seq !== seq) return;
  const actor = inspector.flow.actorOf(event);
  const call = actor === null ? undefined : enclosingCall(inspector, actor);
  inspector.view.patch({ event: seq, follow: false, ...(actor === null ? {} : { actor }), ...(call ? { call: call.toolUseId } : {}) });
}

/** The tool call that an actor is, or works for. */
function enclosingCall(inspector: Inspector, actor: string): Call | undefined {
  const { flow } = inspector;
  for (let at = flow.actors.get(actor); at; at = at.parent === null ? undefined : flow.actors.get(at.parent)) {
    const call = flow.callOfActor(at.id);
    if (call) return call;
    if (at.kind === 'session') return undefined;
  }
  return undefined;
}

/** One level out: closes what is open, then widens the scope towards the whole flow. Returns false when there is nothing to leave. */
export function widen(inspector: Inspector): boolean {
  const { view, flow } = inspector;
  const { menu, filter, range, scope, event } = view.get();
  if (menu !== null) view.patch({ menu: null });
  else if (event !== null) view.patch({ event: null });
  else if (filter !== '') view.patch({ filter: '' });
  else if (range !== null) view.patch({ range: null });
  else if (scope !== null) {
    const parent = flow.actors.get(scope)?.parent ?? null;
    const isRoot = parent === null || parent === flow.roots[0];
    view.patch({ scope: isRoot ? null : parent, actor: parent ?? scope, call: null });
  } else return false;
  return true;
}

/** Shows the flow as it was right after the event of that number. */
export function travelTo(inspector: Inspector, seq: number): void {
  const { flow, view } = inspector;
  const clamped = Math.max(flow.firstSeq, Math.min(flow.lastSeq, Math.round(seq)));
  view.patch({ travel: clamped, follow: false });
}
export function travelBy(inspector: Inspector, steps: number): void {
  const { flow, view } = inspector;
  const at = flow.positionOf(view.get().travel ?? flow.lastSeq);
  const event = flow.events[Math.max(0, Math.min(flow.events.length - 1, at + steps))];
  if (event) travelTo(inspector, event.seq);
}
/** To the next or the last moment at which the selected actor changed its state. */
export function travelToChange(inspector: Inspector, direction: 1 | -1): void {
  const { flow, view } = inspector;
  const { actor, travel } = view.get();
  for (let at = flow.positionOf(travel ?? flow.lastSeq) + direction; at >= 0 && at < flow.events.length; at += direction) {
    const event = flow.events[at];
    if (event?.type !== 'transition' || (actor !== null && event.actor !== actor)) continue;
    travelTo(inspector, event.seq);
    return;
  }
}
export function goLive(inspector: Inspector): void {
  inspector.view.patch({ travel: null });
}

export function nextProblem(inspector: Inspector): void {
  const { flow, view } = inspector;
  const { event, call } = view.get();
  const at = event ?? (call === null ? -1 : (flow.call(call)?.lastSeq ?? -1));
  const next = flow.problems.find((problem) => problem.seq > at) ?? flow.problems[0];
  if (!next) {
    inspector.notice('Nothing has gone wrong so far.');
    return;
  }
  const toolUseId = 'toolUseId' in next ? next.toolUseId : undefined;
  const problemCall = toolUseId === undefined ? undefined : flow.call(toolUseId);
  selectEvent(inspector, next.seq);
  if (problemCall) view.patch({ call: problemCall.toolUseId });
  view.patch({ details: problemCall ? 'why' : 'raw' });
}

export function addBreakpoint(inspector: Inspector, breakpoint: Breakpoint): void {
  void inspector.setBreakpoints([...inspector.remote.get().breakpoints, breakpoint]);
}
export function removeBreakpoint(inspector: Inspector, id: string): void {
  void inspector.setBreakpoints(inspector.remote.get().breakpoints.filter((one) => one.id !== id));
}
export function enableBreakpoint(inspector: Inspector, id: string, enabled: boolean): void {
  void inspector.setBreakpoints(inspector.remote.get().breakpoints.map((one) => (one.id === id ? { ...one, enabled } : one)));
}
/** Whether a breakpoint counts for an actor: one without an actor of its own does everywhere. */
export const covers = (breakpoint: Breakpoint, actor: string | null): boolean =>
  breakpoint.actor === undefined || isWithin(actor, breakpoint.actor);

/**
 * Sets a breakpoint on entering a state, in `only` and below where that is given, or takes away the one that counts for the selected
 * actor. One that was set in code is only disabled.
 */
export function toggleStateBreakpoint(inspector: Inspector, state: string, when: 'before' | 'after', only?: string): void {
  const { actor } = inspector.view.get();
  const same = inspector.remote
    .get()
    .breakpoints.find((one) => one.on === 'state' && one.state === state && one.when === when && covers(one, actor));
  const scope = only === undefined ? {} : { actor: only };
  if (!same) addBreakpoint(inspector, { id: newId(), enabled: true, origin: 'page', on: 'state', state, when, ...scope });
  else if (same.origin === 'code') enableBreakpoint(inspector, same.id, !same.enabled);
  else removeBreakpoint(inspector, same.id);
}
export const newId = (): string => `page-${crypto.randomUUID().slice(0, 8)}`;

/** What is going on right now: a call that waits for a person, else the one that started last. */
export function followTarget(inspector: Inspector): Call | undefined {
  const { flow } = inspector;
  let last: Call | undefined;
  for (const call of flow.activeCalls) {
    if (call.status === 'asking') return call;
    last = call;
  }
  return last ?? flow.calls.at(-1);
}
