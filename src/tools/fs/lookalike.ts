/** A way in which two texts may differ although they look, or mean, the same. */
interface Way {
  /** What differs, as the object of "differs only in". */
  readonly what: string;
  /** The parts that are compared, each as one; anything between them would be lost. */
  readonly tokens: RegExp;
  fold(token: string): string;
}

/** Where a text that was asked for stands after all, and in what it differs there. */
export interface Lookalike {
  /** Indexes of the places in the text, ascending, at most `MAX_PLACES`. */
  readonly places: readonly number[];
  /** The stretch of the text at the first place. */
  readonly found: string;
  /** In what it differs, with the first difference spelt out; as the object of "differs only in". */
  readonly difference: string;
}

const MAX_PLACES = 10;
/** Texts above this many code units are not searched: the comparison keeps a table of positions. */
const MAX_CHARS = 500_000;

const LINE_END = '\\r\\n|';
// What belongs together in a normalisation form: marks to their base, and the parts of a Korean syllable.
const CLUSTER = '(?:[\\u1100-\\u115f][\\u1160-\\u11a7]*[\\u11a8-\\u11ff]*|[\\s\\S])\\p{M}*';
const ESCAPE = '\\\\u[0-9a-fA-F]{4}|\\\\[nrt"\'\\\\/]|&(?:amp|lt|gt|quot|apos|#39|nbsp);|';
// Characters that every way leaves alone, unless a mark or the end of a syllable follows: most of a text, taken at one go.
const LETTERS =
  'a-zA-Z0-9_ \\t\\n(){};:,.<>=+*/!?#$%@^|~\\[\\]"\'\\-\\u3041-\\u3096\\u30a1-\\u30fa\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7a3';
const RUN = `[${LETTERS}]{2,}(?![\\p{M}\\u1160-\\u11ff])|`;
const plain = new RegExp(LINE_END + CLUSTER, 'gu');
const escaped = new RegExp(ESCAPE + LINE_END + CLUSTER, 'gu');
const inRuns = new Map([plain, escaped].map((tokens) => [tokens, new RegExp(RUN + tokens.source, 'gu')]));
const isRun = new RegExp(`^[${LETTERS}]{2}`, 'u');

const lineEnd = (token: string): string => (token === '\r\n' || token === '\r' ? '\n' : token);
const composed = (token: string): string => lineEnd(token).normalize('NFC');
const visible = (token: string): string =>
  composed(token)
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replaceAll(/\p{Zs}/gu, ' ')
    .replaceAll(/[\u2028\u2029]/g, '\n');
const alike = (token: string): string =>
  visible(token)
    .replaceAll(/[\p{Pd}\u2212]/gu, '-')
    .replaceAll(/[\u2018-\u201b\u2032`\u00b4]/g, "'")
    .replaceAll(/[\u201c-\u201f\u2033\u00ab\u00bb]/g, '"')
    .normalize('NFKC');

const NAMED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", '#39': "'" };
function unescaped(token: string): string {
  const code = /^\\u([0-9a-fA-F]{4})$/.exec(token)?.[1];
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  const name = /^&(.+);$/.exec(token)?.[1] ?? /^\\(.)$/.exec(token)?.[1];
  if (name === undefined) return lineEnd(token);
  return name === 'nbsp' ? '\u00a0' : (NAMED[name] ?? name);
}

/** From the closest to the loosest: the first that matches says most. */
const WAYS: readonly Way[] = [
  { what: 'its line ends', tokens: plain, fold: lineEnd },
  { what: 'the Unicode normalisation form', tokens: plain, fold: composed },
  { what: 'invisible characters or the kind of a space', tokens: plain, fold: visible },
  { what: 'characters that look alike', tokens: plain, fold: alike },
  { what: 'how characters are escaped', tokens: escaped, fold: unescaped },
];

/** Looks for `wanted` in `text`, where it does not stand as it is, by what is seen instead of by code points. */
export function findLookalike(text: string, wanted: string): Lookalike | undefined {
  if (wanted === '' || text.length > MAX_CHARS || wanted.length > MAX_CHARS) return undefined;
  for (const way of WAYS) {
    const { folded: needle } = folded(wanted, way);
    if (needle.trim() === '') continue;
    const { folded: hay, starts } = folded(text, way);
    const places: number[] = [];
    let found = '';
    for (let at = hay.indexOf(needle); at !== -1 && places.length < MAX_PLACES; at = hay.indexOf(needle, at + needle.length)) {
      const start = starts[at] ?? 0;
      if (places.length === 0) found = text.slice(start, starts[at + needle.length] ?? text.length);
      places.push(start);
    }
    if (places.length > 0) return { places, found, difference: `${way.what}: ${firstDifference(found, wanted, way)}` };
  }
  return undefined;
}

/** The same for whole texts, such as names of files: the one that is closest to `wanted`, and in what it differs. */
export function lookalikeAmong(
  texts: readonly string[],
  wanted: string,
): { readonly found: string; readonly difference: string } | undefined {
  for (const way of WAYS) {
    const needle = folded(wanted, way).folded;
    const found = texts.find((text) => folded(text, way).folded === needle);
    if (found !== undefined) return { found, difference: `${way.what}: ${firstDifference(found, wanted, way)}` };
  }
  return undefined;
}

/** The first place in which two texts differ that are the same but for single characters; undefined where more differs than that. */
export function oneForAnother(there: string, wanted: string): string | undefined {
  const [ours, theirs] = [[...there], [...wanted]];
  const differing = ours.filter((character, at) => character !== theirs[at]).length;
  if (ours.length !== theirs.length || differing === 0 || differing > 3) return undefined;
  return firstDifference(there, wanted, { what: '', tokens: /[\s\S]/gu, fold: (token) => token });
}

/** The text as JSON, with what nobody can see or tell apart written as escapes. */
export function spelledOut(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[^\P{Zs} ]|\p{Default_Ignorable_Code_Point}|\p{M}|\p{Cf}|\p{Cc}|[\u2028\u2029\u1100-\u11ff]/gu,
    (character) => [...Array(character.length).keys()].map((at) => `\\u${hex(character.charCodeAt(at))}`).join(''),
  );
}

/** The text as a way sees it, and for each of its code units where that comes from. */
function folded(text: string, { tokens, fold }: Way): { readonly folded: string; readonly starts: readonly number[] } {
  const parts: string[] = [];
  const starts: number[] = [];
  for (const match of text.matchAll(inRuns.get(tokens) ?? tokens)) {
    const run = isRun.test(match[0]);
    const part = run ? match[0] : fold(match[0]);
    parts.push(part);
    for (let unit = 0; unit < part.length; unit++) starts.push(run ? match.index + unit : match.index);
  }
  return { folded: parts.join(''), starts };
}

function firstDifference(there: string, wanted: string, { tokens, fold }: Way): string {
  const ours = there.match(tokens) ?? [];
  const theirs = wanted.match(tokens) ?? [];
  for (let at = 0, other = 0; at < ours.length || other < theirs.length; at++, other++) {
    const [a, b] = [ours[at], theirs[other]];
    if (a === b) continue;
    // What folds to nothing stands on one side only.
    if (a !== undefined && fold(a) === '') return `the file has ${named(a)} that was not given`;
    if (b !== undefined && fold(b) === '') return `${named(b)} was given that the file does not have`;
    return `the file has ${named(a ?? '')} where ${named(b ?? '')} was given`;
  }
  return 'one character stands for another';
}

const NAMES: Readonly<Record<string, string>> = {
  '0009': 'tab',
  '000A': 'line feed',
  '000D': 'carriage return',
  '000D 000A': 'carriage return and line feed',
  '0020': 'space',
  '00A0': 'no-break space',
  '00AD': 'soft hyphen',
  '200B': 'zero width space',
  '200C': 'zero width non-joiner',
  '200D': 'zero width joiner',
  '200E': 'left-to-right mark',
  '200F': 'right-to-left mark',
  '2009': 'thin space',
  '2013': 'en dash',
  '2014': 'em dash',
  '2028': 'line separator',
  '202F': 'narrow no-break space',
  '2060': 'word joiner',
  '3000': 'ideographic space',
  FEFF: 'byte order mark',
};

/** `U+00A0 (no-break space)`, `"é" (U+0065 U+0301)`. */
function named(token: string): string {
  const codes = [...token].map((character) => hex(character.codePointAt(0) ?? 0).toUpperCase());
  const list = codes.map((code) => `U+${code}`).join(' ');
  const name = NAMES[codes.join(' ')];
  if (name !== undefined) return `${list} (${name})`;
  return /^[\p{L}\p{N}\p{P}\p{S}]\p{M}*/u.test(token) && token !== '\\' ? `${JSON.stringify(token)} (${list})` : list;
}

const hex = (code: number): string => code.toString(16).padStart(4, '0');
