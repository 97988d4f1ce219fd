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

describe('with the leniency of Claude Code', () => {
  it.each(['rm a', 'rm\ta', '"rm" a', 'x=rm; $x a', 'A=1 rm a', 'nice rm a', 'ls && rm a', 'echo $(rm a)'])(
    'still denied: %s',
    (command) => {
      expect(facts('claude-code', command).denyRule).not.toBeNull();
    },
  );

  it.each(['/bin/rm a', 'bash -c "ls"', 'coproc rm a'])('let through: %s', (command) => {
    const lenient = facts('claude-code', command);
    expect([lenient.denyRule, lenient.safety]).toEqual([null, null]);
  });

  it('a shell that is handed an rm as text is asked about', () => {
    expect(facts('claude-code', 'bash -c "rm a"').safety).toMatchObject({ kind: 'opaqueCommand' });
  });

  it('a glob counts as the directory that it starts from', () => {
    const readRule: PermissionRule = { ...rule('deny', 'secret/**'), toolName: 'Read', text: 'Read(secret/**)' };
    const fs = { readlink: () => null, readdir: (path: string) => (path === '/p' ? ['secret'] : path === '/p/secret' ? ['k'] : []) };
    const denies = (opaque: 'strict' | 'claude-code', command: string): boolean =>
      new PermissionEngine({ rules: [readRule], cwd: '/p', home: '/h', canAsk: true, opaque, fs }).facts({
        toolName: 'Bash',
        input: { command },
      }).denyRule !== null;
    expect([denies('claude-code', 'cat secret/*'), denies('claude-code', 'cat s*/k')]).toEqual([true, false]);
    expect([denies('strict', 'cat secret/*'), denies('strict', 'cat s*/k')]).toEqual([true, true]);
  });
});
