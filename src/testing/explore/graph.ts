import { type AdjacencyMap, getAdjacencyMap } from 'xstate/graph';
import { type Scenario, sayingsTo } from './sayings.js';
import type { Microstep } from './stepper.js';
import { callContext, type MachinePair, permissionContext, type WalkSnapshot, type WorldEvent } from './walk.js';
import type { World } from './world.js';

/** One step of a path: what the world said and where that left the machines. */
export interface PathStep {
  readonly event: WorldEvent;
  readonly snapshot: WalkSnapshot;
}
export interface ScenarioGraph {
  readonly scenario: Scenario;
  readonly initial: WalkSnapshot;
  readonly paths: readonly (readonly PathStep[])[];
  /** Every transition of the graph once: what coverage counts. */
  readonly steps: readonly Microstep[];
  readonly states: number;
}

/** What of a snapshot decides how it can go on, and what of its past a property may ask about. Never a counter, a time or a text. */
function stateKey(snapshot: WalkSnapshot): string {
  const known = keys.get(snapshot);
  if (known !== undefined) return known;
  const key = computeKey(snapshot);
  keys.set(snapshot, key);
  return key;
}

const keys = new WeakMap<WalkSnapshot, string>();

function computeKey(snapshot: WalkSnapshot): string {
  const { value } = snapshot.call;
  const { tool, rewritten, hook, decision, abort, end, outcome } = callContext(snapshot);
  const permission = snapshot.permission;
  return JSON.stringify([
    value,
    permission?.value ?? null,
    tool === null,
    rewritten === null ? null : [rewritten.by, rewritten.approval?.source?.type ?? null],
    hook === null ? null : [hook.verdict.behavior, hook.updatedInput !== undefined, hook.stop !== undefined],
    permission === null ? null : [permissionContext(permission).cause?.check ?? null, permissionContext(permission).trace.at(-1)?.check],
    decision === null ? null : [decision.behavior, decision.asked, decision.winner.check, decision.interrupt === true],
    abort,
    end?.kind ?? null,
    outcome === null ? null : [outcome.kind, outcome.reason ?? null, outcome.phase ?? null, outcome.preventContinuation === true],
  ]);
}

/**
 * Builds the graph of a scenario with `xstate/graph` and lists its paths: every way to a decision, each followed to its end; every way
 * on from a decision, once; and a detour for each transition that lies on none of these (an answer that is refused, an abort that waits).
 *
 * @throws when it takes more than `limit` steps: some value grows without end, and the key must not contain it.
 */
export function exploreScenario(scenario: Scenario, world: World, pair: MachinePair, limit: number): ScenarioGraph {
  let adjacency: AdjacencyMap<WalkSnapshot, WorldEvent>;
  try {
    adjacency = getAdjacencyMap(pair.logic(scenario.call), {
      events: (snapshot) => sayingsTo(snapshot, scenario, world, pair),
      serializeState: stateKey,
      serializeEvent: ({ type }) => type,
      stopWhen: ({ status }) => status === 'done',
      limit,
    });
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes('limit exceeded')) throw error;
    throw new Error(
      `The paths of ${scenario.call.text} (mode ${scenario.mode}) take more than ${limit} steps to explore; raise "limit" or give fewer answers.`,
      { cause: error },
    );
  }
  const lister = new PathLister(adjacency);
  const states = Object.values(adjacency);
  const initial = states[0]?.state;
  if (initial === undefined) throw new Error(`The tool call machine has no initial state for ${scenario.call.text}.`);
  return {
    scenario,
    initial,
    paths: lister.list(stateKey(initial)),
    steps: [
      ...initial.steps,
      ...states.flatMap(({ transitions }) => Object.values<Transition>(transitions).flatMap(({ state }) => state.steps)),
    ],
    states: states.length,
  };
}

interface Transition {
  readonly event: WorldEvent;
  readonly state: WalkSnapshot;
}

interface Edge extends PathStep {
  readonly key: string;
}

class PathLister {
  private readonly edges = new Map<string, readonly Edge[]>();
  private readonly taken = new Set<Edge>();
  private readonly spread = new Set<string>();
  private readonly paths: PathStep[][] = [];

  constructor(adjacency: AdjacencyMap<WalkSnapshot, WorldEvent>) {
    for (const [key, { transitions }] of Object.entries(adjacency)) {
      const edges = Object.values<Transition>(transitions).map(({ event, state }) => ({ key: stateKey(state), event, snapshot: state }));
      this.edges.set(key, edges);
    }
  }

  list(initial: string): readonly (readonly PathStep[])[] {
    this.follow(initial, [], new Set([initial]));
    this.detours(initial);
    return this.paths;
  }

  /** Depth first over simple paths. Once a call is decided, the ways on are listed once for each state and then only the first one. */
  private follow(key: string, path: Edge[], visited: Set<string>): void {
    const all = this.edges.get(key) ?? [];
    const onward = all.filter((edge) => !visited.has(edge.key));
    if (onward.length === 0) {
      if (all.length === 0) this.keep(path);
      return;
    }
    const last = path.at(-1)?.snapshot;
    const decided = last !== undefined && (callContext(last).decision !== null || last.call.matches('completed'));
    const repeated = decided && this.spread.has(key);
    if (decided) this.spread.add(key);
    for (const edge of repeated ? onward.slice(0, 1) : onward) {
      path.push(edge);
      visited.add(edge.key);
      this.follow(edge.key, path, visited);
      visited.delete(edge.key);
      path.pop();
    }
  }

  private keep(path: readonly Edge[]): void {
    for (const edge of path) this.taken.add(edge);
    this.paths.push([...path]);
  }

  /** A path through every edge that no path has taken: the shortest way there, the edge, the first way on. */
  private detours(initial: string): void {
    const ways = this.shortestWays(initial);
    for (const [key, edges] of this.edges) {
      for (const edge of edges) {
        const before = ways.get(key);
        if (this.taken.has(edge) || before === undefined) continue;
        const path = [...before, edge];
        const visited = new Set([key]);
        let at = edge.key;
        for (;;) {
          const next = this.edges.get(at)?.find((one) => !visited.has(one.key)) ?? this.edges.get(at)?.[0];
          if (next === undefined || path.length > 100) break;
          visited.add(at);
          path.push(next);
          at = next.key;
        }
        this.keep(path);
      }
    }
  }

  private shortestWays(initial: string): ReadonlyMap<string, readonly Edge[]> {
    const ways = new Map<string, readonly Edge[]>([[initial, []]]);
    const queue = [initial];
    for (let key = queue.shift(); key !== undefined; key = queue.shift()) {
      for (const edge of this.edges.get(key) ?? []) {
        if (ways.has(edge.key)) continue;
        ways.set(edge.key, [...(ways.get(key) ?? []), edge]);
        queue.push(edge.key);
      }
    }
    return ways;
  }
}
