import type { LineEnding } from '../fs/text-file.js';

/** A stretch of the text, as indexes of code units. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** How the old text was found. `lineEndings`: only when CRLF and LF count as the same. `quotes`: only when curly and straight quotes do. */
export type MatchKind = 'exact' | 'lineEndings' | 'quotes';
export interface Matches {
  readonly kind: MatchKind;
  /** Ascending and disjoint. */
  readonly ranges: readonly Range[];
  /** True when there is one place and no other, not even one that overlaps it. */
  readonly unique: boolean;
}

/**
 * Finds `old` in `text`: exactly; if that fails with CRLF and LF as one; if that fails with curly and straight quotes as one too.
 * The first way that finds anything decides, so that a looser one never competes with an exact match.
 */
export function findMatches(text: string, old: string): Matches {
  const exact = occurrences(text, old);
  if (exact.ranges.length > 0) return { kind: 'exact', ...exact };
  const folded = foldLineEndings(text);
  const wanted = old.replaceAll('\r\n', '\n');
  const loose = occurrences(folded.text, wanted);
  if (loose.ranges.length > 0) return { kind: 'lineEndings', ranges: loose.ranges.map(folded.toOriginal), unique: loose.unique };
  const quoted = occurrences(straightQuotes(folded.text), straightQuotes(wanted));
  return { kind: 'quotes', ranges: quoted.ranges.map(folded.toOriginal), unique: quoted.unique };
}

/**
 * The text with the ranges (ascending, disjoint) replaced by `replacement`, literally but for line ends: where the text around
 * a change ends its lines with CRLF, so does what is put in. What a range and the replacement have in common stays untouched byte by byte.
 */
export function replaceRanges(text: string, { kind, ranges }: Matches, given: string): string {
  // Where the model was wrong about the file's line ends, those in its new text say nothing either.
  const replacement = kind === 'exact' ? given : given.replaceAll('\r\n', '\n');
  let result = '';
  let from = 0;
  for (const range of ranges) {
    result += text.slice(from, range.start) + adapted(text, range, replacement);
    from = range.end;
  }
  return result + text.slice(from);
}

function occurrences(text: string, wanted: string): { readonly ranges: Range[]; readonly unique: boolean } {
  const ranges: Range[] = [];
  if (wanted === '') return { ranges, unique: false };
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
    ranges.push({ start: at, end: at + wanted.length });
  }
  const [first] = ranges;
  return { ranges, unique: first !== undefined && text.indexOf(wanted, first.start + 1) === -1 };
}

/** The text with LF alone, and the way back to positions in the original. */
function foldLineEndings(text: string): { readonly text: string; toOriginal(range: Range): Range } {
  if (!text.includes('\r\n')) return { text, toOriginal: (range) => range };
  const removed: number[] = [];
  let folded = '';
  let from = 0;
  for (let at = text.indexOf('\r\n'); at !== -1; at = text.indexOf('\r\n', at + 2)) {
    folded += text.slice(from, at);
    removed.push(folded.length);
    from = at + 1;
  }
  folded += text.slice(from);
  // Before a folded line end stands its CR; a range that ends there leaves the CR to what follows.
  const original = (index: number): number => index + countBelow(removed, index);
  return { text: folded, toOriginal: ({ start, end }) => ({ start: original(start), end: original(end) }) };
}

/** How many of the ascending numbers are below `limit`. */
function countBelow(ascending: readonly number[], limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Curly quotes as straight ones; every code unit keeps its place. */
function straightQuotes(text: string): string {
  return text.replaceAll(/[\u2018\u2019\u201A\u201B]/g, "'").replaceAll(/[\u201C\u201D\u201E\u201F]/g, '"');
}

/** The replacement for one range, with its common start and end taken from the text itself and its new line ends adapted. */
function adapted(text: string, range: Range, replacement: string): string {
  const matched = text.slice(range.start, range.end);
  if (!text.includes('\r\n')) return replacement;
  const ending = nearestEnding(text, range);
  const oldUnits = units(matched);
  const newUnits = units(replacement);
  let start = 0;
  while (start < oldUnits.length && start < newUnits.length && sameUnit(oldUnits[start], newUnits[start])) start++;
  let end = 0;
  while (
    end < oldUnits.length - start &&
    end < newUnits.length - start &&
    sameUnit(oldUnits[oldUnits.length - 1 - end], newUnits[newUnits.length - 1 - end])
  ) {
    end++;
  }
  const head = oldUnits.slice(0, start).join('');
  const tail = oldUnits.slice(oldUnits.length - end).join('');
  const middle = newUnits.slice(start, newUnits.length - end).map((unit) => (unit === '\n' ? ending : unit));
  return head + middle.join('') + tail;
}

/** Characters, with CRLF as one. */
function units(text: string): string[] {
  return text.match(/\r\n|[\s\S]/g) ?? [];
}
function sameUnit(a: string | undefined, b: string | undefined): boolean {
  const isEnd = (unit: string | undefined): boolean => unit === '\n' || unit === '\r\n';
  return a === b || (isEnd(a) && isEnd(b));
}

/** How the lines at a range end: the first line end inside it, else the next one, else the one before. */
function nearestEnding(text: string, range: Range): LineEnding {
  const next = text.indexOf('\n', range.start);
  const at = next === -1 ? text.lastIndexOf('\n', range.start) : next;
  return at > 0 && text[at - 1] === '\r' ? '\r\n' : '\n';
}
