import { type BuiltInToolOptions, baseTools } from '../tools/index.js';
import { closest } from './closest.js';
import { messageOf, ToolSchemaError } from './errors.js';
import { inputChecker } from './input-issues.js';
import { toolInputJSONSchema } from './input-schema.js';
import type { AnyTool } from './types.js';

let defaults: readonly AnyTool[] | undefined;

/**
 * Every built-in tool that this machine can run, by name. Without options always the same tools: they keep state by session, so
 * a pool that is put together anew for each turn must not start from new ones. With options a new set, for the caller to keep.
 */
export function getAllBaseTools(options?: BuiltInToolOptions): readonly AnyTool[] {
  if (options === undefined) {
    defaults ??= getAllBaseTools({});
    return defaults;
  }
  return baseTools(options)
    .filter((tool) => tool.isEnabled())
    .sort(byName);
}

/** What a pool is assembled of. */
export interface ToolPoolOptions {
  /** The built-in tools; default `getAllBaseTools()`. */
  readonly base?: readonly AnyTool[];
  /** Tools of the embedding program. */
  readonly custom?: readonly AnyTool[];
  /** Tools of MCP servers. */
  readonly mcpTools?: readonly AnyTool[];
  /** True for a tool that a bare deny rule takes off the list: the model neither sees nor reaches it. */
  readonly hidden?: (toolName: string) => boolean;
}

/** The tools of a session in a fixed order, with what had to be left out and why. */
export interface ToolPool {
  /** Built-in and custom tools by name, then MCP tools by name. */
  readonly tools: readonly AnyTool[];
  /** Tools that were left out, and why. */
  readonly warnings: readonly string[];
}

/**
 * Puts a session's tools together: built-in and custom tools first, by name, then those of MCP servers, by name. The order
 * depends on the names alone, so that the request stays byte-stable and the cached prefix of built-in tools survives a server
 * that comes or goes. On a name clash the built-in tool stays, then the custom one. A tool that cannot be sent is left out with a warning;
 * one broken tool never costs the others.
 */
export function assembleToolPool(options: ToolPoolOptions = {}): ToolPool {
  const warnings: string[] = [];
  const taken = new Set<string>();
  const admit = (tools: readonly AnyTool[], origin: string): AnyTool[] =>
    tools.filter((tool) => {
      if (options.hidden?.(tool.name) === true) return false;
      try {
        if (!tool.isEnabled()) return false;
        if (taken.has(tool.name)) throw new ToolSchemaError('the name is taken.');
        if (!TOOL_NAME.test(tool.name)) throw new ToolSchemaError('the API takes names of 1 to 64 letters, digits, _ and -.');
        tool.prompt();
        toolInputJSONSchema(tool);
        inputChecker(tool);
      } catch (error) {
        warnings.push(`The ${origin} tool ${tool.name} is left out: ${messageOf(error)}`);
        return false;
      }
      taken.add(tool.name);
      return true;
    });
  const builtIn = [...admit(options.base ?? getAllBaseTools(), 'built-in'), ...admit(options.custom ?? [], 'custom')].sort(byName);
  const mcp = admit([...(options.mcpTools ?? [])].sort(byName), 'MCP').sort(byName);
  return { tools: [...builtIn, ...mcp], warnings };
}

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** The tool of this name, or else the one that lists it as a former name. */
export function findTool(pool: readonly AnyTool[], name: string): AnyTool | undefined {
  return pool.find((tool) => tool.name === name) ?? pool.find((tool) => tool.aliases.includes(name));
}

/** Names in the pool that a model may have meant by one that is not there, nearest first, at most three. */
export function closeNames(pool: readonly AnyTool[], name: string): readonly string[] {
  return closest(
    name,
    pool.map((tool) => tool.name),
  );
}

/** By code unit: the same on every machine, whatever its locale. */
function byName(a: AnyTool, b: AnyTool): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
