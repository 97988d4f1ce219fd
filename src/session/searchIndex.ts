import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { toolInputJSONSchema } from '../tool/index.js';
import type { AnyTool, DeferredToolMatch, ToolSearchIndex } from '../tool/types.js';
import { selectedNames } from '../tools/tool-search.js';
import type { Toolbox } from './toolbox.js';

/** How much a word found there says about a tool. */
const WEIGHTS = { name: 8, hint: 4, arguments: 2, description: 2 } as const;

/** The index over a session's deferred tools, as they are at each search; a tool under a deny rule is not among them. */
export function createSearchIndex(toolbox: Toolbox, byReference: boolean): ToolSearchIndex {
  const findable = () => {
    const deferred = new Set(toolbox.deferred());
    return toolbox.pool().filter((tool) => deferred.has(tool) || isKnownToDefer(tool, toolbox));
  };
  return {
    byReference,
    search: (query, maxResults) => {
      const tools = findable();
      const exact = selectedNames(query);
      const found = exact ? exact.flatMap((name) => byExactName(tools, name)) : ranked(tools, query);
      return [...new Set(found)].slice(0, maxResults).map(matchOf);
    },
    callable: (name) => byExactName(toolbox.shown(), name)[0]?.name,
    load: (names) => {
      const known = new Set(findable().map(({ name }) => name));
      return { loaded: names.filter((name) => known.has(name)), unknown: names.filter((name) => !known.has(name)) };
    },
  };
}

/** Those that have been loaded already are found as well: asking again is no mistake, and gives the schema as it is now. */
const isKnownToDefer = (tool: AnyTool, toolbox: Toolbox): boolean =>
  tool.shouldDefer || tool.mcp !== undefined || toolbox.offer(tool) === 'changed';

/** An exact name; else the same name in another case. */
function byExactName(tools: readonly AnyTool[], name: string): readonly AnyTool[] {
  const exact = tools.filter((tool) => tool.name === name || tool.aliases.includes(name));
  return exact.length > 0 ? exact : tools.filter((tool) => tool.name.toLowerCase() === name.toLowerCase());
}

/** Best first; of equals the earlier name. A word with a leading `+` must be found. */
function ranked(tools: readonly AnyTool[], query: string): readonly AnyTool[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const required = words.flatMap((word) => (word.length > 1 && word.startsWith('+') ? [word.slice(1)] : []));
  const terms = words.map((word) => (word.length > 1 ? word.replace(/^\+/, '') : word)).flatMap(splitWords);
  return tools
    .map((tool) => ({ tool, score: score(tool, terms), texts: textsOf(tool) }))
    .filter(({ score: points, texts }) => points > 0 && required.every((word) => Object.values(texts).some((text) => text.includes(word))))
    .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .map(({ tool }) => tool);
}

function score(tool: AnyTool, terms: readonly string[]): number {
  const texts = textsOf(tool);
  const nameWords = new Set(splitWords(texts.name));
  return terms.reduce((sum, term) => {
    const whole = nameWords.has(term) ? WEIGHTS.name : 0;
    const places = (Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[]).filter((place) => texts[place].includes(term));
    return sum + whole + places.reduce((points, place) => points + WEIGHTS[place], 0);
  }, 0);
}

function textsOf(tool: AnyTool): Record<keyof typeof WEIGHTS, string> {
  const parts = argumentTexts(toolInputJSONSchema(tool));
  return {
    name: [tool.name, tool.mcp?.server, tool.mcp?.tool, ...tool.aliases].join(' ').toLowerCase(),
    hint: (tool.searchHint ?? '').toLowerCase(),
    description: `${tool.description()} ${tool.prompt()}`.toLowerCase(),
    arguments: parts.join(' ').toLowerCase(),
  };
}

/** Names and descriptions of the arguments. */
function argumentTexts({ properties }: JsonObject): string[] {
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, schema]) => [name, isJsonObject(schema) ? stringOf(schema.description) : '']);
}

const stringOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
const splitWords = (text: string): string[] => text.split(/[^a-z0-9\u0080-\uffff]+/i).filter(Boolean);

const matchOf = (tool: AnyTool): DeferredToolMatch => ({
  name: tool.name,
  description: tool.prompt(),
  inputSchema: toolInputJSONSchema(tool),
});
