import { z } from 'zod';
import { buildTool } from '../tool/build.js';
import { ToolFailure } from '../tool/errors.js';
import type { AnyTool } from '../tool/types.js';

export const TOOL_SEARCH = 'ToolSearch';

/** The names of `select:A,B`; undefined for a query in words. */
export function selectedNames(query: string): readonly string[] | undefined {
  const match = /^\s*select:(.*)$/is.exec(query);
  if (!match) return undefined;
  return (match[1] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
}

const DEFAULT_RESULTS = 5;
const MAX_RESULTS = 20;

interface SearchOutput {
  readonly loaded: readonly { readonly name: string; readonly description: string }[];
  /** Asked for by name, and need not be loaded. */
  readonly callable: readonly string[];
  readonly unknown: readonly string[];
  /** The API puts the definitions of referenced tools in place by itself. */
  readonly byReference: boolean;
}

const inputSchema = z.strictObject({
  query: z
    .string()
    .trim()
    .min(1)
    .describe(
      '`select:NAME` or `select:NAME,NAME` for tools by their exact names; otherwise words to search for, `+word` for one that must occur',
    ),
  max_results: z
    .number()
    .int()
    .min(1)
    .max(MAX_RESULTS)
    .optional()
    .describe(`How many tools a search in words loads at most. Default ${DEFAULT_RESULTS}`),
});

/**
 * Loads deferred tools: those of which the model knows only the name. A tool counts as loaded from its next request on, and stays so
 * for the session. Its own text never names a tool: the list changes, and a request's tools should not.
 */
export function toolSearchTool(): AnyTool {
  return buildTool({
    name: TOOL_SEARCH,
    description: 'Load deferred tools by name or by words',
    prompt:
      'Loads deferred tools. Some tools are announced by name only, in reminders in the conversation; their parameters are not known and ' +
      'they cannot be called until they are loaded. Load one with `select:NAME`, several with `select:NAME,NAME`, or search their names, ' +
      'descriptions and parameters with words. What is found is loaded and can be called from the next message on.',
    inputSchema,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    isDestructive: () => false,
    idempotent: true,
    call: async ({ query, max_results = DEFAULT_RESULTS }, { capabilities }) => {
      const index = capabilities.toolSearch;
      if (index === undefined) throw new ToolFailure('This session has no deferred tools.');
      const selected = selectedNames(query);
      const names = selected ?? [];
      const matches = index.search(query, selected === undefined ? max_results : Math.max(names.length, 1));
      // One by one: a tool may be asked for by a name that it had once.
      const found = new Set(matches.map(({ name }) => name.toLowerCase()));
      const missed = names.filter((name) => !found.has(name.toLowerCase()) && index.search(`select:${name}`, 1).length === 0);
      const callable = missed.flatMap((name) => index.callable?.(name) ?? []);
      const output: SearchOutput = {
        loaded: matches.map(({ name, description }) => ({ name, description: firstLine(description) })),
        callable: [...new Set(callable)],
        unknown: missed.filter((name) => index.callable?.(name) === undefined),
        byReference: index.byReference === true,
      };
      const loaded = matches.map(({ name }) => name);
      return loaded.length === 0 ? { data: output } : { data: output, modify: (session) => session.loadTools(loaded) };
    },
    mapToolResultToToolResultBlockParam: ({ loaded, callable, unknown, byReference }) => {
      const missing = [
        ...(callable.length === 0 ? [] : [`${callable.join(', ')} can be called without being loaded.`]),
        ...(unknown.length === 0 ? [] : [`There is no tool named ${unknown.join(', ')}.`]),
      ].join('\n');
      if (loaded.length === 0) return { content: missing || 'No deferred tool matches. Try other words, or an exact name with `select:`.' };
      if (byReference) {
        const references = loaded.map(({ name }) => ({ type: 'tool_reference' as const, tool_name: name }));
        return { content: missing === '' ? references : [{ type: 'text', text: missing }, ...references] };
      }
      const lines = loaded.map(({ name, description }) => `- ${name}: ${description}`);
      return { content: [`Loaded; these can be called now:\n${lines.join('\n')}`, missing].filter(Boolean).join('\n') };
    },
    renderToolUseMessage: ({ query }) => ({ title: `ToolSearch ${query}` }),
  });
}

function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n');
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}
