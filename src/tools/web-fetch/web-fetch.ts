import { z } from 'zod';
import { headWithin } from '../../results/text.js';
import { buildTool } from '../../tool/build.js';
import { ToolFailure, throwIfAborted } from '../../tool/errors.js';
import type { ToolContext, ToolReturn } from '../../tool/types.js';
import { pageText } from './markdown.js';
import { PageCache } from './page-cache.js';
import { checkedUrl, fetchPage } from './request.js';

const inputSchema = z.strictObject({
  url: z.string().min(1).describe('The address to fetch; http becomes https'),
  prompt: z.string().min(1).describe('What to find on the page'),
  offset: z.number().int().nonnegative().default(0).describe('Characters to skip, for a page that was cut'),
});

/** Answers a prompt over the text of a page; typically a small model. */
export type PageSummariser = (request: {
  readonly url: string;
  readonly text: string;
  readonly prompt: string;
  readonly signal: AbortSignal;
}) => Promise<string>;

/** How WebFetch reads and answers. */
export interface WebFetchOptions {
  /** Answers the prompt; without it the model gets the page's text. */
  readonly summarise?: PageSummariser;
  /** Hosts (`host` or `host:port`) that may be private and may be asked over http. Default: none. */
  readonly allowHost?: (host: string) => boolean;
  /** Milliseconds since the epoch, for its cache of 15 minutes. Default `Date.now`. */
  readonly now?: () => number;
}

export type WebFetchOutput =
  | {
      readonly type: 'page';
      readonly url: string;
      readonly status: number;
      readonly result: string;
      readonly fromCache: boolean;
      readonly notes: readonly string[];
    }
  | { readonly type: 'redirect'; readonly url: string; readonly redirectUrl: string; readonly status: number };

const MAX_TEXT_CHARS = 100_000;
const CACHE_MS = 15 * 60 * 1000;

/** Fetches a page of the public internet as Markdown. */
export function webFetchTool(options: WebFetchOptions = {}) {
  const cache = new PageCache(options.now);
  const allowHost = options.allowHost ?? (() => false);
  return buildTool({
    name: 'WebFetch',
    description: 'Fetch a web page',
    prompt:
      'Fetches a page from the public internet and answers the prompt over its text, or gives the text as Markdown. Addresses inside private networks are refused. A redirect to another host is reported; fetch the new address by a new call. Pages are kept for 15 minutes.',
    inputSchema,
    searchHint: 'http web page url download internet',
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    isDestructive: () => false,
    idempotent: true,
    interruptBehavior: 'cancel',
    maxResultSizeChars: MAX_TEXT_CHARS + 10_000,
    toAutoClassifierInput: (input) => `WebFetch ${input.url}`,
    validateInput({ url }) {
      try {
        checkedUrl(url, allowHost);
        return { ok: true };
      } catch (error) {
        if (error instanceof ToolFailure) return { ok: false, message: error.message };
        throw error;
      }
    },
    async call({ url: written, prompt, offset }, context): Promise<ToolReturn<WebFetchOutput>> {
      const url = checkedUrl(written, allowHost);
      const known = cache.get(url.href);
      const notes: string[] = [];
      let page = known;
      if (page === undefined) {
        const answer = await fetchPage(url, { signal: context.signal, allowHost });
        if (answer.kind === 'redirect') {
          return { data: { type: 'redirect', url: answer.from, redirectUrl: answer.to, status: answer.status } };
        }
        if (answer.status >= 400) {
          const said = await pageText(answer.body, answer.contentType).catch(() => '');
          throw new ToolFailure(`${answer.url} answered with status ${answer.status}.\n${headWithin(said, 2000)}`.trim());
        }
        const text = await pageText(answer.body, answer.contentType);
        if (answer.cut) notes.push('The page was cut at 10 MB.');
        page = { url: answer.url, status: answer.status, text };
        cache.set(url.href, page, cacheTime(context));
      }
      throwIfAborted(context.signal);
      if (page.text.trim() === '')
        notes.push(`The page has no text (status ${page.status}); it may be made by scripts, which do not run here.`);
      else if (offset >= page.text.length) notes.push(`The page has ${page.text.length} characters; there are none from ${offset} on.`);
      const from = boundaryIn(page.text, offset);
      const part = page.text.slice(from, boundaryIn(page.text, offset + MAX_TEXT_CHARS));
      if (from + part.length < page.text.length)
        notes.push(`Characters ${from}-${from + part.length} of ${page.text.length}; use offset for the rest.`);
      const result =
        options.summarise === undefined ? part : await options.summarise({ url: page.url, text: part, prompt, signal: context.signal });
      return { data: { type: 'page', url: page.url, status: page.status, result, fromCache: known !== undefined, notes } };
    },
    mapToolResultToToolResultBlockParam(output) {
      if (output.type === 'redirect') {
        return {
          content: `${output.url} redirects (${output.status}) to another host: ${output.redirectUrl}\nTo follow it, call WebFetch with that address.`,
        };
      }
      return { content: [output.result, ...output.notes.map((note) => `[${note}]`)].filter((part) => part !== '').join('\n') };
    },
    renderToolUseMessage: ({ url }) => ({ title: `Fetch ${url}` }),
    renderToolResultMessage: (output) =>
      output.type === 'page'
        ? { title: output.url, body: output.result, format: 'markdown' }
        : { title: `Redirect to ${output.redirectUrl}` },
  });
}

/** The position itself, or the one before it where it would cut a surrogate pair. */
function boundaryIn(text: string, position: number): number {
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(Math.max(0, position - 1), position + 1)) ? position - 1 : position;
}

function cacheTime(context: ToolContext): number {
  const configured = Number(context.env.CLAUDE_CODE_WEBFETCH_CACHE_TTL_MS);
  return context.env.CLAUDE_CODE_WEBFETCH_CACHE_TTL_MS !== undefined && configured >= 0 ? configured : CACHE_MS;
}
