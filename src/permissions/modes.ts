import type { CallAspect, PermissionCall, PermissionState } from './call.js';
import { BUILTIN_TOOL_NAMES, PATH_TOOLS } from './toolNames.js';
import type { PermissionFacts, RuleMatch } from './types.js';

/** What a mode says of a call by itself (Claude Code docs, permission modes). */
export function modeVerdict(call: PermissionCall, aspect: CallAspect, state: PermissionState): PermissionFacts['modeVerdict'] {
  switch (state.mode) {
    case 'bypassPermissions':
      return { behavior: 'allow', reason: 'Mode bypassPermissions allows what nothing forbids or asks about' };
    case 'plan':
      return aspect.writes || (call.readOnly === false && !BUILTIN_TOOL_NAMES.has(call.toolName))
        ? { behavior: 'ask', reason: 'Mode plan changes nothing without a yes, whatever the allow rules' }
        : { behavior: 'passthrough', reason: 'Mode plan has no say in what changes nothing' };
    case 'acceptEdits':
      return aspect.acceptEdits === null
        ? { behavior: 'passthrough', reason: 'Not an edit inside the working directories' }
        : { behavior: 'allow', reason: `${aspect.acceptEdits}: mode acceptEdits allows it` };
    case 'auto':
      return state.hasClassifier && aspect.acceptEdits !== null && PATH_TOOLS.has(call.toolName)
        ? { behavior: 'allow', reason: `${aspect.acceptEdits} need no classifier in mode auto` }
        : { behavior: 'passthrough', reason: 'Mode auto leaves it to rules and classifier' };
    case 'dontAsk':
      return { behavior: 'passthrough', reason: 'Mode dontAsk refuses only what would ask' };
    case 'default':
      return { behavior: 'passthrough', reason: 'Mode default has no say of its own' };
  }
}

const RUNS_ANYTHING =
  /^(?:\*|(?:ba|z|da|k|fi)?sh|python[\d.]*|node|deno|bun|ruby|perl|php|lua|npx|bunx|pnpm|npm|yarn|uvx?|pipx|eval|exec|sudo|env|xargs|ssh|docker|make)(?:[ :]|\*|$)/;

/** Mode auto suspends allow rules that would let anything run past the classifier (Claude Code docs, permission modes). */
export function survivesAuto({ rule }: RuleMatch): boolean {
  const broad = rule.toolName === 'Bash' || rule.toolName === 'PowerShell' || rule.toolName === 'Monitor' || rule.toolName === 'Agent';
  if (!broad) return true;
  const content = rule.ruleContent?.trim();
  if (content === undefined || /^:?\**$/.test(content)) return false;
  return !(content.endsWith('*') && RUNS_ANYTHING.test(content));
}
