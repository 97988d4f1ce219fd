import type { FlowLog } from '../flowLog.js';
import type { ActorStarted, FlowEvent } from '../protocol/flowEvents.js';
import type { MachineGraph } from '../protocol/graph.js';

export type StateValue = string | { readonly [key: string]: StateValue };

/** What other tools' protocols want of an actor at each step: the snapshot as XState would show it. Redacted like everything in a flow. */
export interface SnapshotView {
  readonly status: 'active' | 'done' | 'error' | 'stopped';
  readonly value: StateValue | undefined;
  readonly context: unknown;
  readonly output?: unknown;
  readonly error?: string;
  readonly tags: readonly string[];
  readonly children: Readonly<Record<string, { readonly id: string }>>;
}
export interface ActorView {
  readonly started: ActorStarted;
  readonly root: string;
  readonly graph: MachineGraph | undefined;
  snapshot: SnapshotView;
}

/** Follows a log and keeps, per living actor, the snapshot that the recorded events amount to. */
export class FlowState {
  readonly actors = new Map<string, ActorView>();

  constructor(readonly log: FlowLog) {}

  /** Takes an event; returns the actor it changed, if it changed one. */
  take(event: FlowEvent): ActorView | undefined {
    if (event.type === 'actor.started') return this.#start(event);
    const actor = 'actor' in event && event.actor !== undefined ? this.actors.get(event.actor) : undefined;
    if (!actor) return undefined;
    switch (event.type) {
      case 'transition': {
        const active = new Set(event.configuration);
        const nodes = actor.graph?.nodes.filter(({ id }) => active.has(id)) ?? [];
        const value = actor.graph && stateValue(actor.graph, event.configuration);
        actor.snapshot = {
          ...actor.snapshot,
          value,
          tags: [...new Set(nodes.flatMap(({ tags }) => tags))],
          children: this.#childrenOf(event.actor),
        };
        return actor;
      }
      case 'context':
        actor.snapshot = { ...actor.snapshot, context: this.body(event.body.hash) };
        return actor;
      case 'actor.stopped': {
        const output = event.output ? { output: this.body(event.output.hash) } : {};
        actor.snapshot = {
          ...actor.snapshot,
          // XState has no word for an end that was not recorded.
          status: event.status === 'unknown' ? 'stopped' : event.status,
          ...output,
          ...(event.error === undefined ? {} : { error: event.error }),
        };
        return actor;
      }
      default:
        return undefined;
    }
  }

  /** Drops an actor that has stopped and been told. */
  forget(path: string): void {
    this.actors.delete(path);
  }

  body(hash: string): unknown {
    const text = this.log.bodies.get(hash);
    return text === undefined ? null : JSON.parse(text);
  }

  #start(event: ActorStarted): ActorView {
    const parent = event.parent === null ? undefined : this.actors.get(event.parent);
    const graph = event.machine === null ? undefined : this.log.graphs.find(({ id }) => id === event.machine);
    const snapshot = { status: 'active', value: undefined, context: {}, tags: [], children: {} } as const;
    const actor: ActorView = { started: event, root: parent?.root ?? event.actor, graph, snapshot };
    this.actors.set(event.actor, actor);
    return actor;
  }

  #childrenOf(path: string): Record<string, { id: string }> {
    const children: Record<string, { id: string }> = {};
    for (const { started } of this.actors.values()) {
      const id = started.parent === path ? started.actor.slice(path.length + 1) : undefined;
      if (id !== undefined) children[id] = { id };
    }
    return children;
  }
}

/** XState's state value for a set of active states. */
function stateValue(graph: MachineGraph, configuration: readonly string[]): StateValue {
  const active = new Set(configuration);
  const visit = (id: string): StateValue => {
    const children = graph.nodes.filter((node) => node.parent === id && active.has(node.id));
    const only = children.length === 1 ? children[0] : undefined;
    const parent = graph.nodes.find((node) => node.id === id);
    if (only && parent?.type === 'compound' && !graph.nodes.some((node) => node.parent === only.id)) return only.key;
    return Object.fromEntries(children.map((child) => [child.key, visit(child.id)]));
  };
  return visit(graph.nodes[0]?.id ?? '');
}
