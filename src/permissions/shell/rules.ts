import { UNKNOWN } from './types.js';

/** What the text between the parentheses of a Bash rule means (Claude Code docs, permissions). */
export interface BashRule {
  readonly kind: 'any' | 'exact' | 'prefix' | 'wildcard';
  readonly content: string;
  /** True when the whole of `text` is what the rule speaks of. */
  matches(text: string): boolean;
  /**
   * The same as a deny or ask rule reads it. A final ` *` also speaks of the bare command; of an allow rule only where it is the one
   * wildcard: `* --help *` allows `npm --help x` and not `npm --help`.
   */
  forbids(text: string): boolean;
  /** The rule as pieces of literal text with anything between them; a prefix rule ends in anything. */
  readonly pieces: readonly string[];
  /** Literal words before the first wildcard. */
  readonly literalWords: number;
}

const cache = new Map<string, BashRule>();
const MAX_CACHED = 4_096;

export function parseBashRule(content: string): BashRule {
  const known = cache.get(content);
  if (known !== undefined) return known;
  const rule = compile(content);
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(content, rule);
  return rule;
}

function compile(content: string): BashRule {
  // Runs of blanks mean one, except inside quotes.
  const text = /["']/.test(content) ? content.trim() : content.trim().replace(/[ \t]+/g, ' ');
  if (text === '' || text === '*' || text === ':*') return rule('any', () => true, ['', ''], 0);
  const pattern = text.endsWith(':*') ? `${text.slice(0, -2).trimEnd()} *` : text;
  const pieces = splitStars(pattern);
  const literalWords = (pieces[0] ?? '').split(' ').filter((word) => word !== '').length;
  if (pieces.length === 1) return rule('exact', (candidate) => candidate === pieces[0], pieces, literalWords);
  const last = pieces.at(-1);
  const bounded = last === '' && (pieces.at(-2) ?? '').endsWith(' ');
  if (pieces.length === 2 && bounded) {
    const prefix = pieces[0] ?? '';
    const bare = prefix.slice(0, -1);
    return rule('prefix', (candidate) => candidate === bare || candidate.startsWith(prefix), pieces, literalWords);
  }
  const head = bounded ? [...pieces.slice(0, -2), (pieces.at(-2) ?? '').slice(0, -1)] : pieces;
  const matches = (candidate: string): boolean => matchPieces(pieces, candidate);
  return {
    ...rule('wildcard', matches, pieces, literalWords),
    forbids: (candidate) => matches(candidate) || (bounded && matchPieces(head, candidate)),
  };

  function rule(kind: BashRule['kind'], test: (candidate: string) => boolean, parts: readonly string[], words: number): BashRule {
    return { kind, content, matches: test, forbids: test, pieces: parts, literalWords: words };
  }
}

/** `\*` is a literal star. */
function splitStars(pattern: string): string[] {
  const pieces: string[] = [''];
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i] ?? '';
    if (char === '\\' && pattern[i + 1] === '*') {
      pieces[pieces.length - 1] += '*';
      i++;
    } else if (char === '*') pieces.push('');
    else pieces[pieces.length - 1] += char;
  }
  return pieces;
}

/** Linear: leftmost places for the middle pieces are enough. */
function matchPieces(pieces: readonly string[], text: string): boolean {
  const first = pieces[0] ?? '';
  const last = pieces.at(-1) ?? '';
  if (pieces.length === 1) return text === first;
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return at <= end;
}

/** Could a deny or ask rule match what the text becomes, `UNKNOWN` standing for any text? */
export function couldMatch(rule: BashRule, text: string): boolean {
  if (!text.includes(UNKNOWN)) return rule.forbids(text);
  const pattern = rule.pieces.join(UNKNOWN);
  // A final ` *` also speaks of the bare command.
  const bare = rule.pieces.length > 1 && pattern.endsWith(` ${UNKNOWN}`) ? pattern.slice(0, -2) : null;
  if (rule.kind === 'prefix' && bare !== null) return overlap(text, `${bare}${UNKNOWN}`);
  return overlap(text, pattern) || (bare !== null && overlap(text, bare));
}

/** Do two patterns share a text? Both use `UNKNOWN` for any text. Walks `a` once with the set of places it may be at in `b`. */
function overlap(a: string, b: string): boolean {
  let places = withSkips(new Set([0]), b);
  for (const char of a) {
    if (places.size === 0) return false;
    const next = new Set<number>();
    if (char === UNKNOWN) {
      for (let place = Math.min(...places); place <= b.length; place++) next.add(place);
    } else {
      for (const place of places) {
        if (b[place] === UNKNOWN) next.add(place);
        if (b[place] === char) next.add(place + 1);
      }
    }
    places = withSkips(next, b);
  }
  return places.has(b.length);
}

/** `UNKNOWN` may also stand for nothing. */
function withSkips(places: Set<number>, pattern: string): Set<number> {
  for (const place of places) if (pattern[place] === UNKNOWN) places.add(place + 1);
  return places;
}
