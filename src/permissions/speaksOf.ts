import type { PermissionCall } from './call.js';
import { PermissionEngine } from './engine.js';
import { ruleFromText } from './grammar.js';

export interface RuleCheckOptions {
  /** Anchor of `/path` and of relative patterns, absolute. */
  readonly cwd: string;
  readonly home: string;
  readonly toolNames?: readonly string[];
  readonly mcpServers?: readonly string[];
}

/**
 * Whether one rule, given as text, speaks of a call: read as a rule that restricts, so that one part of a compound command suffices, and
 * wrappers and substitutions are looked through. `unknown` where only the running shell could tell. Throws for a text that is no rule.
 */
export function createRuleCheck(options: RuleCheckOptions): (text: string, call: PermissionCall, cwd: string) => boolean | 'unknown' {
  const engines = new Map<string, PermissionEngine>();
  const engineFor = (text: string): PermissionEngine => {
    const known = engines.get(text);
    if (known !== undefined) return known;
    const rule = ruleFromText(text, 'ask', { scope: 'option', root: options.cwd });
    if ('problem' in rule) throw new Error(`"${text}" is not a rule: ${rule.problem}`);
    const engine = new PermissionEngine({ ...options, rules: [rule] });
    const [warning] = engine.warnings;
    if (warning !== undefined) throw new Error(warning.message);
    engines.set(text, engine);
    return engine;
  };
  return (text, call, cwd) => {
    const { askRule, safety } = engineFor(text).facts(call, cwd);
    if (askRule !== null) return true;
    return safety?.kind === 'opaqueCommand' || safety?.kind === 'unparsable' ? 'unknown' : false;
  };
}
