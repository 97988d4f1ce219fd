import type { McpServers } from '../mcp/servers.js';
import type { LoadedSettings } from '../settings/types.js';
import type { AgentDefinition } from './agentDefinitions.js';
import type { Services } from './services.js';
import type { Spend } from './spend.js';

/** Who a subagent is. */
export interface AgentIdentity {
  readonly id: string;
  /** Name of its definition. */
  readonly type: string;
  /** The task, in the words of whoever started it. */
  readonly description: string;
  readonly transcriptPath: string | null;
}

/** What a session shares with all of its subagents, theirs included. */
export interface Family {
  readonly rootId: string;
  /** Subagents that run right now. */
  running: number;
  readonly spend: Spend;
  /**
   * The file in which SessionStart hooks may leave `export` lines for shell commands, those of subagents included (Claude Code docs, hooks:
   * "Persist environment variables").
   */
  readonly envFile: string;
  /** The MCP servers of the main session, for hooks: what guards the session guards its subagents. */
  readonly servers: Pick<McpServers, 'callText'>;
}

/** Where a subagent's session comes from: everything it must not have a looser version of. */
export interface Lineage {
  readonly agent: AgentIdentity;
  /** The call that started the agent. */
  readonly callId: string;
  /** 1 for a subagent of the main session. */
  readonly depth: number;
  readonly family: Family;
  readonly projectDir: string;
  readonly settings: LoadedSettings;
  readonly definitions: readonly AgentDefinition[];
  readonly parent: Pick<Services, 'permissions' | 'questions' | 'decide' | 'canAsk' | 'agentSessions' | 'model'>;
  readonly resultsDir: string;
}
