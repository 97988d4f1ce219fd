/** A value as rows of a tree, of which only opened containers have children. */
export interface JsonRow {
  /** Keys from the root, joined; the root is empty. */
  readonly path: string;
  readonly depth: number;
  readonly key: string | null;
  readonly value: unknown;
  /** Number of entries of an object or array; -1 for anything else. */
  readonly entries: number;
  readonly open: boolean;
}

/** Containers on the first levels are open as long as they are small. */
const OPEN_DEPTH = 2;
const OPEN_ENTRIES = 60;
const SEPARATOR = '\u001f';

export function jsonRows(value: unknown, toggled: ReadonlyMap<string, boolean>): readonly JsonRow[] {
  const rows: JsonRow[] = [];
  const visit = (at: unknown, path: string, depth: number, key: string | null): void => {
    const entries = entryCount(at);
    const open = entries > 0 && (toggled.get(path) ?? (depth < OPEN_DEPTH && entries <= OPEN_ENTRIES));
    rows.push({ path, depth, key, value: at, entries, open });
    if (!open || typeof at !== 'object' || at === null) return;
    for (const [name, inner] of Object.entries(at)) visit(inner, path === '' ? name : `${path}${SEPARATOR}${name}`, depth + 1, name);
  };
  visit(value, '', 0, null);
  return rows;
}

function entryCount(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : -1;
}

export interface Change {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly kind: 'added' | 'removed' | 'changed';
}

const MOST_CHANGES = 500;

/** What differs between two values, leaf by leaf. */
export function changes(before: unknown, after: unknown): readonly Change[] {
  const out: Change[] = [];
  const visit = (a: unknown, b: unknown, path: string): void => {
    if (out.length >= MOST_CHANGES || Object.is(a, b)) return;
    const inside = typeof a === 'object' && a !== null && typeof b === 'object' && b !== null && Array.isArray(a) === Array.isArray(b);
    if (!inside) {
      out.push({ path, before: a, after: b, kind: a === undefined ? 'added' : b === undefined ? 'removed' : 'changed' });
      return;
    }
    const [left, right] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
    for (const key of new Set([...left.keys(), ...right.keys()]))
      visit(left.get(key), right.get(key), path === '' ? key : `${path}.${key}`);
  };
  visit(before, after, '');
  return out;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
