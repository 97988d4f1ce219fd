import { isBelow } from '../protocol/actorPath.js';
import type { FlowEvent } from '../protocol/flowEvents.js';
import type { Breakpoint } from '../protocol/rpc.js';

/** The breakpoints of a gate, and which of them something hits. States are computed only when a breakpoint asks for them. */
export class BreakpointSet {
  #list: readonly Breakpoint[];
  /** The actor of each call whose result is not there yet: what the domain says of a call names the call only. */
  readonly #callActors = new Map<string, string>();

  constructor(initial: readonly Breakpoint[]) {
    this.#list = initial;
  }

  get list(): readonly Breakpoint[] {
    return this.#list;
  }

  replace(wanted: readonly Breakpoint[]): void {
    const fromCode = this.#list
      .filter(({ origin }) => origin === 'code')
      .map((breakpoint) => ({ ...breakpoint, enabled: wanted.find(({ id }) => id === breakpoint.id)?.enabled ?? breakpoint.enabled }));
    const taken = new Set(fromCode.map(({ id }) => id));
    const fromPages = wanted.filter(({ id }) => !taken.has(id)).map((breakpoint) => ({ ...breakpoint, origin: 'page' as const }));
    this.#list = [...fromCode, ...fromPages];
  }

  beforeEvent(actor: string, event: string, entering: () => readonly string[]): Breakpoint | undefined {
    const candidates = this.#of(actor);
    const byEvent = candidates.find((breakpoint) => breakpoint.on === 'event' && matches(breakpoint.event, event));
    return byEvent ?? entersOneOf(candidates, 'before', entering);
  }

  afterEntering(actor: string, entered: () => readonly string[]): Breakpoint | undefined {
    return entersOneOf(this.#of(actor), 'after', entered);
  }

  onFlowEvent(event: FlowEvent): Breakpoint | undefined {
    const actor = this.actorOf(event);
    if (event.type === 'actor.started' && event.kind === 'toolCall' && event.toolUseId !== undefined)
      this.#callActors.set(event.toolUseId, event.actor);
    if (event.type === 'result') this.#callActors.delete(event.toolUseId);
    return this.#of(actor).find((breakpoint) => {
      if (breakpoint.on === 'tool') return event.type === 'actor.started' && event.kind === 'toolCall' && event.name === breakpoint.tool;
      if (breakpoint.on === 'error') return event.type === 'error' || (event.type === 'result' && event.isError);
      if (breakpoint.on !== 'verdict') return false;
      if (event.type === 'decision') return event.decision.behavior === breakpoint.behavior;
      return breakpoint.behavior === 'ask' && event.type === 'approval' && event.phase === 'asked';
    });
  }

  /** The actor an event is about, its own or that of its call. */
  actorOf(event: FlowEvent): string | undefined {
    if ('actor' in event && event.actor !== undefined) return event.actor;
    return 'toolUseId' in event && event.toolUseId !== undefined ? this.#callActors.get(event.toolUseId) : undefined;
  }

  #of(actor: string | undefined): readonly Breakpoint[] {
    if (this.#list.length === 0) return this.#list;
    return this.#list.filter(
      (breakpoint) => breakpoint.enabled && (breakpoint.actor === undefined || (actor !== undefined && isBelow(actor, breakpoint.actor))),
    );
  }
}

function entersOneOf(candidates: readonly Breakpoint[], when: 'before' | 'after', states: () => readonly string[]): Breakpoint | undefined {
  const onStates = candidates.filter((breakpoint) => breakpoint.on === 'state' && breakpoint.when === when);
  if (onStates.length === 0) return undefined;
  const entered = states();
  return onStates.find((breakpoint) => breakpoint.on === 'state' && entered.includes(breakpoint.state));
}

function matches(pattern: string, event: string): boolean {
  return pattern.endsWith('*') ? event.startsWith(pattern.slice(0, -1)) : event === pattern;
}
