import { baseName } from './derive.js';
import { dropOptions } from './options.js';
import { type BashRule, couldMatch, parseBashRule } from './rules.js';
import { type ShellAnalysis, type ShellCommand, UNKNOWN } from './types.js';

/**
 * The part of a command that a deny or ask rule speaks of, else null. Looks past assignments, wrappers, paths of programs,
 * quotes and options before a subcommand; one matching part is enough.
 */
export function matchesDenyOrAsk(analysis: ShellAnalysis, ruleContent: string): string | null {
  const rule = parseBashRule(ruleContent);
  if (rule.kind === 'any') return analysis.text;
  if (rule.kind === 'exact' ? rule.forbids(analysis.text) : speaksOfList(ruleContent, analysis.text)) return analysis.text;
  for (const command of analysis.commands) if (speaksOf(rule, command, analysis.mode)) return command.text;
  for (const command of analysis.nested) if (speaksOf(rule, command, analysis.mode)) return command.text;
  return null;
}

/**
 * Could a deny or ask rule speak of a part that is only known when it runs? Returns that part. An opaque part may be anything, a
 * word from a variable anything that fits. A call of which this is true is never covered by an allow rule.
 */
export function mayMatchDenyOrAsk(analysis: ShellAnalysis, ruleContent: string): string | null {
  const hidden = analysis.opaque[0];
  if (hidden !== undefined) return hidden.text;
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

const OPERATOR = /(\|\||&&|\|&|>>|[|;&<>])/;
/** A comment, and all that may hold a `#` without beginning one. */
const COMMENT = /\\[\s\S]|'[^']*'|"(?:\\[\s\S]|[^"\\])*"|(?<!\S)#[^\n]*/g;

/** A rule with an operator or a redirection of its own, such as `curl * | sh`, is for the whole text, however it is spaced. */
function speaksOfList(ruleContent: string, text: string): boolean {
  if (!/[|;&<>]/.test(ruleContent)) return false;
  // Where there is more to read than strings, what looks like a comment may be none.
  const run = /<<|[`$]/.test(text) ? text : text.replace(COMMENT, (found) => (found.startsWith('#') ? '' : found));
  return parseBashRule(spaced(ruleContent)).forbids(spaced(run));
}

function spaced(text: string): string {
  const parts = text.split(OPERATOR).map((part) => part.trim());
  return parts.join(' ').trim();
}

function speaksOf(rule: BashRule, command: ShellCommand, mode: ShellAnalysis['mode']): boolean {
  if (mode === 'claude-code') return command.via !== 'coproc' && plainTexts(command).some((text) => rule.forbids(text));
  return denyTexts(command).all.some((spelling) => applies(spelling, rule) && rule.forbids(spelling.text));
}

/** What Claude Code compares: the program's name unquoted, its arguments as written (Claude Code docs, permissions, limits of rules). */
function plainTexts(command: ShellCommand): string[] {
  const args = command.words.slice(1).map(({ text }) => text);
  const names = new Set(command.readings.map(([name = '']) => name));
  return [command.text, ...[...names].map((name) => [name, ...args].join(' '))];
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
