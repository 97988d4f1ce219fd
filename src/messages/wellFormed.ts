const LONE_SURROGATE = /\p{Surrogate}/u;
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** True when the string is well-formed UTF-16: no half of a surrogate pair stands alone. */
export function isWellFormed(text: string): boolean {
  return !LONE_SURROGATE.test(text);
}

/** The same string with U+FFFD in place of each lone surrogate. */
export function toWellFormed(text: string): string {
  return LONE_SURROGATE.test(text) ? text.replace(LONE_SURROGATES, '\uFFFD') : text;
}

/** Walks a JSON value and names the path of the first string or key that is not well-formed; undefined when all are. */
export function findIllFormed(value: unknown, path = ''): string | undefined {
  if (typeof value === 'string') return isWellFormed(value) ? undefined : path;
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    for (const [index, entry] of list.entries()) {
      const found = findIllFormed(entry, `${path}.${index}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, entry] of Object.entries(value)) {
    if (!isWellFormed(key)) return `${path}.${toWellFormed(key)}`;
    const found = findIllFormed(entry, `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A copy of a JSON value in which every string and key is well-formed; the value itself when nothing had to change. */
export function wellFormedCopy(value: unknown): unknown {
  if (findIllFormed(value) === undefined) return value;
  if (typeof value === 'string') return toWellFormed(value);
  if (Array.isArray(value)) return value.map((entry: unknown) => wellFormedCopy(entry));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [toWellFormed(key), wellFormedCopy(entry)]));
}
