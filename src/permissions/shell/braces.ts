/** Brace expansion of a word's source text, the way bash does it: textual, before anything else. */

const MAX_WORDS = 64;

/** The words that the text stands for; null when there are too many to list. */
export function expandBraces(text: string): string[] | null {
  const found = findBrace(text);
  if (found === null) return [text];
  const tails = expandBraces(text.slice(found.end + 1));
  if (tails === null) return null;
  const result: string[] = [];
  for (const alternative of found.alternatives) {
    const heads = expandBraces(alternative);
    if (heads === null) return null;
    for (const head of heads) {
      for (const tail of tails) {
        if (result.length >= MAX_WORDS) return null;
        result.push(text.slice(0, found.start) + head + tail);
      }
    }
  }
  return result;
}

function findBrace(text: string): { start: number; end: number; alternatives: string[] } | null {
  for (let start = 0; start < text.length; start = skip(text, start)) {
    if (text[start] !== '{' || text[start - 1] === '$') continue;
    const parts = splitBrace(text, start);
    if (parts === null) continue;
    const { end, pieces } = parts;
    if (pieces.length > 1) return { start, end, alternatives: pieces };
    const range = sequence(pieces[0] ?? '');
    if (range !== null) return { start, end, alternatives: range };
  }
  return null;
}

/** Index after the character at `at`, or after the quoted or substituted stretch that begins there. */
function skip(text: string, at: number): number {
  const char = text[at];
  if (char === '\\') return at + 2;
  if (char === "'") return after(text, text.indexOf("'", at + 1));
  if (char === '"' || char === '`') {
    for (let i = at + 1; i < text.length; i++) {
      if (text[i] === '\\') i++;
      else if (text[i] === char) return i + 1;
    }
    return text.length;
  }
  if (char === '$' && (text[at + 1] === '(' || text[at + 1] === '{')) {
    const open = text[at + 1];
    const close = open === '(' ? ')' : '}';
    let depth = 0;
    for (let i = at + 1; i < text.length; i++) {
      if (text[i] === '\\') i++;
      else if (text[i] === open) depth++;
      else if (text[i] === close && --depth === 0) return i + 1;
    }
    return text.length;
  }
  return at + 1;
}

function after(text: string, index: number): number {
  return index === -1 ? text.length : index + 1;
}

function splitBrace(text: string, start: number): { end: number; pieces: string[] } | null {
  const pieces: string[] = [];
  let from = start + 1;
  let depth = 0;
  for (let i = start + 1; i < text.length; ) {
    const char = text[i];
    if (char === '{') depth++;
    else if (char === '}') {
      if (depth === 0) {
        pieces.push(text.slice(from, i));
        return { end: i, pieces };
      }
      depth--;
    } else if (char === ',' && depth === 0) {
      pieces.push(text.slice(from, i));
      from = i + 1;
    }
    i = skip(text, i);
  }
  return null;
}

function sequence(body: string): string[] | null {
  const match = /^(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?$/.exec(body);
  if (match === null) return null;
  const [, first = '', last = '', by] = match;
  const letters = /[A-Za-z]/.test(first);
  if (letters !== /[A-Za-z]/.test(last)) return null;
  const from = letters ? first.charCodeAt(0) : Number(first);
  const to = letters ? last.charCodeAt(0) : Number(last);
  const step = Math.max(1, Math.abs(Number(by ?? 1)));
  const result: string[] = [];
  for (let n = from; from <= to ? n <= to : n >= to; n += from <= to ? step : -step) {
    if (result.length > MAX_WORDS) return result;
    result.push(letters ? String.fromCharCode(n) : String(n));
  }
  return result;
}
