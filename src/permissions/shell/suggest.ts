import { coversForAllow } from './allow.js';
import { readOnlyReason } from './readonly.js';
import { parseBashRule } from './rules.js';
import type { ShellAnalysis, ShellCommand } from './types.js';

const MAX_RULES = 5;
const MAX_RULE_LENGTH = 120;

/** Programs whose first operand says what they do. */
const SUBCOMMANDS = new Set(
  'git npm pnpm yarn bun cargo go docker podman kubectl helm make gh aws gcloud az terraform pip pip3 poetry uv gradle mvn dotnet brew apt npx bunx rake bundle composer deno rustup systemctl'.split(
    ' ',
  ),
);
/** Programs for which a prefix rule would allow anything. */
const RUNS_ANYTHING = new Set(
  'bash sh zsh dash ksh fish python python3 node ruby perl php lua deno eval exec source . sudo doas su env xargs find watch ssh parallel flock setsid ionice nohup nice timeout time stdbuf command builtin'.split(
    ' ',
  ),
);

/**
 * Rules for "don't ask again": one short rule for each command that needed approval, at most five; empty where no rule would help.
 * @param allowed contents of the allow rules there are
 */
export function suggestRules(analysis: ShellAnalysis, allowed: readonly string[] = []): string[] {
  if (analysis.kind === 'unparsable' || analysis.blockers.length > 0) return [];
  const rules = new Set<string>();
  for (const command of analysis.commands) {
    if (rules.size >= MAX_RULES) break;
    if (readOnlyReason(command, analysis) !== null || allowed.some((content) => coversForAllow(command, content))) continue;
    const rule = suggestion(command);
    if (rule !== null) rules.add(rule);
  }
  return [...rules];
}

function suggestion(command: ShellCommand): string | null {
  const values = command.words.map((word) => (word.value !== null && word.value === word.text ? word.value : null));
  const name = values[0] ?? null;
  const exact = command.text;
  const literal = !exact.includes('\n') && !exact.includes('*') && exact.length <= MAX_RULE_LENGTH ? exact : null;
  if (name === null || command.assignments.length > 0 || RUNS_ANYTHING.has(name)) return literal;
  const words = [name];
  if (SUBCOMMANDS.has(name)) {
    const sub = values[1] ?? null;
    if (sub === null || !/^[\w:.-]+$/.test(sub) || sub.startsWith('-')) return literal;
    words.push(sub);
    const script = values[2] ?? null;
    if (sub === 'run' && script !== null && /^[\w:.-]+$/.test(script) && !script.startsWith('-')) words.push(script);
  }
  const rule = `${words.join(' ')} *`;
  return rule.length <= MAX_RULE_LENGTH && parseBashRule(rule).kind === 'prefix' && coversForAllow(command, rule) ? rule : literal;
}
