import { loadHooks } from '../hooks/config.js';
import { createHookRunner } from '../hooks/runner.js';
import type { HookContext, SessionHookRunner } from '../hooks/runner-types.js';
import type { PermissionMode } from '../permissions/types.js';
import type { LoadedSettings } from '../settings/types.js';
import { findTool } from '../tool/index.js';
import { withFullNames } from './hookNames.js';
import { hookPorts } from './hookPorts.js';
import type { Family, Lineage } from './lineage.js';
import type { SessionOptions } from './options.js';
import type { Services } from './services.js';
import type { Toolbox } from './toolbox.js';

export interface SessionHooksOptions extends Pick<HookContext, 'sessionId' | 'transcriptPath' | 'projectDir'> {
  readonly session: Pick<SessionOptions, 'hooks' | 'agentName'>;
  readonly lineage: Lineage | undefined;
  readonly family: Family;
  readonly settings: Pick<LoadedSettings, 'files'>;
  readonly home: string;
  readonly env: Services['env'];
  readonly toolNames: readonly string[];
  readonly mcpServers: readonly string[];
  readonly model: Services['model'];
  readonly toolbox: Toolbox;
  permissionMode(): PermissionMode;
  /** Asked when a hook runs: the session's services need its hooks first. */
  services(): Services;
}

/** The hooks of a session, as they know it, and in words what is wrong with their configuration. */
export interface SessionHooks {
  readonly hooks: SessionHookRunner;
  readonly issues: readonly string[];
}

export function createSessionHooks(options: SessionHooksOptions): SessionHooks {
  const { session, lineage, family, toolbox, services, sessionId, projectDir, env } = options;
  const config = loadHooks(options.settings.files, session.hooks);
  const runner = createHookRunner({
    config,
    context: {
      sessionId,
      transcriptPath: options.transcriptPath,
      cwd: () => services().cwd,
      projectDir,
      permissionMode: options.permissionMode,
      env,
      envFile: family.envFile,
      ...(session.agentName === undefined ? {} : { agentType: session.agentName }),
      ...(lineage === undefined ? {} : { agentId: lineage.agent.id, sessionId: family.rootId }),
    },
    ports: hookPorts({
      sessionId,
      cwd: projectDir,
      home: options.home,
      toolNames: options.toolNames,
      mcpServers: options.mcpServers,
      servers: family.servers,
      model: options.model,
      results: () => services().results,
      cwdNow: () => services().cwd,
      findTool: (name) => findTool(toolbox.pool(), name),
      spendOn: (usage) => services().spendOn(usage),
      notify: (text) => services().notify(text),
    }),
  });
  return {
    hooks: withFullNames(runner, (name) => toolbox.canonicalName(name)),
    issues: config.issues.map(({ message }) => message),
  };
}
