import type { JsonObject } from '../json.js';
import type { Clock } from '../model/clock.js';
import { ToolFailure } from '../tool/errors.js';
import type { AnyTool } from '../tool/types.js';
import type { McpServerConfig } from './config.js';
import { McpConnection } from './connection.js';
import { textOfOutput, toOutput } from './content.js';
import type { McpLimits } from './limits.js';
import type { McpToolInfo } from './listing.js';
import { resourceTools } from './resources.js';
import type { McpServerSource, McpServerSpec } from './sources.js';
import { mcpTool, shortened } from './tool.js';
import type { TransportPlace } from './transports.js';

/** A server as a person sees it. */
export interface McpServerStatus {
  /** The key it was declared under. */
  readonly name: string;
  /** Who declared it. */
  readonly source: McpServerSource;
  /** `pending`: connecting, for the first time or again. `disabled`: settings, trust or its own declaration keep it from being started. */
  readonly status: 'pending' | 'connected' | 'failed' | 'disabled';
  /** Why it failed, is disabled or is connecting again; with the end of a stdio server's standard error. */
  readonly detail?: string;
  /** How many tools it offers. */
  readonly tools: number;
}

export interface McpServersOptions {
  readonly servers: readonly McpServerSpec[];
  readonly place: TransportPlace;
  readonly limits: McpLimits;
  readonly clock: Clock;
  /** Where binary content of results goes that no call's own context names. */
  readonly resultsDir: string;
  /** What the servers offer has changed: ask for `tools()` again. */
  readonly onToolsChange: () => void;
  readonly onStatus: (status: McpServerStatus) => void;
  readonly onNotice: (message: string) => void;
}

interface Running {
  readonly spec: McpServerSpec;
  readonly config: McpServerConfig;
  readonly connection: McpConnection;
  /** Tools by their definition: one that is listed again unchanged stays the same object, and its definition the same bytes. */
  tools: ReadonlyMap<string, AnyTool>;
  told: string;
}

/** The MCP servers of a session: started together, watched, and ended together. */
export class McpServers {
  private readonly running = new Map<string, Running>();
  private builtResourceTools: readonly AnyTool[] | undefined;

  constructor(private readonly options: McpServersOptions) {
    const { servers, place, limits, clock, onNotice } = options;
    for (const spec of servers) {
      if (spec.plan.kind !== 'start') continue;
      const { config } = spec.plan;
      const connection = new McpConnection({
        name: spec.name,
        config,
        place,
        limits,
        clock,
        onNotice,
        onChange: () => this.changed(spec.name),
      });
      this.running.set(spec.name, { spec, config, connection, tools: new Map(), told: '' });
    }
  }

  /** Built when the first server has resources, and the same ever after: a request must not change from turn to turn. */
  private get resourceTools(): readonly AnyTool[] {
    this.builtResourceTools ??= resourceTools(
      () => new Map([...this.running].flatMap(([name, { connection }]) => (connection.hasResources ? [[name, connection] as const] : []))),
      this.options.limits,
    );
    return this.builtResourceTools;
  }

  /** What was left out before any server was started. */
  get warnings(): readonly string[] {
    return [...this.running.values()].flatMap(({ config }) => (config.type === 'sdk' ? (config.warnings ?? []) : []));
  }

  /** Names of the servers that are to run. */
  get names(): readonly string[] {
    return [...this.running.keys()];
  }

  /**
   * Starts all servers at once. Resolves when each is connected or has failed, or after `waitMs`: one that is slower goes on by
   * itself and its tools join when it is there.
   */
  async start(waitMs: number): Promise<void> {
    const { clock } = this.options;
    const all = Promise.all([...this.running.values()].map(({ connection }) => connection.start()));
    if (this.running.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = clock.setTimeout(resolve, waitMs);
      void all.then(() => {
        clock.clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Connects a server anew that has failed. */
  async restart(name: string): Promise<McpServerStatus> {
    const server = this.running.get(name);
    if (!server) throw new Error(`There is no MCP server ${name} to restart. There are: ${this.names.join(', ') || 'none'}.`);
    if (server.connection.state.status === 'failed') await server.connection.start();
    return this.statusOf(server.spec);
  }

  status(): readonly McpServerStatus[] {
    return this.options.servers.map((spec) => this.statusOf(spec));
  }

  /** The tools of all servers as they are now, and those by which resources are read where a server has any. */
  tools(): readonly AnyTool[] {
    const own = [...this.running.values()].flatMap(({ tools }) => [...tools.values()]);
    const hasResources = [...this.running.values()].some(({ connection }) => connection.hasResources);
    return hasResources ? [...own, ...this.resourceTools] : own;
  }

  /** What connected servers want the model to know of them, by name. */
  instructions(): ReadonlyMap<string, string> {
    return new Map(
      [...this.running].flatMap(([name, { connection }]) => {
        const text = connection.instructions?.trim() ?? '';
        return text === '' ? [] : [[name, shortened(text)] as const];
      }),
    );
  }

  /** Calls a tool on behalf of a hook: its text, and whether it is an error. */
  async callText(call: {
    readonly server: string;
    readonly tool: string;
    readonly input: JsonObject;
    readonly signal: AbortSignal;
  }): Promise<{ readonly text: string; readonly isError: boolean }> {
    const server = this.running.get(call.server);
    if (!server) throw new ToolFailure(`There is no MCP server ${call.server} in this session.`);
    const answer = await server.connection.call(call.tool, call.input, { signal: call.signal });
    const output = await toOutput(answer, { dir: this.options.resultsDir, prefix: `hook-${call.server}-${call.tool}` });
    return { text: textOfOutput(output), isError: answer.isError === true };
  }

  /** Ends every connection and every process that was started. */
  async close(): Promise<void> {
    await Promise.all([...this.running.values()].map(({ connection }) => connection.close()));
  }

  private changed(name: string): void {
    const server = this.running.get(name);
    if (!server) return;
    const before = server.tools;
    server.tools = this.toolsOf(server);
    const status = this.statusOf(server.spec);
    const told = JSON.stringify(status);
    const isNews = told !== server.told;
    server.told = told;
    if (isNews || [...before.keys()].join('\n') !== [...server.tools.keys()].join('\n')) this.options.onToolsChange();
    if (isNews && server.connection.state.status !== 'closed') this.options.onStatus(status);
  }

  private toolsOf({ spec, config, connection, tools }: Running): ReadonlyMap<string, AnyTool> {
    const make = (info: McpToolInfo) => mcpTool(info, { server: spec.name, config, connection, limits: this.options.limits });
    return new Map(
      connection.tools.map((info) => {
        const key = JSON.stringify(info);
        return [key, tools.get(key) ?? make(info)] as const;
      }),
    );
  }

  private statusOf({ name, source, plan }: McpServerSpec): McpServerStatus {
    const connection = this.running.get(name)?.connection;
    if (!connection || plan.kind !== 'start') {
      const detail = plan.kind === 'start' ? {} : { detail: plan.reason };
      return { name, source, status: plan.kind === 'invalid' ? 'failed' : 'disabled', ...detail, tools: 0 };
    }
    const { state } = connection;
    const tools = connection.tools.length;
    switch (state.status) {
      case 'connected':
        return { name, source, status: 'connected', tools };
      case 'pending': {
        const detail = state.attempt === 0 ? {} : { detail: `connecting again, attempt ${state.attempt}: ${state.detail}` };
        return { name, source, status: 'pending', ...detail, tools };
      }
      case 'failed':
        return { name, source, status: 'failed', detail: state.detail, tools: 0 };
      case 'closed':
        return { name, source, status: 'disabled', detail: 'closed', tools: 0 };
    }
  }
}
