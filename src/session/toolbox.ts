import { assembleToolPool, getAllBaseTools } from '../tool/index.js';
import type { AnyTool } from '../tool/types.js';
import type { SessionOptions } from './options.js';

/** A session's tools as they are now: rules may take one away and servers may bring others between two requests. */
export interface Toolbox {
  pool(): readonly AnyTool[];
  /** Without deferred tools that have not been loaded. */
  shown(): readonly AnyTool[];
  load(names: readonly string[]): void;
  readonly loaded: ReadonlySet<string>;
  /** Replaces the tools that come from servers. */
  setServerTools(tools: readonly AnyTool[]): void;
  /** Something that decides what is offered has changed: rules, servers, loaded tools. */
  invalidate(): void;
  readonly warnings: readonly string[];
}

export function createToolbox(options: SessionOptions, hidden: (name: string) => boolean, loadedBefore: readonly string[]): Toolbox {
  const base = builtIns(options);
  const loaded = new Set(loadedBefore);
  let serverTools: readonly AnyTool[] = [];
  let warnings: readonly string[] = [];
  let pool: readonly AnyTool[] | undefined;
  let shown: readonly AnyTool[] | undefined;
  const invalidate = () => {
    pool = undefined;
    shown = undefined;
  };
  const current = (): readonly AnyTool[] => {
    if (!pool) {
      const assembled = assembleToolPool({ base, custom: options.tools ?? [], mcpTools: serverTools, hidden });
      pool = assembled.tools;
      warnings = assembled.warnings;
    }
    return pool;
  };
  /** Tools can only be deferred where the model can search for them; else they are sent in full. */
  const isDeferred = (tool: AnyTool, all: readonly AnyTool[]) =>
    tool.shouldDefer && !loaded.has(tool.name) && all.some((other) => other.name === 'ToolSearch');
  return {
    pool: current,
    shown: () => {
      const all = current();
      shown ??= all.filter((tool) => !isDeferred(tool, all));
      return shown;
    },
    load: (names) => {
      for (const name of names) loaded.add(name);
      invalidate();
    },
    loaded,
    setServerTools: (tools) => {
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

function builtIns({ builtInTools = true }: SessionOptions): readonly AnyTool[] {
  if (builtInTools === false) return [];
  const all = getAllBaseTools();
  return builtInTools === true ? all : all.filter((tool) => builtInTools.includes(tool.name));
}
