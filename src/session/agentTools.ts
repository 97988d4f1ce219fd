import { canonicalMcpName } from '../mcp/names.js';
import { mcpRuleMatches } from '../permissions/mcpRules.js';
import { BUILTIN_TOOL_NAMES, canonicalToolName } from '../permissions/toolNames.js';
import type { RuleBehavior } from '../permissions/types.js';
import { wildcard } from '../permissions/wildcard.js';
import { closest } from '../tool/closest.js';
import { findTool } from '../tool/index.js';
import type { AnyTool } from '../tool/types.js';

/** Tools that no subagent gets: they speak to the person, who talks with the main session. */
const NOT_FOR_AGENTS: ReadonlySet<string> = new Set(['AskUserQuestion', 'EnterPlanMode', 'ExitPlanMode', 'EnterWorktree', 'ExitWorktree']);

interface ToolLists {
  readonly tools?: readonly string[];
  readonly disallowedTools?: readonly string[];
}

/** The tools of `pool` that an agent gets, in the pool's order. Names mean what they mean in permission rules. */
export function toolsForAgent({ tools, disallowedTools = [] }: ToolLists, pool: readonly AnyTool[]): readonly AnyTool[] {
  const wanted = tools === undefined ? new Set(pool) : meant(tools, 'allow', pool);
  const unwanted = meant(disallowedTools, 'deny', pool);
  return pool.filter((tool) => wanted.has(tool) && !unwanted.has(tool) && !NOT_FOR_AGENTS.has(tool.name));
}

function meant(written: readonly string[], behavior: RuleBehavior, pool: readonly AnyTool[]): ReadonlySet<AnyTool> {
  const servers = [...new Set(pool.flatMap(({ mcp }) => mcp?.server ?? []))];
  return new Set(
    written.map(toolNameOf).flatMap((name) => {
      const named = findTool(pool, name);
      const isPattern = name.includes('*');
      return pool.filter(
        (tool) =>
          tool === named ||
          (isPattern && namesOf(tool).some((known) => wildcard(name).test(known))) ||
          (name.startsWith('mcp__') && mcpRuleMatches(name.slice('mcp__'.length), behavior, tool.name, tool.mcp, servers)),
      );
    }),
  );
}

/** A server's tool may be sent under a cut name; lists are written with its full one. */
const namesOf = ({ name, mcp }: AnyTool): readonly string[] => (mcp === undefined ? [name] : [name, canonicalMcpName(mcp)]);

/** What an agent's lists say that has no effect, or another than one might think. */
export function toolListDoubts({ tools = [], disallowedTools = [] }: ToolLists, ownTools: readonly string[]): readonly string[] {
  return [
    ...tools.flatMap((written) => [
      ...(isNarrowed(written)
        ? [`tools: ${written} gives all of ${toolNameOf(written)}; what it may do is for permission rules to say`]
        : []),
      ...unknownName('tools', toolNameOf(written), ownTools),
    ]),
    ...disallowedTools.flatMap((written) => [
      ...(isNarrowed(written) ? [`disallowedTools: ${written} takes away all of ${toolNameOf(written)}; a deny rule forbids a part`] : []),
      ...unknownName('disallowedTools', toolNameOf(written), ownTools),
    ]),
  ];
}

/** Tools of servers come and go, so that a name with `_` or `*` may be one of theirs. */
function unknownName(list: keyof ToolLists, name: string, ownTools: readonly string[]): readonly string[] {
  if (/[_*]/.test(name) || BUILTIN_TOOL_NAMES.has(canonicalToolName(name)) || ownTools.includes(name)) return [];
  const [near] = closest(name, [...BUILTIN_TOOL_NAMES, ...ownTools], 2);
  return [`${list}: there is no tool ${name}${near === undefined ? '' : `; ${near} may be meant`}`];
}

/** `Bash(git *)` names Bash: what it may run is for the permission rules to say. */
const toolNameOf = (written: string): string => written.trim().replace(/\(.*$/s, '').trim();
const isNarrowed = (written: string): boolean => /\((?!\s*\*?\s*\)$)/.test(written.trim());

/** `Read, Agent(a, b)` as its two parts. */
export function listedTools(text: string): readonly string[] {
  return (text.match(/(?:\([^()]*\)|[^,])+/g) ?? []).map((part) => part.trim()).filter((part) => part !== '');
}
