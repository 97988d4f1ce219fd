import type { MachineEdge, MachineGraph, MachineNode } from '../protocol/graph.js';

interface Config {
  readonly id: string;
  readonly key: string;
  readonly type: MachineNode['type'];
  readonly initial?: unknown;
  readonly history?: string;
  readonly states: Readonly<Record<string, Config>>;
  readonly on: Readonly<Record<string, readonly unknown[]>>;
  readonly always: readonly unknown[];
  readonly invoke: readonly unknown[];
  readonly entry: readonly unknown[];
  readonly exit: readonly unknown[];
  readonly tags: readonly string[];
  readonly description?: string;
}
/** How a protocol spells the parts that differ between XState's versions. */
export interface Spelling {
  eventName(event: string): string;
  guard(name: string): Readonly<Record<string, unknown>>;
  initial(child: MachineNode): unknown;
}

/** A machine's definition as JSON, made from its graph: it holds names only, no context and no code. */
export function definitionOf(graph: MachineGraph, spelling: Spelling): Config {
  const childrenOf = (id: string): readonly MachineNode[] => graph.nodes.filter((node) => node.parent === id);
  const visit = (node: MachineNode): Config => {
    const initial = graph.nodes.find(({ id }) => id === node.initial);
    const transitions = transitionsOf(graph.edges.filter(({ source }) => source === node.id));
    const on: Record<string, unknown[]> = {};
    for (const edges of transitions.filter(([first]) => first?.kind !== 'always')) {
      const name = spelling.eventName(edges[0]?.event ?? '');
      on[name] = [...(on[name] ?? []), transitionJson(edges, spelling)];
    }
    return {
      id: node.id,
      key: node.key,
      type: node.type,
      ...(initial ? { initial: spelling.initial(initial) } : {}),
      ...(node.history ? { history: node.history } : {}),
      states: Object.fromEntries(childrenOf(node.id).map((child) => [child.key, visit(child)])),
      on,
      always: transitions.filter(([first]) => first?.kind === 'always').map((edges) => transitionJson(edges, spelling)),
      invoke: node.invokes.map((src) => ({ id: src, src, type: 'xstate.invoke' })),
      entry: node.entry.map((type) => ({ type })),
      exit: node.exit.map((type) => ({ type })),
      tags: node.tags,
      ...(node.description ? { description: node.description } : {}),
    };
  };
  const root = graph.nodes[0];
  if (!root) throw new Error(`The graph "${graph.id}" has no states.`);
  return visit(root);
}

function transitionsOf(edges: readonly MachineEdge[]): readonly (readonly MachineEdge[])[] {
  const groups = new Map<string, MachineEdge[]>();
  for (const edge of edges) groups.set(edge.transition, [...(groups.get(edge.transition) ?? []), edge]);
  return [...groups.values()];
}

function transitionJson(edges: readonly MachineEdge[], spelling: Spelling): unknown {
  const first = edges[0];
  if (!first) return {};
  const event = spelling.eventName(first.event);
  return {
    ...(first.internal ? {} : { target: edges.map(({ target }) => `#${target}`) }),
    ...(first.guard === undefined ? {} : spelling.guard(first.guard)),
    actions: first.actions.map((type) => ({ type })),
    event,
    eventType: event,
    source: `#${first.source}`,
    ...(first.description ? { description: first.description } : {}),
  };
}
