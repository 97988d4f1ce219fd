import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';

/** A machine as a plain, serialisable digraph, so that a page draws it without the machine's code. */
export interface MachineGraph {
  /** The machine's id; a second machine of the same id but other shape gets a suffix (`tool~2`). */
  readonly id: string;
  /** In document order; the first is the root. */
  readonly nodes: readonly MachineNode[];
  /** Transitions, in document order of their sources. */
  readonly edges: readonly MachineEdge[];
}
/** A state of a machine’s graph. */
export interface MachineNode {
  /** XState's state id, e.g. `toolCall.executing.deciding`. */
  readonly id: string;
  /** The state's own name within its parent. */
  readonly key: string;
  /** Id of the state it stands in; null for the root. */
  readonly parent: string | null;
  /** XState's type of state. */
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  /** Id of the state entered first; null where there is none. */
  readonly initial: string | null;
  /** For a history state: which of the states it brings back. */
  readonly history?: 'shallow' | 'deep';
  /** The state's `description`. */
  readonly description?: string;
  /** The state's tags. */
  readonly tags: readonly string[];
  /** Names of the actors it invokes. */
  readonly invokes: readonly string[];
  /** Names of its entry actions. */
  readonly entry: readonly string[];
  /** Names of its exit actions. */
  readonly exit: readonly string[];
}
/** What fires a transition: an event, nothing (`always`), time, or the end or failure of an invoked actor. */
export type EdgeKind = 'event' | 'always' | 'after' | 'done' | 'error';
/** A transition of a machine’s graph. */
export interface MachineEdge {
  /** Names the edge, stable for a machine of this shape. */
  readonly id: string;
  /** Same for the edges of one transition with several targets; equals `id` when there is one target. */
  readonly transition: string;
  /** Id of the state it leaves. */
  readonly source: string;
  /** Equals `source` for a transition without target. */
  readonly target: string;
  /** What fires it. */
  readonly kind: EdgeKind;
  /** The event descriptor as XState has it (`xstate.done.actor.run`, `` for always). */
  readonly event: string;
  /** What to write on the wire: event, delay or `always`, then the guard in brackets. */
  readonly label: string;
  /** Name of the guard that must let it pass. */
  readonly guard?: string;
  /** Names of its actions. */
  readonly actions: readonly string[];
  /** No target: actions only, no state is left. */
  readonly internal?: true;
  /** Leaves and re-enters its source. */
  readonly reenter?: true;
  /** The transition's `description`. */
  readonly description?: string;
}

/** The graph of a machine and which of its edges each transition definition is. */
export interface GraphWithIndex {
  readonly graph: MachineGraph;
  readonly edgesOf: ReadonlyMap<AnyTransitionDefinition, readonly MachineEdge[]>;
}

/** Digraph of a machine. Walks `machine.root`, because `machine.definition` and `toDirectedGraph` leave out `always`. */
export function machineGraph(machine: AnyStateMachine): MachineGraph {
  return machineGraphWithIndex(machine).graph;
}

export function machineGraphWithIndex(machine: AnyStateMachine): GraphWithIndex {
  const nodes: MachineNode[] = [];
  const edges: MachineEdge[] = [];
  const edgesOf = new Map<AnyTransitionDefinition, readonly MachineEdge[]>();
  const visit = (node: AnyStateNode): void => {
    nodes.push(describeNode(node));
    for (const { transition, id } of transitionsOf(node)) {
      const made = edgesFor(node, transition, id);
      edgesOf.set(transition, made);
      edges.push(...made);
    }
    for (const child of Object.values(node.states)) visit(child);
  };
  visit(machine.root);
  return { graph: { id: machine.id, nodes, edges }, edgesOf };
}

function* transitionsOf(node: AnyStateNode): Generator<{ transition: AnyTransitionDefinition; id: string }> {
  for (const [event, list] of node.transitions) {
    for (const [index, transition] of list.entries()) yield { transition, id: `${node.id}~${event}~${index}` };
  }
  for (const [index, transition] of (node.always ?? []).entries()) yield { transition, id: `${node.id}~~${index}` };
}

function describeNode(node: AnyStateNode): MachineNode {
  return {
    id: node.id,
    key: node.key,
    parent: node.parent?.id ?? null,
    type: node.type,
    initial: node.type === 'compound' ? (node.initial?.target?.[0]?.id ?? null) : null,
    ...(node.history ? { history: node.history } : {}),
    ...(node.description ? { description: node.description } : {}),
    tags: node.tags,
    invokes: node.invoke.map((invoke) => (typeof invoke.src === 'string' ? invoke.src : invoke.id)),
    entry: namesOf(node.entry),
    exit: namesOf(node.exit),
  };
}

function edgesFor(node: AnyStateNode, transition: AnyTransitionDefinition, id: string): MachineEdge[] {
  const event = String(transition.eventType ?? '');
  const kind = kindOf(event);
  const guard = guardName(transition.guard);
  const targets = transition.target ?? [node];
  return targets.map((target, index) => ({
    id: targets.length > 1 ? `${id}~${index}` : id,
    transition: id,
    source: node.id,
    target: target.id,
    kind,
    event,
    label: guard === undefined ? eventLabel(event) : `${eventLabel(event)} [${guard}]`,
    ...(guard === undefined ? {} : { guard }),
    actions: namesOf(transition.actions),
    ...(transition.target ? {} : { internal: true as const }),
    ...(transition.target && transition.reenter ? { reenter: true as const } : {}),
    ...(transition.description ? { description: transition.description } : {}),
  }));
}

function kindOf(event: string): EdgeKind {
  if (event === '') return 'always';
  if (event.startsWith('xstate.after.')) return 'after';
  if (event.startsWith('xstate.done.')) return 'done';
  if (event.startsWith('xstate.error.')) return 'error';
  return 'event';
}

/** An event descriptor in a reader's words: `done: run`, `after 5000`, `always`. */
export function eventLabel(event: string): string {
  if (event === '') return 'always';
  const actor = /^xstate\.(done|error|snapshot)\.actor\.(.*)$/.exec(event) ?? /^xstate\.(snapshot)\.(.*)$/.exec(event);
  // An invoke without an id of its own is called `<index>.<state id>` by XState, which tells a reader nothing.
  if (actor) return actor[2] === undefined || /^\d+\./.test(actor[2]) ? String(actor[1]) : `${actor[1]}: ${actor[2]}`;
  if (event.startsWith('xstate.done.state.')) return 'done';
  const after = /^xstate\.after\.([^.]+)\./.exec(event);
  return after ? `after ${after[1]}` : event;
}

/**
 * A guard's name, with the parameters that tell it from its namesakes (`endedAs(succeeded)`); combined guards (`and`, `or`, `not`) with
 * their parts; `inline` for an unnamed function.
 */
function guardName(guard: unknown): string | undefined {
  if (guard === undefined || guard === null) return undefined;
  if (typeof guard === 'string') return guard;
  if (typeof guard === 'function') return combinedName(guard) ?? functionName(guard);
  if (typeof guard === 'object' && 'type' in guard) {
    return `${guardName(guard.type) ?? 'inline'}${'params' in guard ? parametersOf(guard.params) : ''}`;
  }
  return 'inline';
}

/** Values written down with the transition. What is computed from the event is not known before it comes. */
function parametersOf(params: unknown): string {
  if (typeof params !== 'object' || params === null) return '';
  const values = Object.values(params).filter((value) => ['string', 'number', 'boolean'].includes(typeof value));
  return values.length === 0 ? '' : `(${values.join(', ')})`;
}

function combinedName(guard: object): string | undefined {
  if (!('check' in guard)) return undefined;
  const parts = 'guards' in guard && Array.isArray(guard.guards) ? guard.guards.map((part) => guardName(part) ?? 'inline') : [];
  const name = 'name' in guard && typeof guard.name === 'string' ? guard.name : '';
  if (name === 'not') return `not ${parts.join()}`;
  if (name === 'and' || name === 'or') return parts.join(` ${name} `);
  return name || undefined;
}

function namesOf(actions: readonly unknown[]): string[] {
  return actions.flatMap((action) => {
    if (typeof action === 'string') return [action];
    if (typeof action === 'function') return [functionName(action)];
    if (typeof action === 'object' && action !== null && 'type' in action && typeof action.type === 'string') {
      // XState turns `after` into a delayed raise and its cancel; the edge already says so.
      return action.type.startsWith('xstate.') ? [] : [action.type];
    }
    return [];
  });
}

/** JavaScript names an arrow function after the property it is written at; that is no name a reader knows. */
function functionName({ name }: { readonly name: string }): string {
  return name === '' || name === 'guard' || name === 'actions' ? 'inline' : name;
}
