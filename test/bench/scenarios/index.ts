import { callScenarios } from './calls.js';
import { growth } from './growth.js';
import { idleSessions, longSession } from './memory.js';
import { permissionDecision } from './permissionDecision.js';
import type { Scenario } from './scenario.js';
import { streaming } from './streaming.js';
import { hooks, inspector } from './variants.js';

const scenarios: readonly Scenario[] = [
  ...callScenarios,
  streaming,
  idleSessions,
  inspector,
  permissionDecision,
  growth,
  hooks,
  longSession,
];

/** Names that stand for several scenarios. */
const groups: Readonly<Record<string, readonly string[]>> = { executor: [...callScenarios.map(({ name }) => name), streaming.name] };

/** The scenarios of these names, all for none. Throws for a name that does not exist. */
export function selectScenarios(names: readonly string[]): readonly Scenario[] {
  if (names.length === 0) return scenarios;
  const wanted = new Set(names.flatMap((name) => groups[name] ?? [name]));
  for (const name of wanted) {
    if (scenarios.some((scenario) => scenario.name === name)) continue;
    const known = [...Object.keys(groups), ...scenarios.map((scenario) => scenario.name)].join(', ');
    throw new Error(`There is no scenario "${name}". There are: ${known}.`);
  }
  return scenarios.filter((scenario) => wanted.has(scenario.name));
}
