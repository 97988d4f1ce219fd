import type { JsonObject } from '../json.js';
import { canonicalMcpName } from '../mcp/names.js';
import type { MessageParam } from '../messages/types.js';
import { assembleToolPool, getAllBaseTools } from '../tool/index.js';
import type { AnyTool } from '../tool/types.js';
import { TOOL_SEARCH, toolSearchTool } from '../tools/tool-search.js';
import { type DeferralMode, deferredNames, schemaDigest } from './deferral.js';
import type { SessionOptions } from './options.js';
import { toolDefinition } from './request.js';

/** A deferred tool whose schema the model has been given, and which schema that was. */
export interface LoadedTool {
  readonly name: string;
  readonly schemaDigest?: string;
}

/**
 * Whether a tool may be called: the model has its schema (`offered`), has only its name (`deferred`), or has a schema that is no
 * longer the tool's (`changed`).
 */
export type Offer = 'offered' | 'deferred' | 'changed';

/** A session's tools as they are now: rules may take one away and servers may bring others between two requests. */
export interface Toolbox {
  pool(): readonly AnyTool[];
  /** What is sent in full: all but deferred tools that have not been loaded. Loaded ones stand last, so that loading appends. */
  shown(): readonly AnyTool[];
  /** Tools of which the model knows only the name. */
  deferred(): readonly AnyTool[];
  /** The `tools` of the next request. From here on the model counts as having what is in it. */
  definitions(messages: readonly MessageParam[]): readonly JsonObject[];
  offer(tool: AnyTool): Offer;
  /** Marks deferred tools as loaded; returns those that were not, or with another schema. */
  load(names: readonly string[]): readonly LoadedTool[];
  /** True for a tool that a server offered and has taken away. */
  isGone(name: string): boolean;
  /** The name that rules and hooks know a tool by: the full one, where a long one had to be cut for the API. */
  canonicalName(name: string): string;
  /** Replaces the tools that come from servers. */
  setServerTools(tools: readonly AnyTool[]): void;
  /** Something that decides what is offered has changed: rules, servers, loaded tools. */
  invalidate(): void;
  readonly warnings: readonly string[];
}

export interface ToolboxOptions {
  readonly session: Pick<SessionOptions, 'tools' | 'builtInTools'>;
  /** Whether servers may bring tools: then there may be something to search for. */
  readonly hasServers: boolean;
  readonly deferral: DeferralMode;
  /** The API itself expands references to deferred tools (`defer_loading`), so that every request carries the same definitions. */
  readonly byReference: boolean;
  /** True for a tool that a bare deny rule takes off the list. */
  readonly hidden: (tool: AnyTool) => boolean;
  readonly loadedBefore: readonly { readonly name: string; readonly schemaDigest?: string | undefined }[];
  /** A loaded tool has been given to the model with another schema than before. */
  readonly onReload: (tools: readonly LoadedTool[]) => void;
}

export function createToolbox(options: ToolboxOptions): Toolbox {
  const { deferral, byReference, hidden, session } = options;
  const base = builtIns(options);
  const loaded = new Set(options.loadedBefore.map(({ name }) => name));
  /** Digest of the schema that the model was last given, by name. */
  const given = new Map<string, string>();
  for (const { name, schemaDigest: digest } of options.loadedBefore) if (digest !== undefined) given.set(name, digest);
  const served = new Map<string, AnyTool>();
  let serverTools: readonly AnyTool[] = [];
  let warnings: readonly string[] = [];
  let view: View | undefined;
  const invalidate = () => {
    view = undefined;
  };
  const current = (): View => {
    if (view) return view;
    const assembled = assembleToolPool({
      base: base.filter((tool) => !hidden(tool)),
      custom: (session.tools ?? []).filter((tool) => !hidden(tool)),
      mcpTools: serverTools.filter((tool) => !hidden(tool)),
    });
    warnings = assembled.warnings;
    view = divide(assembled.tools);
    return view;
  };
  /** Tools can only be deferred where the model can search for them; else they are sent in full. What was sent once stays sent. */
  const divide = (pool: readonly AnyTool[]): View => {
    const canSearch = pool.some((tool) => tool.name === TOOL_SEARCH);
    const names = canSearch ? deferredNames(pool, deferral) : new Set<string>();
    const isDeferrable = (tool: AnyTool) => names.has(tool.name) && (loaded.has(tool.name) || !given.has(tool.name));
    const byName = new Map(pool.map((tool) => [tool.name, tool]));
    const loadedNow = [...loaded].flatMap((name) => {
      const tool = byName.get(name);
      return tool && isDeferrable(tool) ? [tool] : [];
    });
    return {
      pool,
      shown: [...pool.filter((tool) => !isDeferrable(tool)), ...loadedNow],
      deferred: pool.filter((tool) => isDeferrable(tool) && !loaded.has(tool.name)),
      loaded: loadedNow,
    };
  };
  const give = (tools: readonly AnyTool[]): readonly LoadedTool[] => {
    const news = tools.filter((tool) => given.get(tool.name) !== schemaDigest(tool));
    for (const tool of news) given.set(tool.name, schemaDigest(tool));
    return news.map((tool) => ({ name: tool.name, schemaDigest: schemaDigest(tool) }));
  };
  return {
    pool: () => current().pool,
    shown: () => current().shown,
    deferred: () => current().deferred,
    definitions: (messages) => {
      const { pool, shown, loaded: loadedNow } = current();
      const again = give(shown).filter(({ name }) => loaded.has(name));
      if (again.length > 0) options.onReload(again);
      if (!byReference) return shown.map(toolDefinition);
      // A reference that is no longer in the history (it was summarised) expands to nothing: then the tool is sent as any other.
      const referenced = referencedTools(messages);
      const isInFull = (tool: AnyTool) => (loadedNow.includes(tool) ? !referenced.has(tool.name) : shown.includes(tool));
      return pool.map((tool) => (isInFull(tool) ? toolDefinition(tool) : { ...toolDefinition(tool), defer_loading: true }));
    },
    offer: (tool) => {
      if (current().deferred.includes(tool)) return 'deferred';
      const digest = given.get(tool.name);
      return digest === undefined || digest === schemaDigest(tool) ? 'offered' : 'changed';
    },
    load: (names) => {
      const tools = current().pool.filter((tool) => names.includes(tool.name));
      const fresh = tools.filter((tool) => !loaded.has(tool.name));
      for (const { name } of tools) loaded.add(name);
      const news = new Set([...fresh.map(({ name }) => name), ...give(tools).map(({ name }) => name)]);
      invalidate();
      return tools.filter(({ name }) => news.has(name)).map((tool) => ({ name: tool.name, schemaDigest: schemaDigest(tool) }));
    },
    isGone: (name) => served.has(name) && !serverTools.some((tool) => tool.name === name),
    canonicalName: (name) => {
      const mcp = (serverTools.find((tool) => tool.name === name) ?? served.get(name))?.mcp;
      return mcp === undefined ? name : canonicalMcpName(mcp);
    },
    setServerTools: (tools) => {
      for (const tool of tools) served.set(tool.name, tool);
      serverTools = tools;
      invalidate();
    },
    invalidate,
    get warnings() {
      current();
      return warnings;
    },
  };
}

interface View {
  readonly pool: readonly AnyTool[];
  readonly shown: readonly AnyTool[];
  readonly deferred: readonly AnyTool[];
  /** In the order in which they were loaded. */
  readonly loaded: readonly AnyTool[];
}

/** The search is there from the start where there may be something to find: a tool that appears later changes every request. */
function builtIns({ session: { builtInTools = true, tools = [] }, hasServers, deferral }: ToolboxOptions): readonly AnyTool[] {
  if (builtInTools === false) return [];
  const all = getAllBaseTools();
  const isSearchUseful = deferral.kind !== 'off' && (hasServers || [...all, ...tools].some((tool) => tool.shouldDefer));
  const offered = isSearchUseful ? [...all, toolSearchTool()] : all;
  return builtInTools === true ? offered : offered.filter((tool) => builtInTools.includes(tool.name));
}

function referencedTools(messages: readonly MessageParam[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { role, content } of messages) {
    if (role !== 'user' || typeof content === 'string') continue;
    for (const block of content) {
      if (block.type !== 'tool_result' || !Array.isArray(block.content)) continue;
      for (const part of block.content) if (part.type === 'tool_reference') names.add(part.tool_name);
    }
  }
  return names;
}
