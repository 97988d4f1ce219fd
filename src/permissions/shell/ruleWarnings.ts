import type { RuleBehavior } from '../types.js';
import { EXACT_ONLY, runsByFind } from './allow.js';
import { analyzeCommand } from './analyze.js';
import { parseBashRule } from './rules.js';
import { ESCAPED } from './static.js';

const cache = new Map<string, readonly string[]>();
const MAX_CACHED = 4_096;

/**
 * What the author of a Bash rule should know: that it never matches, or matches more than it seems to. Each warning is the rest of
 * a sentence that begins with the rule and names the way out. Empty for an ordinary rule. Kept, because a rule is read when settings
 * are loaded, and again by every engine and after every change of its rules or mode.
 */
export function bashRuleWarnings(content: string, behavior: RuleBehavior): readonly string[] {
  const key = `${behavior} ${content}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const warnings = warningsOf(content, behavior);
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(key, warnings);
  return warnings;
}

function warningsOf(content: string, behavior: RuleBehavior): readonly string[] {
  const rule = parseBashRule(content);
  if (rule.kind === 'any') return [];
  const text = content.trim();
  const warnings: string[] = [];
  // In `test:*:unit` the colon is meant.
  if (/:\*(?=[\s,;|&)])/.test(text))
    warnings.push(`has :* before its end, where the colon is literal; write ${text.replaceAll(':*', ' *')}`);
  const plain = text.endsWith(':*') ? `${text.slice(0, -2)} *` : text;
  const analysis = analyzeCommand(plain);
  if (analysis.kind === 'unparsable') {
    if (rule.kind === 'exact') warnings.push(`matches nothing: it does not parse as a command (${analysis.reason ?? 'syntax error'})`);
    return warnings;
  }
  if (analysis.commands.filter((command) => command.via === null).length > 1) {
    const parts = analysis.commands.map((command) => `Bash(${command.text})`).join(', ');
    if (behavior === 'allow') warnings.push(`allows nothing: the commands of a call are compared one by one; write ${parts}`);
    return warnings;
  }
  if (analysis.redirects.length > 0 && behavior === 'allow') {
    const command = analysis.commands[0]?.text ?? '';
    warnings.push(
      `matches nothing: redirections are no part of the text that is compared; write Bash(${command}), and Edit(path) for the file`,
    );
  }
  if (behavior !== 'allow') return warnings;
  const [command] = analysis.commands;
  const blocker = analysis.blockers.find((reason) => reason !== ESCAPED);
  if (blocker !== undefined && rule.kind === 'exact') warnings.push(`allows nothing: a call that ${blocker} is always asked about`);
  if (command !== undefined && command.assignments.length > 0 && rule.kind !== 'exact') {
    warnings.push(`allows nothing: with an assignment before the command only the exact text is compared; write it without a wildcard`);
  }
  const name = command?.words[0]?.value ?? '';
  if (rule.kind !== 'exact' && EXACT_ONLY.has(name)) {
    warnings.push(`allows nothing: ${name} runs whatever it is given, so that only a rule with the exact text covers it`);
  }
  if (command !== undefined && runsByFind(command) && /[\s{]\*$/.test(text)) {
    warnings.push('allows nothing: find with an action runs or removes what it finds, so that only a rule with the exact text covers it');
  } else if (/^[^\s*]+ \* .*[^\s*]/.test(text)) {
    warnings.push(
      `also matches options before the subcommand, such as ${text.replace('*', '--option value')}; put the subcommand before the wildcard`,
    );
  }
  return warnings;
}
