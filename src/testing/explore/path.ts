import type { PermissionDecision, PermissionRule, TraceEntry } from '../../permissions/types.js';
import type { CallOutcome, OutcomeKind } from '../../tool/call.js';
import type { PathStep } from './graph.js';
import { type Scenario, sayingsTo } from './sayings.js';
import type { Microstep } from './stepper.js';
import type { CallCase, ModeCase } from './types.js';
import { callContext, type MachinePair, permissionContext, type WalkSnapshot, type WorldEvent } from './walk.js';
import type { World } from './world.js';

/** What became of one call on a path: its own rules, not those of a call that walks alike. */
export interface PathAccount {
  /** The call it speaks of. */
  readonly call: CallCase;
  /** Every check of the decision, in order, over all passages. */
  readonly trace: readonly TraceEntry[];
  /** What was decided; null where the call ended before. */
  readonly decision: PermissionDecision | null;
  /** How the call ended; null where the path does not end. */
  readonly outcome: CallOutcome | null;
  /** Rules that match the call: the one that decided first, then those without effect. */
  readonly rules: readonly PermissionRule[];
}

/** The steps of a path, and the state that they start from. */
interface Walked {
  readonly path: readonly PathStep[];
  readonly initial: WalkSnapshot;
}
/** What a path must have at hand to be walked again for another call. */
interface Surroundings {
  readonly world: World;
  readonly pair: MachinePair;
}

/** One path of a call through the machines, from `queued` to `yielded`. */
export class PermissionPath {
  private readonly accounts = new Map<CallCase, PathAccount>();
  private readonly last: WalkSnapshot;

  private constructor(
    private readonly scenario: Scenario,
    /** Calls whose facts are the same: they walk this path alike. The first is the one that was explored. */
    readonly calls: readonly CallCase[],
    private readonly path: readonly PathStep[],
    private readonly initial: WalkSnapshot,
    private readonly world: World,
    private readonly pair: MachinePair,
  ) {
    this.last = path.at(-1)?.snapshot ?? initial;
  }

  /** @internal */
  static of(scenario: Scenario, calls: readonly CallCase[], walked: Walked, { world, pair }: Surroundings): PermissionPath {
    return new PermissionPath(scenario, calls, walked.path, walked.initial, world, pair);
  }

  /** The call that was explored; `calls` are those that walk alike. */
  get call(): CallCase {
    return this.scenario.call;
  }
  /** The mode the call is made in. */
  get mode(): ModeCase {
    return this.scenario.mode;
  }
  /** What the world said, in order. */
  get events(): readonly WorldEvent[] {
    return this.path.map(({ event }) => event);
  }
  /** Every microstep of both machines, eventless ones included. */
  get microsteps(): readonly Microstep[] {
    return [...this.initial.steps, ...this.path.flatMap(({ snapshot }) => snapshot.steps)];
  }
  /** Ids of the leaf states passed, in order, without repeats. */
  get states(): readonly string[] {
    const passed = this.microsteps.flatMap(({ leaves }) => leaves);
    return passed.filter((id, index) => id !== passed[index - 1]);
  }
  /** The state of `completed` it ends in; null where the path does not end. */
  get outcome(): OutcomeKind | null {
    return callContext(this.last).outcome?.kind ?? null;
  }
  /** Whether the tool was called: the side effect may have happened. */
  get ran(): boolean {
    return this.path.some(({ snapshot }) => snapshot.call.matches({ executing: 'calling' }));
  }
  /** Whether a person or a PermissionRequest hook was asked and answered. */
  get asked(): boolean {
    return (
      callContext(this.last).decision?.asked === true ||
      this.path.some(({ event }) => /^(person|requestHook)\.(yes|no|always|edited|stop)/.test(event.type))
    );
  }
  /** Whether a person answered. */
  get askedPerson(): boolean {
    return this.path.some(({ event }) => /^person\.(yes|no|always|edited|stop)/.test(event.type));
  }
  /** Whether the decision came to demand a question, answered or not. */
  get demanded(): boolean {
    return this.path.some(({ snapshot }) =>
      snapshot.steps.some(({ leaves }) => leaves.some((leaf) => leaf.startsWith('permission.asking'))),
    );
  }
  /** What was decided; null where the call ended before. */
  get decision(): 'allow' | 'deny' | null {
    return callContext(this.last).decision?.behavior ?? null;
  }
  /** Number of things said: the shortest witness is the one with the fewest. */
  get length(): number {
    return this.path.length;
  }

  /** One line for a person: mode, call, what was said, and how it ended. */
  get description(): string {
    return this.describe(this.call);
  }

  /** `description`, told of another call that walks this path. */
  describe(call: CallCase): string {
    const said = this.path.filter(({ event }) => !ROUTINE.has(event.type)).map(({ event }) => event.say);
    const more = this.calls.length > 1 && call === this.call ? ` (and ${this.calls.length - 1} alike)` : '';
    return [`mode ${this.mode}`, `${call.text}${more}`, ...said, this.ending()].join(' › ');
  }

  /** The trace of the decision with this call's own rules; the explored call's when none is named. */
  account(call: CallCase = this.call): PathAccount {
    const known = this.accounts.get(call);
    if (known !== undefined) return known;
    const made = call === this.call ? this.asExplored() : this.replay(call);
    this.accounts.set(call, made);
    return made;
  }

  private ending(): string {
    const { outcome } = callContext(this.last);
    if (outcome === null) return 'does not end';
    return outcome.kind === 'succeeded' ? 'runs' : `${outcome.kind}${this.ran ? ' after it ran' : ''}: ${outcome.summary}`;
  }

  private asExplored(): PathAccount {
    const inside = this.path.findLast(({ snapshot }) => snapshot.permission !== null)?.snapshot.permission ?? null;
    return this.accountOf(this.call, this.last, traceOf(inside));
  }

  private accountOf(call: CallCase, snapshot: WalkSnapshot, open: readonly TraceEntry[]): PathAccount {
    const { decision, earlierTrace, outcome } = callContext(snapshot);
    const trace = [...earlierTrace, ...(decision?.trace ?? open)];
    const rules = [
      ...trace.flatMap(({ source }) => (source?.type === 'rule' ? [source.rule] : [])),
      ...(decision?.shadowed ?? []).map(({ rule }) => rule.rule),
    ];
    return { call, trace, decision, outcome, rules: [...new Set(rules)] };
  }

  private replay(call: CallCase): PathAccount {
    const scenario: Scenario = { ...this.scenario, call };
    let snapshot = this.pair.start(call);
    let trace: readonly TraceEntry[] = [];
    for (const { event } of this.path) {
      const own = sayingsTo(snapshot, scenario, this.world, this.pair).find(({ type }) => type === event.type);
      const inside = snapshot.permission;
      snapshot = this.pair.step(snapshot, own ?? event);
      if (inside !== null || snapshot.permission !== null) trace = traceOf(snapshot.permission ?? inside);
    }
    return this.accountOf(call, snapshot, trace);
  }
}

/** Said on every path; of no interest to a reader. */
const ROUTINE: ReadonlySet<string> = new Set([
  'start',
  'resolve',
  'parse',
  'facts',
  'valid',
  'opinion',
  'end.succeeded',
  'mapped',
  'reported',
  'yield',
]);

const traceOf = (permission: WalkSnapshot['permission']): readonly TraceEntry[] =>
  permission === null ? [] : permissionContext(permission).trace;
