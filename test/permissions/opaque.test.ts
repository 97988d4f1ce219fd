import { describe, expect, it } from 'vitest';
import { PermissionEngine } from '../../src/permissions/engine.js';
import type { PermissionRule } from '../../src/permissions/types.js';

const rule = (behavior: 'allow' | 'deny', ruleContent: string): PermissionRule => ({
  behavior,
  toolName: 'Bash',
  ruleContent,
  text: `Bash(${ruleContent})`,
  scope: 'option',
  root: '/p',
});
const rules = [rule('allow', '*'), rule('deny', 'rm:*')];
const facts = (opaque: 'strict' | 'claude-code', command: string) =>
  new PermissionEngine({ rules, cwd: '/p', home: '/h', canAsk: true, opaque }).facts({ toolName: 'Bash', input: { command } });

describe('a command that hides a denied one', () => {
  for (const command of ['eval rm a', 'xargs -n1 rm', 'find . -exec rm {} \\;', 'busybox rm a', 'alias x=rm; x a', '{rm,a}']) {
    it(`${command}: denied by default, let through as Claude Code does where that is asked for`, () => {
      expect(facts('strict', command).denyRule).not.toBeNull();
      const lenient = facts('claude-code', command);
      expect(lenient.denyRule).toBeNull();
      expect(lenient.allowRule).not.toBeNull();
    });
  }
});
