import { wildcard } from '../permissions/wildcard.js';

/** A pattern or a URL as what leads to a host and what stands behind it. */
const PARTS = /^([a-z*][a-z0-9+.*-]*:\/\/[^/?#]*)(.*)$/is;

/**
 * Whether a URL is one that a pattern of the settings means, `*` standing for any text. In front of the path it stands for a part of
 * the host or the port only, so that `https://*.example.com/*` is not `https://elsewhere.org/.example.com/`; and a URL is judged by the
 * host it leads to, whatever stands before an `@`.
 */
export function urlMatches(url: string, pattern: string, flags: 's' | 'is' = 's'): boolean {
  const [, origin, rest = ''] = PARTS.exec(pattern) ?? [];
  if (origin === undefined) return spellings(url).some((spelling) => wildcard(pattern, '.', flags).test(spelling));
  // A pattern that ends in the host with `*` means every path behind it too.
  const anyPath = rest === '' && origin.endsWith('*');
  return spellings(url).some((spelling) => {
    const [, host, path = ''] = PARTS.exec(spelling) ?? [];
    return host !== undefined && wildcard(origin, '[^@\\\\]', flags).test(host) && (anyPath || wildcard(rest, '.', flags).test(path));
  });
}

/** A URL as it was written and as it is requested, without what it tells of a user. */
function spellings(url: string): readonly string[] {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return [url];
  }
  const named = parsed.username !== '' || parsed.password !== '';
  parsed.username = '';
  parsed.password = '';
  return named ? [parsed.href] : [url, parsed.href];
}
