import { resolve } from 'node:path';
import { loadSettings, managedSettingsFile } from '../../settings/load.js';
import { type UserPlace, userPlace } from '../../settings/place.js';
import type { LoadedSettings } from '../../settings/types.js';
import { getAllBaseTools } from '../../tool/index.js';
import { auditSettings } from '../audit/index.js';
import { type ExploredHooks, explorePermissions } from '../explore/index.js';
import type { PermissionModel } from '../explore/model.js';
import type { ModeCase } from '../explore/types.js';
import { checkProperties } from '../properties.js';
import { failsOn } from './severity.js';
import type { Policy, PolicyReport } from './types.js';

/** Types a policy file's default export. */
export const definePolicy = (policy: Policy): Policy => policy;

const USUAL_MODES: readonly ModeCase[] = ['default', 'acceptEdits', 'plan', 'dontAsk'];
/**
 * Holds settings against a policy: every property on every path, and the audit.
 *
 * @throws when a property speaks of no call, or a call pattern cannot be read.
 */
export async function checkPolicy(policy: Policy): Promise<PolicyReport & { readonly model: PermissionModel | null }> {
  const cwd = resolve(policy.cwd ?? process.cwd());
  const place = userPlace(policy.home);
  const { home } = place;
  const tools = policy.tools ?? getAllBaseTools();
  const settings = settingsOf(
    policy,
    cwd,
    place,
    tools.map(({ name }) => name),
  );
  const model = policy.properties.length === 0 ? null : await modelOf(policy, settings, cwd, home);
  const results = model === null ? [] : checkProperties(model, policy.properties);
  const findings = policy.audit === false ? [] : auditSettings({ cwd, home, settings, tools }).findings;
  const failOn = policy.failOn ?? 'hole';
  const ok = results.every(({ violation }) => violation === null) && findings.every(({ severity }) => !failsOn(severity, failOn));
  return { results, findings, counts: model?.counts ?? null, failOn, ok, model };
}

function settingsOf({ settings }: Policy, cwd: string, place: UserPlace, toolNames: readonly string[]): LoadedSettings {
  const common = { cwd, ...place, trusted: true, toolNames };
  if (typeof settings === 'object') return loadSettings({ ...common, files: false, settings });
  return loadSettings({ ...common, managedFile: managedSettingsFile(), ...(settings === undefined ? {} : { projectFile: settings }) });
}

function modelOf(policy: Policy, settings: LoadedSettings, cwd: string, home: string): Promise<PermissionModel> {
  const named = policy.properties.flatMap(({ modes }) => modes ?? []);
  const modes = policy.modes ?? [...new Set<ModeCase>([...USUAL_MODES, settings.mode, ...named])];
  const patterns = [...new Set(policy.properties.flatMap((one) => one.patterns))];
  const { tools, mcpServers, spellings } = policy;
  return explorePermissions({
    cwd,
    home,
    settings,
    modes,
    calls: [...patterns, ...(policy.calls ?? [])],
    hooks: hooksOf(policy),
    ...(tools === undefined ? {} : { tools }),
    ...(mcpServers === undefined ? {} : { mcpServers }),
    ...(spellings === undefined ? {} : { spellings }),
  });
}

function hooksOf({ hooks = 'run' }: Policy): ExploredHooks {
  if (hooks === 'run') return { runConfigured: true };
  return hooks === 'ignore' ? {} : hooks;
}

export { findPolicy, loadPolicy } from './load.js';
export { describeReport, junitReport, plainReport } from './report.js';
export type { Policy, PolicyReport } from './types.js';
