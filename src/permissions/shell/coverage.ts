import { coversForAllow } from './allow.js';
import { baseName } from './derive.js';
import { acceptEditsCommand } from './edits.js';
import { readOnlyReason } from './readonly.js';
import { parseBashRule } from './rules.js';
import { ESCAPED } from './static.js';
import type { ShellAnalysis, ShellCommand } from './types.js';
import { SAFE_VARIABLES } from './variables.js';
import { WRAPPERS } from './wrappers.js';

/** What lets a whole call run unasked, or the first thing that does not. Files are judged separately (see `fileAccesses`). */
export type Coverage =
  | {
      readonly covered: true;
      /** The whole tool is allowed, not single commands: where it reads and writes is then no question of rules. */
      readonly anything: boolean;
      /** The rules that were needed; empty when everything is built in. */
      readonly rules: readonly string[];
      readonly reason: string;
    }
  | { readonly covered: false; readonly command: string; readonly reason: string };

export interface CoverageOptions {
  /** Contents of the allow rules; '' or '*' is a rule for every command. */
  readonly allow: readonly string[];
  /** The mode runs file commands unasked (acceptEdits). */
  readonly acceptEdits?: boolean;
}

/** Does every command of the call have a rule, or need none? */
export function coverage(analysis: ShellAnalysis, { allow, acceptEdits = false }: CoverageOptions): Coverage {
  if (analysis.kind === 'unparsable')
    return { covered: false, command: analysis.text, reason: `it cannot be analysed: ${analysis.reason ?? 'it does not parse'}` };
  const any = allow.find((content) => parseBashRule(content).kind === 'any');
  if (any !== undefined) return { covered: true, anything: true, rules: [any], reason: 'every command is allowed' };
  const spelled = allow.find((content) => spellsOut(content, analysis));
  if (spelled !== undefined) return { covered: true, anything: false, rules: [spelled], reason: 'a rule spells it out' };
  const blocker = analysis.blockers[0];
  if (blocker !== undefined) return { covered: false, command: analysis.text, reason: `it ${blocker}` };
  const rules = new Set<string>();
  for (const command of analysis.commands) {
    if (readOnlyReason(command, analysis) !== null) continue;
    const variable = analysis.assigned.find((name) => !SAFE_VARIABLES.has(name));
    if (variable !== undefined) return { covered: false, command: command.text, reason: `the variable ${variable} is set before it` };
    if (acceptEdits && acceptEditsCommand(command, analysis) !== null) continue;
    if (runsGit(command) && (command.directories.unknown || command.directories.paths.some((path) => path !== '')))
      return { covered: false, command: command.text, reason: 'git runs in another directory, whose settings may run programs' };
    const rule = allow.find((content) => coversForAllow(command, content));
    if (rule === undefined) return { covered: false, command: command.text, reason: 'no allow rule covers it' };
    rules.add(rule);
  }
  return {
    covered: true,
    anything: false,
    rules: [...rules],
    reason: rules.size > 0 ? 'every command is covered by an allow rule or only reads' : 'it only reads',
  };
}

/** A rule with the very text of a single command covers it though that text has a backslash, as in `find … -exec … \\;`, or a star. */
function spellsOut(content: string, { text, commands, blockers }: ShellAnalysis): boolean {
  return content === text && commands.length === 1 && commands[0]?.text === text && blockers.every((blocker) => blocker === ESCAPED);
}

/** By itself or behind a wrapper. */
function runsGit({ words }: ShellCommand): boolean {
  const names = words.map(({ value }) => baseName(value ?? ''));
  return names[0] === 'git' || (WRAPPERS.has(names[0] ?? '') && names.includes('git'));
}
