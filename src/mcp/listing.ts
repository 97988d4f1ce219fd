import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../json.js';
import { MAX_TIMER_MS } from '../model/clock.js';
import { messageOf } from '../tool/errors.js';
import { MAX_LISTED, MAX_NESTING, MAX_PAGES } from './limits.js';

/** A tool as its server describes it. Read with care: one tool that makes no sense must not cost the others. */
export interface McpToolInfo {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject | undefined;
  readonly annotations?:
    | {
        readonly title?: string | undefined;
        readonly readOnlyHint?: boolean | undefined;
        readonly destructiveHint?: boolean | undefined;
        readonly idempotentHint?: boolean | undefined;
      }
    | undefined;
  readonly _meta?: JsonObject | undefined;
}

export interface McpResourceInfo {
  readonly uri: string;
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
}

const object = z
  .custom<JsonObject>(isJsonObject, 'expected an object')
  .refine((value) => isNestedWithin(MAX_NESTING, value), `is nested more than ${MAX_NESTING} levels deep`);
const hint = z.boolean().optional().catch(undefined);
const toolSchema = z.object({
  name: z.string().min(1),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: object,
  outputSchema: object.optional().catch(undefined),
  annotations: z
    .object({ title: z.string().optional().catch(undefined), readOnlyHint: hint, destructiveHint: hint, idempotentHint: hint })
    .optional()
    .catch(undefined),
  _meta: object.optional().catch(undefined),
});
const resourceSchema = z.object({
  uri: z.string().min(1),
  name: z.string().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
});

/** A list without entries is null where a language writes it so. */
const entries = z
  .array(z.unknown())
  .nullish()
  .transform((list) => list ?? []);
const nextCursor = z.unknown().optional();
const PAGES = {
  tools: z.object({ tools: entries, nextCursor }).transform((page) => ({ entries: page.tools, nextCursor: page.nextCursor })),
  resources: z.object({ resources: entries, nextCursor }).transform((page) => ({ entries: page.resources, nextCursor: page.nextCursor })),
} as const;
interface Page {
  readonly entries: readonly unknown[];
  readonly nextCursor?: unknown;
}

/** What a listing brought, and in words what it did not. */
export interface Listing<Item> {
  readonly items: readonly Item[];
  readonly warnings: readonly string[];
}

export const listTools = (client: Client, signal: AbortSignal): Promise<Listing<McpToolInfo>> =>
  listPages({ client, signal, method: 'tools/list', key: 'tools', schema: toolSchema, idOf: ({ name }) => name });

export const listResources = (client: Client, signal: AbortSignal): Promise<Listing<McpResourceInfo>> =>
  listPages({ client, signal, method: 'resources/list', key: 'resources', schema: resourceSchema, idOf: ({ uri }) => uri });

interface ListRequest<Item> {
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly method: 'tools/list' | 'resources/list';
  readonly key: 'tools' | 'resources';
  readonly schema: z.ZodType<Item>;
  readonly idOf: (item: Item) => string;
}

/**
 * Follows `nextCursor` to the end. Ends early at a cursor that came before and at the caps; keeps the pages that arrived when a later
 * one fails; keeps the first of two entries of one name. Each of these is a warning. Throws only when the first page fails.
 */
async function listPages<Item>({ client, signal, method, key, schema, idOf }: ListRequest<Item>): Promise<Listing<Item>> {
  const items = new Map<string, Item>();
  const warnings: string[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 1; ; page++) {
    let answer: Page;
    try {
      const params = cursor === undefined ? {} : { params: { cursor } };
      answer = await client.request({ method, ...params }, PAGES[key], { signal, timeout: MAX_TIMER_MS });
    } catch (error) {
      if (page === 1) throw error;
      warnings.push(`page ${page} of its ${key} could not be read (${messageOf(error)}); the pages before it are used`);
      break;
    }
    for (const [index, entry] of answer.entries.entries()) {
      const parsed = schema.safeParse(entry);
      if (!parsed.success)
        warnings.push(`entry ${index + 1} on page ${page} of its ${key} is left out: ${firstIssue(parsed.error, entry)}`);
      else if (items.has(idOf(parsed.data))) warnings.push(...repeated(key, idOf(parsed.data), cursor));
      else items.set(idOf(parsed.data), parsed.data);
    }
    if (answer.nextCursor === undefined || answer.nextCursor === null) break;
    if (typeof answer.nextCursor !== 'string') {
      warnings.push(`the cursor behind page ${page} of its ${key} is not a text; the list ends there`);
      break;
    }
    cursor = answer.nextCursor;
    if (seen.has(cursor)) {
      if (cursor !== '')
        warnings.push(`its list of ${key} does not advance: the cursor ${JSON.stringify(cursor)} came twice; the list ends there`);
      break;
    }
    seen.add(cursor);
    if (page >= MAX_PAGES || items.size >= MAX_LISTED) {
      warnings.push(`its list of ${key} is longer than ${page} pages or ${MAX_LISTED} entries; the rest is left out`);
      break;
    }
  }
  return { items: [...items.values()], warnings: [...new Set(warnings)] };
}

/** Many servers end a list with an empty cursor; following it may bring the first page again, which is nobody's mistake. */
const repeated = (key: string, id: string, cursor: string | undefined): string[] =>
  cursor === '' ? [] : [`${JSON.stringify(id)} is more than once among its ${key}; the first counts`];

function isNestedWithin(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isNestedWithin(levels - 1, member));
}

function firstIssue({ issues }: z.ZodError, entry: unknown): string {
  const name = isJsonObject(entry) && typeof entry.name === 'string' ? `${entry.name}: ` : '';
  const [issue] = issues;
  return `${name}${issue?.path.join('.') ?? ''} ${issue?.message ?? 'not valid'}`;
}
