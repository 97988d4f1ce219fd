import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { loadSettings, managedSettingsFile } from '../settings/load.js';
import { userPlace } from '../settings/place.js';
import type { LoadedSettings } from '../settings/types.js';
import { type LoadedAgents, loadAgents } from './agentDefinitions.js';
import type { Lineage } from './lineage.js';
import type { SessionOptions } from './options.js';
import type { Services } from './services.js';

/** Where a session lives: its directories, its settings, its clock and ids. A subagent shares its parent's settings. */
export interface Surroundings {
  readonly sessionId: string;
  readonly cwd: string;
  readonly home: string;
  readonly projectDir: string;
  readonly env: Services['env'];
  readonly now: () => number;
  readonly newId: () => string;
  readonly settings: LoadedSettings;
  readonly found: LoadedAgents;
  /** Tools of the embedding program. */
  readonly toolNames: readonly string[];
}

export function readSurroundings(options: SessionOptions, lineage: Lineage | undefined): Surroundings {
  const cwd = resolve(options.cwd ?? process.cwd());
  const { home, configDir } = userPlace(options.settings?.home, options.env);
  const newId = options.newId ?? randomUUID;
  const toolNames = (options.tools ?? []).map((tool) => tool.name);
  const files = options.settings?.files ?? true;
  const settings =
    lineage?.settings ??
    loadSettings({
      home,
      configDir,
      cwd,
      trusted: options.settings?.trusted ?? false,
      files,
      managedFile: options.settings?.managedFile ?? managedSettingsFile(),
      ...(options.settings?.file === undefined ? {} : { settingsFile: options.settings.file }),
      ...(options.permissions === undefined ? {} : { settings: { permissions: permissionSettings(options.permissions) } }),
      toolNames,
    });
  const baseEnv = options.env ?? process.env;
  return {
    sessionId: lineage ? `${lineage.family.rootId}/agent-${lineage.agent.id}` : (options.resume ?? options.sessionId ?? newId()),
    cwd,
    home,
    projectDir: lineage?.projectDir ?? cwd,
    // Copying a process's environment costs as much as the rest of an idle session.
    env: Object.keys(settings.env).length === 0 ? baseEnv : { ...baseEnv, ...settings.env },
    now: options.now ?? Date.now,
    newId,
    settings,
    found: lineage
      ? { agents: lineage.definitions, warnings: [] }
      : loadAgents({ configDir, cwd, files, given: options.agents ?? [], toolNames }),
    toolNames,
  };
}

function permissionSettings({ mode, ...rest }: NonNullable<SessionOptions['permissions']>) {
  return { ...rest, ...(mode === undefined ? {} : { defaultMode: mode }) };
}
