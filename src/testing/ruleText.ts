import { ruleOrigin } from '../../machines/ruleOrigin.js';
import type { PermissionRule } from '../permissions/types.js';

/** `deny rule Bash(rm:*) of /p/.claude/settings.json:4`. */
export const ruleText = (rule: PermissionRule): string => `${rule.behavior} rule ${rule.text} of ${ruleOrigin(rule)}`;
