const escaped = (text: string): string => text.replace(/[.+?^${}()|[\]\\/]/g, '\\$&');

/**
 * Whether a URL is one that a pattern of the settings means, `*` standing for any text. In front of the path it stands for a part of
 * the host or the port only, so that `https://*.example.com/*` is not `https://elsewhere.org/.example.com/`; and a URL is judged by the
 * host it leads to, whatever stands before an `@`.
 */
export function urlMatches(url: string, pattern: string, flags: '' | 'i' = ''): boolean {
  const [, origin = '', rest = ''] = /^([a-z*][a-z0-9+.*-]*:\/\/[^/?#]*)(.*)$/is.exec(pattern) ?? ['', '', pattern];
  const start = escaped(origin).replaceAll('*', '[^/?#@\\\\]*');
  // A pattern that ends in the host with `*` means every path behind it too.
  const end = rest === '' && origin.endsWith('*') ? '(?:[/?#].*)?' : escaped(rest).replaceAll('*', '.*');
  const expression = new RegExp(`^${start}${end}$`, flags);
  return spellings(url).some((spelling) => expression.test(spelling));
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
