import { bashAspect } from './bashAspect.js';
import { type CallAspect, NO_ASPECT, type PermissionCall, type PermissionState } from './call.js';
import { hostOf } from './domains.js';
import { modeVerdict, survivesAuto } from './modes.js';
import { pathAspect } from './pathAspect.js';
import { powershellAspect } from './powershell.js';
import { wholeToolRule } from './ruleSet.js';
import { silentFacts } from './silentFacts.js';
import { BASH_TOOLS, canonicalToolName, PATH_TOOLS, TOOLS_FOR_A_PERSON, TOOLS_WITHOUT_PERMISSION } from './toolNames.js';
import type { PermissionFacts, PermissionUpdate, RuleMatch, ToolVerdict } from './types.js';

/** The host's own way out of a conversation: no hook and no rule holds it (Claude Code docs, tools reference). */
const EXEMPT = 'EndConversation';

/**
 * Everything that the permission machine's guards read about a call. Pure but for the file system behind `state.fs`.
 * Neither the order of rules nor the scope they come from changes a verdict.
 */
export function computeFacts(given: PermissionCall, state: PermissionState): PermissionFacts {
  const call: PermissionCall = { ...given, toolName: canonicalToolName(given.toolName) };
  if (call.toolName === EXEMPT) return { ...silentFacts(state), builtInAllow: 'Ending the conversation is always allowed' };
  const { deny, ask, allow } = state.rules;
  const wholeAllow = wholeToolRule(allow, call);
  const aspect = aspectOf(call, state, wholeAllow);
  const named = { ...call, rawInput: call.rawInput ?? call.input };
  const parts = namedParts(call);

  const denyRule = wholeToolRule(deny, call) ?? deny.scoped(named, parts) ?? aspect.deny;
  const askRule = wholeToolRule(ask, call) ?? ask.scoped(named, parts) ?? aspect.ask;
  const allowed = BASH_TOOLS.has(call.toolName) ? aspect.allow : (wholeAllow ?? allow.scoped(named, parts) ?? aspect.allow);
  const allowRule = allowed !== null && state.mode === 'auto' && !survivesAuto(allowed) ? null : allowed;
  const requiresPerson = personNeeded(call);
  const asksAnyway = denyRule !== null || askRule !== null || aspect.safety !== null || requiresPerson !== null;
  return {
    ...silentFacts(state),
    denyRule,
    hook: call.hook ?? null,
    askRule,
    requiresPerson,
    safety: aspect.safety,
    tool: toolVerdict(call, aspect),
    modeVerdict: modeVerdict(call, aspect, state),
    allowRule,
    builtInAllow: aspect.builtIn ?? (TOOLS_WITHOUT_PERMISSION.has(call.toolName) ? 'This tool needs no permission' : null),
    shadowed: shadowed(denyRule, askRule, allowRule, aspect),
    suggestions: asksAnyway ? [] : suggestions(call, aspect, parts.host),
    ...(aspect.targets === undefined ? {} : { targets: aspect.targets }),
    ...(aspect.uncovered === null ? {} : { uncovered: aspect.uncovered }),
    ...(aspect.blockedPath === null ? {} : { blockedPath: aspect.blockedPath }),
  };
}

function aspectOf(call: PermissionCall, state: PermissionState, wholeAllow: RuleMatch | null): CallAspect {
  if (PATH_TOOLS.has(call.toolName)) return pathAspect(call, state);
  if (BASH_TOOLS.has(call.toolName)) return bashAspect(call, state, wholeAllow);
  if (call.toolName === 'PowerShell') return powershellAspect(call, state, wholeAllow);
  return NO_ASPECT;
}

function namedParts({ toolName, input }: PermissionCall): {
  readonly host?: string | null;
  readonly agent?: string;
  readonly skill?: string;
} {
  switch (toolName) {
    case 'WebFetch':
      return { host: hostOf(input.url) };
    case 'Agent':
      return { agent: typeof input.subagent_type === 'string' ? input.subagent_type : 'general-purpose' };
    case 'Skill': {
      if (typeof input.skill !== 'string') return {};
      return { skill: typeof input.args === 'string' && input.args !== '' ? `${input.skill} ${input.args}` : input.skill };
    }
    default:
      return {};
  }
}

function personNeeded(call: PermissionCall): string | null {
  if (call.requiresUserInteraction === true && call.mcp !== undefined) return 'The tool asks for a person';
  const reason = TOOLS_FOR_A_PERSON.get(call.toolName) ?? (call.requiresUserInteraction === true ? 'The tool asks for a person' : null);
  return call.hookSuppliedInput === true && call.hook?.behavior === 'allow' ? null : reason;
}

function toolVerdict({ tool }: PermissionCall, { refusal }: CallAspect): ToolVerdict {
  if (tool?.behavior === 'deny') return tool;
  return refusal === null ? (tool ?? { behavior: 'passthrough' }) : { behavior: 'deny', reason: refusal };
}

function shadowed(
  denyRule: RuleMatch | null,
  askRule: RuleMatch | null,
  allowRule: RuleMatch | null,
  { safety }: CallAspect,
): PermissionFacts['shadowed'] {
  const below = (by: string, rules: readonly (RuleMatch | null)[]): PermissionFacts['shadowed'] =>
    rules.filter((rule) => rule !== null).map((rule) => ({ rule, by }));
  if (denyRule !== null) return below(`deny rule ${denyRule.rule.text}`, [askRule, allowRule]);
  if (askRule !== null) return below(`ask rule ${askRule.rule.text}`, [allowRule]);
  return safety === null ? [] : below(safety.reason, [allowRule]);
}

function suggestions(call: PermissionCall, aspect: CallAspect, host: string | null | undefined): readonly PermissionUpdate[] {
  if (aspect !== NO_ASPECT) return aspect.suggestions;
  if (TOOLS_WITHOUT_PERMISSION.has(call.toolName)) return [];
  const rule = typeof host === 'string' ? { toolName: call.toolName, ruleContent: `domain:${host}` } : { toolName: call.toolName };
  return [{ type: 'addRules', rules: [rule], behavior: 'allow', destination: 'localSettings' }];
}
