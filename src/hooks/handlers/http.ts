import type { HookConfig, HttpHandler } from '../config-types.js';
import type { RawOutcome } from '../effects.js';
import { bounded, failureSentence, type HandlerCall } from '../handler.js';
import { clip, OUTPUT_CAP_BYTES } from '../limits.js';
import { urlMatches } from '../url-pattern.js';

/**
 * Posts the payload. A 2xx response with an empty body or a JSON object is an answer; anything else decides nothing. A
 * redirect is not followed: it would lead past `allowedHttpHookUrls`.
 */
export function runHttp(call: HandlerCall<HttpHandler>): Promise<RawOutcome> {
  const { handler, config, context, ports } = call;
  if (!urlAllowed(handler.url, config.allowedHttpHookUrls)) {
    return Promise.resolve({
      kind: 'failed',
      message: `"allowedHttpHookUrls" of the settings does not allow ${handler.url}; add it there.`,
    });
  }
  const send = ports.fetch ?? globalThis.fetch;
  return bounded(call, async (signal) => {
    let response: Response;
    try {
      response = await send(handler.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...interpolateHeaders(handler, config, context.env ?? process.env) },
        body: JSON.stringify(call.payload),
        redirect: 'manual',
        signal,
      });
    } catch (error) {
      return { kind: 'failed', message: `No response from ${handler.url}: ${failureSentence(error)}` };
    }
    const body = await readCapped(response);
    if (!response.ok) {
      return {
        kind: 'failed',
        message: `Failed with non-blocking status: HTTP ${response.status}. ${clip(body.text.trim(), 300)}`.trim(),
        output: body.text,
      };
    }
    return { kind: 'text', text: body.text, overflow: body.overflow };
  });
}

/** True when the URL matches one of the patterns. No list at all allows every URL. */
export function urlAllowed(url: string, patterns: readonly string[] | undefined): boolean {
  if (patterns === undefined) return true;
  return patterns.some((pattern) => urlMatches(url, pattern));
}

/** Fills `$NAME` and `${NAME}` in header values: only names that the handler lists, and the settings too where they have a list. */
function interpolateHeaders(
  handler: HttpHandler,
  config: HookConfig,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const listed = new Set(handler.allowedEnvVars);
  const policy = config.httpHookAllowedEnvVars === undefined ? undefined : new Set(config.httpHookAllowedEnvVars);
  const fill = (value: string) =>
    value.replace(/\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g, (_, braced: string | undefined, bare: string | undefined) => {
      const name = braced ?? bare ?? '';
      return listed.has(name) && (policy === undefined || policy.has(name)) ? (env[name] ?? '') : '';
    });
  return Object.fromEntries(Object.entries(handler.headers ?? {}).map(([name, value]) => [name, fill(value).replace(/[\r\n\0]/g, '')]));
}

async function readCapped(response: Response): Promise<{ readonly text: string; readonly overflow: boolean }> {
  if (response.body === null) return { text: '', overflow: false };
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    // Leaving the loop cancels the body.
    if (size > OUTPUT_CAP_BYTES) return { text: Buffer.concat(chunks).toString('utf8'), overflow: true };
    chunks.push(chunk);
  }
  return { text: Buffer.concat(chunks).toString('utf8'), overflow: false };
}
