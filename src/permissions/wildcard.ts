const cache = new Map<string, RegExp>();
const CACHE_LIMIT = 5_000;

/**
 * A pattern in which `*` stands for any run of `any` (a character class or dot) and everything else for itself; whole-string match.
 * Compiled once per pattern.
 */
export function wildcard(pattern: string, any = '.', flags = 's'): RegExp {
  const key = `${flags}/${any}/${pattern}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const source = pattern
    .split(/\*+/)
    .map((literal) => literal.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join(`${any}*`);
  const compiled = new RegExp(`^${source}$`, flags);
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(key, compiled);
  return compiled;
}
