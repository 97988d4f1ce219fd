import type { PermissionRule } from '../permissions/types.js';

/** `/p/.claude/settings.json:4`; the scope where a rule has no file. */
const placeOf = ({ file, line, scope }: Pick<PermissionRule, 'file' | 'line' | 'scope'>): string =>
  file === undefined ? scope : `${file}:${line ?? 1}`;

/** `deny rule Bash(rm:*) of /p/.claude/settings.json:4`. */
export const ruleText = (rule: PermissionRule): string => `${rule.behavior} rule ${rule.text} of ${placeOf(rule)}`;
