import { findLookalike, type Lookalike, oneForAnother, spelledOut } from '../fs/lookalike.js';

/** Lines that `old` may have been meant to match, numbered, or an empty text when nothing in the file resembles it. */
export function didYouMean(text: string, old: string): string {
  if (/^ *\d+[\t→]/.test(old)) {
    return 'The old text starts with a line number; leave out the numbers that Read puts before each line.';
  }
  if (text === '') return 'The file is empty.';
  const lookalike = findLookalike(text, old);
  return lookalike === undefined ? nearestLines(text, old) : ofLookalike(text, lookalike);
}

function ofLookalike(text: string, { places, found, difference }: Lookalike): string {
  const [lines, differ] = places.length === 1 ? ['Line', 'differs'] : ['Lines', 'differ'];
  const spelled = found.length <= MAX_SPELLED ? `\nIn the file it reads, as JSON: ${spelledOut(found)}` : '';
  return `${lines} ${places.map((place) => lineOf(text, place)).join(', ')} ${differ} only in ${difference}.${spelled}`;
}

function nearestLines(text: string, old: string): string {
  const lines = text.split(/\r?\n/);
  const wanted = old.split(/\r?\n/);
  const anchor = wanted.findIndex((line) => line.trim() !== '');
  const first = wanted[anchor];
  if (first === undefined || lines.length > MAX_LINES) return '';
  const pairsOfFirst = bigrams(squeeze(first));
  let best = { at: -1, score: 0 };
  for (const [at, line] of lines.entries()) {
    const squeezed = squeeze(line);
    const score = squeezed === squeeze(first) ? 1 : similarity(pairsOfFirst, bigrams(squeezed));
    if (score > best.score) best = { at, score };
  }
  if (best.score < 0.5) return '';
  const start = Math.max(0, best.at - anchor);
  const shown = lines.slice(start, start + Math.min(wanted.length, MAX_SHOWN));
  const numbered = shown.map((line, offset) => `${String(start + offset + 1).padStart(6)}\t${line.slice(0, 300)}`).join('\n');
  const seen = shown.join('\n');
  if (squeeze(seen) === squeeze(wanted.slice(0, shown.length).join('\n')))
    return `Only the white space differs from:\n${numbered}${whiteSpaceIn(seen, old)}`;
  const difference = oneForAnother(seen, wanted.join('\n'));
  return `The nearest lines are:\n${numbered}${difference === undefined ? '' : `\nThey differ in that ${difference}.`}`;
}

/** How the white space of the file differs, as far as that cannot be seen. */
function whiteSpaceIn(seen: string, old: string): string {
  const tabs = { file: /^ *\t/m.test(seen), old: /^ *\t/m.test(old) };
  const indents =
    tabs.file === tabs.old
      ? ''
      : `\n(the file indents with ${tabs.file ? 'tabs' : 'spaces'}, old_string with ${tabs.old ? 'tabs' : 'spaces'})`;
  const spelled = /[^\P{Zs} ]/u.test(seen + old) ? `\nIn the file they read, as JSON: ${spelledOut(seen.slice(0, MAX_SPELLED))}` : '';
  return indents + spelled;
}

export function lineOf(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

const MAX_LINES = 20_000;
const MAX_SHOWN = 6;
/** Code units of a stretch that is spelt out whole. */
const MAX_SPELLED = 2000;

function squeeze(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function bigrams(text: string): Set<string> {
  const bounded = text.slice(0, 200);
  return new Set(Array.from({ length: Math.max(0, bounded.length - 1) }, (_, at) => bounded.slice(at, at + 2)));
}

/** Dice's coefficient of two sets. */
function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  let shared = 0;
  for (const pair of a) if (b.has(pair)) shared++;
  return (2 * shared) / (a.size + b.size);
}
