declare global {
  /** ES2024, in every Node this package runs on; our `lib` is ES2023. */
  interface String {
    isWellFormed(): boolean;
    toWellFormed(): string;
  }
}

/** True when the string is well-formed UTF-16: no half of a surrogate pair stands alone. */
function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}

/** The same string with U+FFFD in place of each lone surrogate. */
export function toWellFormed(text: string): string {
  return text.toWellFormed();
}

/** Walks a JSON value and names the path (`.a.0.b`) of the first string or key that is not well-formed; undefined when all are. */
export function findIllFormed(value: unknown): string | undefined {
  if (typeof value === 'string') return isWellFormed(value) ? undefined : '';
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, entry] of Object.entries(value)) {
    if (!isWellFormed(key)) return `.${toWellFormed(key)}`;
    const found = findIllFormed(entry);
    if (found !== undefined) return `.${key}${found}`;
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
