import { PermissionEngine } from '../permissions/engine.js';
import type { PermissionFacts, PermissionMode, PermissionUpdate, ToolPermissionContext } from '../permissions/types.js';
import { boundsOf } from '../settings/load.js';
import type { LoadedSettings } from '../settings/types.js';
import type { PermissionCall, SessionPermissions } from './services.js';

interface SessionPermissionOptions {
  readonly settings: LoadedSettings;
  readonly cwd: string;
  readonly home: string;
  readonly resultsDir: string;
  readonly toolNames: readonly string[];
  readonly mcpServers: readonly string[];
  readonly canAsk: boolean;
  readonly hasClassifier: boolean;
  readonly opaque: 'strict' | 'claude-code';
  readonly hasPermissionRequestHooks: (toolName: string) => boolean;
  /** Rules have changed: what the model is shown may have, too. */
  readonly onChange: () => void;
}

/** The permission engine as the ports of a session use it. */
export function createSessionPermissions(options: SessionPermissionOptions): SessionPermissions {
  const { settings, cwd, home, canAsk, hasClassifier, hasPermissionRequestHooks, toolNames, mcpServers, resultsDir } = options;
  const listeners = new Set([options.onChange]);
  const engine = new PermissionEngine({
    rules: settings.rules,
    mode: settings.mode,
    cwd,
    home,
    ...boundsOf(settings),
    internalDirectories: [resultsDir],
    canAsk,
    hasClassifier,
    opaque: options.opaque,
    hasPermissionRequestHooks,
    toolNames,
    mcpServers,
  });
  return {
    get mode(): PermissionMode {
      return engine.mode;
    },
    get rules() {
      return engine.sources().map(({ rule }) => rule);
    },
    get warnings() {
      return engine.warnings.map(({ message }) => message);
    },
    facts: (call: PermissionCall): PermissionFacts => {
      const { tool, input, rawInput, hook, hookSuppliedInput } = call;
      return engine.facts(
        {
          toolName: tool.name,
          input,
          rawInput,
          hook,
          hookSuppliedInput,
          tool: call.toolVerdict,
          requiresUserInteraction: tool.requiresUserInteraction(input),
          readOnly: tool.isReadOnly(input) === true,
          ...(tool.mcp === undefined ? {} : { mcp: tool.mcp }),
          ...(tool.preparePermissionMatcher === undefined ? {} : { matchesContent: tool.preparePermissionMatcher(input) }),
        },
        call.cwd,
      );
    },
    toolContext: (): ToolPermissionContext => engine.toolPermissionContext(),
    isHidden: (toolName, mcp) => engine.isToolHidden(toolName, mcp),
    onChange: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    apply: (updates: readonly PermissionUpdate[]) => {
      const { warnings } = engine.apply(updates);
      for (const listener of listeners) listener();
      return warnings;
    },
  };
}
