import { baseName } from './derive.js';
import { parseBashRule } from './rules.js';
import type { ShellCommand } from './types.js';
import { SAFE_VARIABLES } from './variables.js';

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
export const EXACT_ONLY: ReadonlySet<string> = new Set(['watch', 'setsid', 'ionice', 'flock']);

function needsExactRule(command: ShellCommand, text: string): boolean {
  const name = baseName(/^\S*/.exec(text)?.[0] ?? '');
  if (EXACT_ONLY.has(name)) return true;
  return name === 'find' && runsByFind(command);
}

export function runsByFind({ words }: ShellCommand): boolean {
  return words.some(({ value }) => value === 'find') && words.some(({ value }) => FIND_ACTIONS.has(value ?? ''));
}
