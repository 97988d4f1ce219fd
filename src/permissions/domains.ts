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

/** `example.com` exactly; `*.example.com` any subdomain but not the apex; any other `*` stays within one label. */
export function domainMatches(pattern: string, host: string): boolean {
  if (pattern.startsWith('*.') && !pattern.slice(2).includes('*'))
    return host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1;
  return wildcard(pattern, '[^.]').test(host);
}
