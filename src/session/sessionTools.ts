import { mcpLimits } from '../mcp/limits.js';
import { McpServers } from '../mcp/servers.js';
import { collectServers, type McpSources } from '../mcp/sources.js';
import { blocksOf, onlyResultsMayFollow } from '../messages/blocks.js';
import type { MessageParam } from '../messages/types.js';
import type { Clock } from '../model/clock.js';
import type { LoadedSettings } from '../settings/types.js';
import type { AnyTool, ToolSearchIndex } from '../tool/types.js';
import { toolAnnouncements } from './announcements.js';
import { deferralMode } from './deferral.js';
import type { SessionOptions } from './options.js';
import { createSearchIndex } from './searchIndex.js';
import { createToolbox, type LoadedTool, type Toolbox } from './toolbox.js';
import type { SessionUpdate } from './updates.js';

/** How long a session waits for its servers before it says its first word. */
const STARTUP_WAIT_MS = 5_000;

export interface SessionToolsOptions {
  readonly session: SessionOptions;
  readonly sources: McpSources;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly resultsDir: string;
  readonly loadedBefore: readonly { readonly name: string; readonly schemaDigest?: string | undefined }[];
  /** True for a tool that a bare deny rule takes off the list. */
  readonly hidden: (tool: AnyTool) => boolean;
  /** Called for every tool whose schema the model is given by loading, so that a restart knows. */
  readonly onLoaded: (tools: readonly LoadedTool[]) => void;
  readonly update: (update: SessionUpdate) => void;
}

/** The MCP servers that code, `.mcp.json` and settings files give a session. */
export function sessionServers(
  session: SessionOptions,
  place: Pick<SessionToolsOptions, 'cwd' | 'env'> & { readonly settings: Pick<LoadedSettings, 'files'> },
): McpSources {
  const { mcpServers = {}, strictMcpConfig = false, settings: { files = true, trusted = false } = {}, interactive = false } = session;
  return collectServers({
    cwd: place.cwd,
    env: place.env,
    servers: mcpServers,
    files: files ? place.settings.files : [],
    strict: strictMcpConfig || !files,
    trusted,
    interactive,
  });
}

/** Everything that decides which tools a session has: its pool, its servers, what is deferred and what the model was told. */
export interface SessionTools {
  readonly toolbox: Toolbox;
  readonly servers: McpServers;
  readonly search: ToolSearchIndex;
  readonly warnings: readonly string[];
  /**
   * Starts the servers. Resolves when all are there or have failed, or after the wait that the session allows, with what there was to
   * notice until then; undefined when there are none.
   */
  start(): Promise<readonly string[]> | undefined;
  announcements(messages: readonly MessageParam[]): readonly string[];
}

export function createSessionTools(options: SessionToolsOptions): SessionTools {
  const { session, sources, cwd, env, clock, update } = options;
  const byReference = typeof session.model === 'object' && session.model.apiToolSearch === true;
  const told = new Set<string>();
  let isStarted = false;
  const early: string[] = [];
  // The first update names every server. What there is to notice before it waits for it; what changes later is told one by one.
  const notice = (message: string) => {
    if (isStarted) update({ type: 'notice', level: 'warning', message });
    else early.push(message);
  };
  const servers = new McpServers({
    servers: sources.servers,
    place: { cwd, env },
    limits: mcpLimits(env),
    clock,
    resultsDir: options.resultsDir,
    onToolsChange: () => {
      toolbox.setServerTools(servers.tools());
      for (const message of toolbox.warnings) {
        if (!told.has(message)) notice(message);
        told.add(message);
      }
    },
    onStatus: (server) => {
      if (isStarted) update({ type: 'server.status', server });
    },
    onNotice: notice,
  });
  const toolbox = createToolbox({
    session,
    hasServers: servers.names.length > 0,
    deferral: deferralMode(env),
    byReference,
    hidden: options.hidden,
    loadedBefore: options.loadedBefore,
    onReload: options.onLoaded,
  });
  for (const message of toolbox.warnings) told.add(message);
  return {
    toolbox,
    servers,
    search: createSearchIndex(toolbox, byReference),
    warnings: [...sources.warnings, ...servers.warnings, ...toolbox.warnings],
    start: () => {
      if (servers.names.length === 0) return undefined;
      return servers.start(session.mcpStartupWaitMs ?? STARTUP_WAIT_MS).then(() => {
        isStarted = true;
        return early;
      });
    },
    announcements: (messages) => {
      if (!mayAnnounce(messages)) return [];
      return toolAnnouncements(
        {
          deferred: toolbox.deferred().map(({ name }) => name),
          available: new Set(toolbox.pool().map(({ name }) => name)),
          instructions: servers.instructions(),
        },
        messages,
      );
    },
  };
}

/** An answer that is to be continued, or that waits for nothing but results, may not be followed by words of ours. */
function mayAnnounce(messages: readonly MessageParam[]): boolean {
  if (messages.at(-1)?.role !== 'user') return false;
  const answer = messages.findLast(({ role }) => role === 'assistant');
  return answer === undefined || !onlyResultsMayFollow(blocksOf(answer.content));
}
