import { wildcard } from './wildcard.js';

/** Lower-case host of a URL without a trailing dot; null when it is no URL. Credentials and ports are not part of it. */
export function hostOf(url: unknown): string | null {
  if (typeof url !== 'string') return null;
  try {
    return new URL(url).hostname.toLowerCase().replace(/\.$/, '');
  } catch {
    return null;
  }
}

/**
 * A domain of a rule as a URL's host reads: lower case, letters beyond ASCII in punycode, numbers of an address in their usual form,
 * IPv6 in brackets. Null when no host can look like it.
 */
export function canonicalDomain(domain: string): string | null {
  const bare = /^[0-9a-f]*:[0-9a-f:.]*$/i.test(domain) ? `[${domain}]` : domain;
  // A `*` inside a label that becomes punycode would stand for other letters.
  if (bare.split('.').some((label) => /[^\0-\x7f]/.test(label) && label.includes('*'))) return null;
  const host = hostOf(`http://${bare}/`);
  return host === null || host === '' || /[:@]\d+$/.test(bare) ? null : host;
}

/** `example.com` exactly; `*.example.com` any subdomain but not the apex; any other `*` stays within one label. */
export function domainMatches(pattern: string, host: string): boolean {
  if (pattern.startsWith('*.') && !pattern.slice(2).includes('*'))
    return host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1;
  return wildcard(pattern, '[^.]').test(host);
}
