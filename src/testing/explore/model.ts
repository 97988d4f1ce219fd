import type { AnyStateMachine } from 'xstate';
import { permissionMachine } from '../../../machines/permission.js';
import { toolCallMachine } from '../../../machines/toolCall.js';
import type { PermissionFacts } from '../../permissions/types.js';
import type { LoadedSettings } from '../../settings/types.js';
import { Coverage } from './coverage.js';
import { exploreScenario } from './graph.js';
import { PermissionPath } from './path.js';
import type { Scenario } from './sayings.js';
import type { CallCase, ModeCase } from './types.js';
import { MachinePair } from './walk.js';
import type { World } from './world.js';

/** The machines that an exploration walks. */
export interface ModelMachines {
  /** In place of `toolCallMachine`. */
  readonly toolCall: AnyStateMachine;
  /** In place of `permissionMachine`. */
  readonly permission: AnyStateMachine;
}

/** How large an exploration was. */
export interface ExplorationCounts {
  /** Distinct calls, as spelled. */
  readonly calls: number;
  /** Calls × modes × whether someone can be asked. */
  readonly scenarios: number;
  /** Scenarios whose facts differ; each was explored once. */
  readonly graphs: number;
  /** Paths through those graphs. */
  readonly paths: number;
  /** Paths × the calls that walk them. */
  readonly walks: number;
  /** Time it took, in milliseconds. */
  readonly ms: number;
}

/** All paths of some calls under some settings. */
export interface PermissionModel {
  /** Every path; calls that walk alike share one. */
  readonly paths: readonly PermissionPath[];
  /** The calls that were explored. */
  readonly calls: readonly CallCase[];
  /** The modes that were explored. */
  readonly modes: readonly ModeCase[];
  /** Which states and transitions of both machines were reached. */
  readonly coverage: Coverage;
  /** How large the exploration was. */
  readonly counts: ExplorationCounts;
  /** The settings that were explored. */
  readonly settings: LoadedSettings;
  /** A few lines for a terminal: how many paths, what was covered. */
  describe(): string;
}

interface ModelParts {
  readonly scenarios: readonly Scenario[];
  readonly calls: readonly CallCase[];
  readonly modes: readonly ModeCase[];
  readonly settings: LoadedSettings;
  readonly world: World;
  readonly machines?: Partial<ModelMachines>;
  readonly limit: number;
}

/**
 * Explores every scenario. Scenarios in which the machines read the same facts differ in nothing but texts, so one of them is walked
 * for all, and every path lists the calls that it stands for.
 */
export function buildModel({ scenarios, calls, modes, settings, world, machines = {}, limit }: ModelParts): PermissionModel {
  const started = performance.now();
  const toolCall = machines.toolCall ?? toolCallMachine;
  const permission = machines.permission ?? permissionMachine;
  const pair = new MachinePair({ toolCall, permission });
  const coverage = new Coverage([toolCall, permission]);
  const groups = new Map<string, Scenario[]>();
  for (const scenario of scenarios) {
    const key = scenarioKey(scenario, world);
    const group = groups.get(key);
    if (group) group.push(scenario);
    else groups.set(key, [scenario]);
  }
  const paths: PermissionPath[] = [];
  let walks = 0;
  for (const [first, ...others] of groups.values()) {
    if (first === undefined) continue;
    const graph = exploreScenario(first, world, pair, limit);
    const alike = [first, ...others].map(({ call }) => call);
    for (const step of graph.steps) coverage.add(step);
    for (const path of graph.paths) paths.push(PermissionPath.of(first, alike, { path, initial: graph.initial }, { world, pair }));
    walks += graph.paths.length * alike.length;
  }
  const counts: ExplorationCounts = {
    calls: calls.length,
    scenarios: scenarios.length,
    graphs: groups.size,
    paths: paths.length,
    walks,
    ms: Math.round(performance.now() - started),
  };
  return { paths, calls, modes, coverage, counts, settings, describe: () => `${describeCounts(counts)}\n${coverage.describe()}` };
}

const describeCounts = ({ calls, scenarios, graphs, paths, walks, ms }: ExplorationCounts): string =>
  `${paths} paths (${walks} walks of ${calls} calls in ${scenarios} scenarios, ${graphs} of them different) in ${ms} ms`;

/** Equal for scenarios that the machines cannot tell apart. */
function scenarioKey(scenario: Scenario, world: World): string {
  const { call, mode, hooks, requestHooks, answers, opinion, faults } = scenario;
  const resolved = world.resolve(call, mode, hooks.length > 0);
  const parsed = world.parse(call, mode, null);
  const common = { opinion, canAsk: answers.length > 0, hasRequestHooks: requestHooks.length > 0 };
  const facts = (result: Scenario['hooks'][number]['result'] | null): unknown =>
    factsKey(
      world.gather(call, mode, {
        hook: result,
        rewritten: result?.updatedInput === undefined ? null : { value: result.updatedInput.value, by: 'hook', approval: null },
        ...common,
      }).facts,
    );
  return JSON.stringify([
    mode,
    resolved.type === 'tool.resolved' ? { ...resolved.tool, toolName: '' } : resolved.type,
    parsed.type,
    facts(null),
    hooks.map(({ type, result }) => [
      type,
      result.verdict.behavior,
      result.stop !== undefined,
      result.updatedInput === undefined
        ? null
        : [world.parse(call, mode, { value: result.updatedInput.value, by: 'hook', approval: null }).type, facts(result)],
    ]),
    requestHooks,
    answers,
    opinion.behavior,
    faults,
  ]);
}

/** What of the facts the guards read: which of them speak, not their words. */
const factsKey = (facts: PermissionFacts): unknown => [
  facts.mode,
  facts.denyRule !== null,
  facts.askRule !== null,
  facts.requiresPerson !== null,
  facts.safety === null ? null : facts.safety.bypassable,
  facts.tool.behavior,
  facts.modeVerdict.behavior,
  facts.allowRule !== null,
  facts.builtInAllow !== null,
  facts.canAsk,
  facts.hasPermissionRequestHooks,
  facts.hasClassifier === true,
];
