import { baseName } from './derive.js';
import { dropOptions } from './options.js';
import { type ShellAnalysis, type ShellCommand, UNKNOWN } from './types.js';

/** What the text between the parentheses of a Bash rule means (Claude Code docs, permissions). */
export interface BashRule {
  readonly kind: 'any' | 'exact' | 'prefix' | 'wildcard';
  readonly content: string;
  /** True when the whole of `text` is what the rule speaks of. */
  matches(text: string): boolean;
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
  const text = content.trim();
  if (text === '' || text === '*' || text === ':*') return { kind: 'any', content, matches: () => true, pieces: ['', ''], literalWords: 0 };
  const pattern = text.endsWith(':*') ? `${text.slice(0, -2)} *` : text;
  const pieces = splitStars(pattern);
  const literalWords = (pieces[0] ?? '').split(' ').filter((word) => word !== '').length;
  if (pieces.length === 1) return { kind: 'exact', content, matches: (candidate) => candidate === pieces[0], pieces, literalWords };
  const last = pieces.at(-1);
  const bounded = last === '' && (pieces.at(-2) ?? '').endsWith(' ');
  if (pieces.length === 2 && bounded) {
    const prefix = pieces[0] ?? '';
    const bare = prefix.slice(0, -1);
    return { kind: 'prefix', content, matches: (candidate) => candidate === bare || candidate.startsWith(prefix), pieces, literalWords };
  }
  const head = bounded ? [...pieces.slice(0, -2), (pieces.at(-2) ?? '').slice(0, -1)] : pieces;
  return {
    kind: 'wildcard',
    content,
    matches: (candidate) => matchPieces(pieces, candidate) || (bounded && matchPieces(head, candidate)),
    pieces,
    literalWords,
  };
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

/** Could the rule match what the text becomes, `UNKNOWN` standing for any text? */
function couldMatch(rule: BashRule, text: string): boolean {
  const left = text.split(UNKNOWN);
  if (left.length === 1) return rule.matches(text);
  const prefix = rule.kind === 'prefix' ? [(rule.pieces[0] ?? '').slice(0, -1), ''] : rule.pieces;
  return overlap(text, prefix.join(UNKNOWN));
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

/**
 * The part of a command that a deny or ask rule speaks of, else null. Looks past assignments, wrappers, paths of programs,
 * quotes and options before a subcommand; one matching part is enough.
 */
export function matchesDenyOrAsk(analysis: ShellAnalysis, ruleContent: string): string | null {
  const rule = parseBashRule(ruleContent);
  if (rule.kind === 'any') return analysis.text;
  if (rule.kind === 'exact' && rule.matches(analysis.text)) return analysis.text;
  for (const command of analysis.commands) if (speaksOf(rule, command, analysis.mode)) return command.text;
  for (const command of analysis.nested) if (speaksOf(rule, command, analysis.mode)) return command.text;
  return null;
}

/**
 * Could a deny or ask rule speak of a part whose words are only known when it runs? Returns that part. A call of which this is
 * true is never covered by an allow rule.
 */
export function mayMatchDenyOrAsk(analysis: ShellAnalysis, ruleContent: string): string | null {
  if (analysis.mode === 'claude-code') return null;
  const rule = parseBashRule(ruleContent);
  for (const commands of [analysis.commands, analysis.nested]) {
    for (const command of commands) {
      const { uncertain } = denyTexts(command);
      if (uncertain.some((spelling) => applies(spelling, rule) && couldMatch(rule, spelling.text))) return command.text;
    }
  }
  return null;
}

function speaksOf(rule: BashRule, command: ShellCommand, mode: ShellAnalysis['mode']): boolean {
  if (mode === 'claude-code' && command.via === 'coproc') return false;
  for (const spelling of denyTexts(command).all) {
    if (mode === 'claude-code' && spelling.kind !== 'written') continue;
    if (applies(spelling, rule) && rule.matches(spelling.text)) return true;
  }
  return false;
}

/** A text that deny and ask rules are compared with. */
interface Spelling {
  readonly text: string;
  /** `shortened`: without the options before the subcommand. */
  readonly kind: 'written' | 'base' | 'shortened';
}

function applies(spelling: Spelling, rule: BashRule): boolean {
  return spelling.kind !== 'shortened' || rule.literalWords > 1 || rule.kind === 'wildcard';
}

const denyCache = new WeakMap<ShellCommand, { readonly all: readonly Spelling[]; readonly uncertain: readonly Spelling[] }>();

/** One command in all spellings that a deny or ask rule may be written for. */
function denyTexts(command: ShellCommand): { readonly all: readonly Spelling[]; readonly uncertain: readonly Spelling[] } {
  const known = denyCache.get(command);
  if (known !== undefined) return known;
  const all = new Map<string, Spelling>();
  const add = (text: string, kind: Spelling['kind']) => {
    if (!all.has(text)) all.set(text, { text, kind });
  };
  add(command.ruleText, 'written');
  add(command.text, 'written');
  for (const reading of command.readings) {
    const name = reading[0] ?? '';
    const rest = reading.slice(1);
    add(reading.join(' '), 'written');
    const base = baseName(name);
    if (base !== name) add([base, ...rest].join(' '), 'base');
    if (/^[-+]/.test(rest[0] ?? '')) for (const shorter of dropOptions(base, rest)) add([base, ...shorter].join(' '), 'shortened');
  }
  const spellings = [...all.values()];
  const texts = { all: spellings, uncertain: spellings.filter((spelling) => spelling.text.includes(UNKNOWN)) };
  denyCache.set(command, texts);
  return texts;
}

/**
 * Does an allow rule cover this command? Says nothing about the rest of the call: see `coverCommand`. Nothing is looked past but
 * the documented wrappers and known-safe variables.
 */
export function coversForAllow(command: ShellCommand, ruleContent: string): boolean {
  const rule = parseBashRule(ruleContent);
  if (rule.kind === 'any') return true;
  return allowTexts(command).some(
    (candidate) => rule.matches(candidate.text) && (rule.kind === 'exact' ? candidate.exact : candidate.prefix),
  );
}

interface AllowText {
  readonly text: string;
  /** An exact rule may cover it. */
  readonly exact: boolean;
  /** A rule with a wildcard may cover it. */
  readonly prefix: boolean;
}

const allowCache = new WeakMap<ShellCommand, readonly AllowText[]>();

function allowTexts(command: ShellCommand): readonly AllowText[] {
  const known = allowCache.get(command);
  if (known !== undefined) return known;
  const texts: AllowText[] = [];
  if (command.assignments.length > 0) texts.push({ text: command.text, exact: true, prefix: false });
  if (command.assignments.every((assignment) => assignment.value !== null && SAFE_VARIABLES.has(assignment.name))) {
    let text: string | null = command.ruleText;
    let exact = true;
    for (let i = 0; text !== null && i < 6; i++) {
      texts.push({ text, exact, prefix: !needsExactRule(command, text) });
      if (/^xargs\s/.test(text)) exact = false;
      text = unwrapped(text);
    }
  }
  allowCache.set(command, texts);
  return texts;
}

/** Variables that change no code that a program runs. */
export const SAFE_VARIABLES: ReadonlySet<string> = new Set(
  (
    'NODE_ENV RUST_BACKTRACE RUST_LOG GOOS GOARCH CGO_ENABLED GO111MODULE GOEXPERIMENT PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE ' +
    'PYTEST_DISABLE_PLUGIN_AUTOLOAD PYTEST_DEBUG LANG LANGUAGE LC_ALL LC_CTYPE LC_TIME LC_COLLATE LC_MESSAGES LC_NUMERIC CHARSET TERM ' +
    'COLORTERM NO_COLOR FORCE_COLOR TZ LS_COLORS LSCOLORS GREP_COLOR GREP_COLORS GCC_COLORS TIME_STYLE BLOCK_SIZE BLOCKSIZE'
  ).split(' '),
);

const DURATION = String.raw`\d+(?:\.\d+)?[smhd]?`;
const UNWRAP: readonly RegExp[] = [
  new RegExp(
    String.raw`^timeout[ \t]+(?:(?:--foreground|--preserve-status|--verbose|-v|-k[ \t]*${DURATION}|--kill-after=${DURATION}|-s[ \t]*[A-Z0-9]+|--signal=[A-Z0-9]+)[ \t]+)*${DURATION}[ \t]+(?=[^-\s])`,
  ),
  /^time[ \t]+(?:-p[ \t]+)?(?=[^-\s])/,
  /^nice(?:[ \t]+(?:-n[ \t]*-?\d+|-\d+|--adjustment=-?\d+))?[ \t]+(?=[^-\s])/,
  /^nohup[ \t]+(?:--[ \t]+)?(?=[^-\s])/,
  /^stdbuf(?:[ \t]+(?:-[ioe][ \t]*[LN0-9]+[KMG]?|--(?:input|output|error)=[LN0-9]+[KMG]?))+[ \t]+(?=[^-\s])/,
  /^(?:command|builtin|noglob)[ \t]+(?:--[ \t]+)?(?=[^-\s])/,
  /^xargs[ \t]+(?=[^-\s])/,
];

/** The command inside a documented wrapper; null where there is none. */
function unwrapped(text: string): string | null {
  for (const wrapper of UNWRAP) {
    const match = wrapper.exec(text);
    if (match !== null) return text.slice(match[0].length);
  }
  return null;
}

const FIND_ACTIONS = new Set(['-exec', '-execdir', '-ok', '-okdir', '-delete', '-fprint', '-fprint0', '-fprintf', '-fls']);

/** Programs that run anything they are given: a wildcard rule never covers them (Claude Code docs, permissions). */
function needsExactRule(command: ShellCommand, text: string): boolean {
  const name = baseName(/^\S*/.exec(text)?.[0] ?? '');
  if (name === 'watch' || name === 'setsid' || name === 'ionice' || name === 'flock') return true;
  return name === 'find' && command.words.some((word) => FIND_ACTIONS.has(word.value ?? ''));
}
