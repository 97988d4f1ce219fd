import type { PermissionFacts, RuleMatch, SafetyFinding, TraceEntry } from '../src/permissions/types.js';
import { ruleOrigin } from './ruleOrigin.js';

/** The checks of the permission machine, named as its states, in the order in which they are made. */
export type PermissionCheck =
  | 'checkingDenyRule'
  | 'checkingHookDeny'
  | 'checkingToolDeny'
  | 'checkingAskRule'
  | 'checkingRequiredPerson'
  | 'checkingSafety'
  | 'checkingHookAsk'
  | 'checkingToolAsk'
  | 'checkingMode'
  | 'checkingHookAllow'
  | 'checkingToolAllow'
  | 'checkingAllowRule'
  | 'checkingBuiltInAllow'
  | 'findingNothingThatAllows';

type Verdict = (facts: PermissionFacts, toolName: string) => Omit<TraceEntry, 'check'>;

const silent = (reason: string): Omit<TraceEntry, 'check'> => ({ behavior: 'passthrough', reason });

/** A rule in words: `ask rule Bash(git push *) of /p/.claude/settings.json:4, for "git push"`. */
const describeRule = ({ rule, matched }: RuleMatch): string =>
  `${rule.behavior} rule ${rule.text} of ${ruleOrigin(rule)}${matched === undefined ? '' : `, for "${matched}"`}`;

const byRule = (match: RuleMatch | null, behavior: 'deny' | 'ask' | 'allow'): Omit<TraceEntry, 'check'> =>
  match === null
    ? silent(`No ${behavior} rule matches`)
    : {
        behavior,
        source: { type: 'rule', rule: match.rule, ...(match.matched === undefined ? {} : { matched: match.matched }) },
        reason: `Matches ${describeRule(match)}`,
      };

const byHook = (facts: PermissionFacts, behavior: 'deny' | 'ask' | 'allow'): Omit<TraceEntry, 'check'> => {
  const { hook } = facts;
  if (hook?.behavior !== behavior) return silent(`No PreToolUse hook says ${behavior}`);
  const hookName = hook.hookName ?? 'PreToolUse hook';
  return { behavior, source: { type: 'hook', hookName, event: 'PreToolUse' }, reason: hook.reason ?? `${hookName} says ${behavior}` };
};

const byTool = (facts: PermissionFacts, toolName: string, behavior: 'deny' | 'ask' | 'allow'): Omit<TraceEntry, 'check'> =>
  facts.tool.behavior === behavior
    ? { behavior, source: { type: 'tool', toolName }, reason: facts.tool.reason }
    : silent(`The tool itself does not say ${behavior}`);

const bySafety = (finding: SafetyFinding): Omit<TraceEntry, 'check'> => ({
  behavior: 'ask',
  source: {
    type: 'safety',
    finding: { kind: finding.kind, reason: finding.reason, ...(finding.path === undefined ? {} : { path: finding.path }) },
  },
  reason: finding.reason,
});

/** What each check says of a call's facts. Total and pure: the guards and the trace of the machine read the same table. */
export const verdictOf: Readonly<Record<PermissionCheck, Verdict>> = {
  checkingDenyRule: (facts) => byRule(facts.denyRule, 'deny'),
  checkingHookDeny: (facts) => byHook(facts, 'deny'),
  checkingToolDeny: (facts, toolName) => byTool(facts, toolName, 'deny'),
  checkingAskRule: (facts) => byRule(facts.askRule, 'ask'),
  checkingRequiredPerson: ({ requiresPerson }) =>
    requiresPerson === null
      ? silent('Anyone may answer')
      : {
          behavior: 'ask',
          source: { type: 'safety', finding: { kind: 'requiresPerson', reason: requiresPerson } },
          reason: requiresPerson,
        },
  checkingSafety: ({ safety, mode }) =>
    safety === null || (safety.bypassable && mode === 'bypassPermissions') ? silent('Nothing about it needs a person') : bySafety(safety),
  checkingHookAsk: (facts) => byHook(facts, 'ask'),
  checkingToolAsk: (facts, toolName) => byTool(facts, toolName, 'ask'),
  checkingMode: ({ mode, modeVerdict }) =>
    modeVerdict.behavior === 'passthrough' ? silent(modeVerdict.reason) : { ...modeVerdict, source: { type: 'mode', mode } },
  checkingHookAllow: (facts) => byHook(facts, 'allow'),
  checkingToolAllow: (facts, toolName) => byTool(facts, toolName, 'allow'),
  checkingAllowRule: (facts) => byRule(facts.allowRule, 'allow'),
  checkingBuiltInAllow: ({ builtInAllow }) =>
    builtInAllow === null
      ? silent('It is not on the list of what needs no rule')
      : { behavior: 'allow', source: { type: 'builtIn' }, reason: builtInAllow },
  findingNothingThatAllows: ({ mode, uncovered }) => ({
    behavior: 'ask',
    source: { type: 'mode', mode },
    reason: `Nothing allows it in mode ${mode}${uncovered === undefined ? '' : `: ${uncovered}`}`,
  }),
};

/** All checks in the order in which they are made: that of the states and guards of the permission machine. */
export const CHECKS: readonly PermissionCheck[] = [
  'checkingDenyRule',
  'checkingHookDeny',
  'checkingToolDeny',
  'checkingAskRule',
  'checkingRequiredPerson',
  'checkingSafety',
  'checkingHookAsk',
  'checkingToolAsk',
  'checkingMode',
  'checkingHookAllow',
  'checkingToolAllow',
  'checkingAllowRule',
  'checkingBuiltInAllow',
  'findingNothingThatAllows',
];

/** The checks that follow the first `done` ones, up to and with `last`. */
export const checksBetween = (done: number, last: PermissionCheck): readonly PermissionCheck[] =>
  CHECKS.slice(done, CHECKS.indexOf(last) + 1);
