import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PermissionMode } from '../../src/permissions/types.js';
import { bash, decide, explain, type Lists, Workspace } from './workspace.js';

let space: Workspace;
beforeEach(() => {
  space = new Workspace();
});
afterEach(() => space.remove());

const MODES: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan', 'auto', 'dontAsk', 'bypassPermissions'];

/** What a call becomes in each mode, in the order of `MODES`. */
const inModes = (lists: Lists, tool: string, input: Record<string, string | boolean>): string =>
  MODES.map((mode) => decide(space.under(lists, { mode }), tool, input)).join(' ');

describe('modes', () => {
  it.each<[string, Lists, string, Record<string, string | boolean>, string]>([
    ['a read inside the working directory', {}, 'Read', { file_path: 'a.txt' }, 'allow allow allow allow allow allow'],
    ['a read outside', {}, 'Read', { file_path: '/etc/hosts' }, 'ask ask ask ask deny allow'],
    ['a read-only command that a rule allows, too', { allow: ['Bash'] }, 'Bash', { command: 'ls' }, 'allow allow allow allow allow allow'],
    ['a read-only command', {}, 'Bash', { command: 'ls' }, 'allow allow allow allow allow allow'],
    ['an edit inside', {}, 'Write', { file_path: 'n', content: '' }, 'ask allow ask ask deny allow'],
    [
      'an edit inside that a rule allows',
      { allow: ['Edit(/**)'] },
      'Write',
      { file_path: 'n', content: '' },
      'allow allow ask allow allow allow',
    ],
    ['an edit outside', {}, 'Write', { file_path: '/data/n', content: '' }, 'ask ask ask ask deny allow'],
    ['a file command inside', {}, 'Bash', { command: 'mkdir n' }, 'ask allow ask ask deny allow'],
    ['a command that a rule allows', { allow: ['Bash(npm test)'] }, 'Bash', { command: 'npm test' }, 'allow allow ask allow allow allow'],
    [
      'a command with an ask rule',
      { ask: ['Bash(git push:*)'], allow: ['Bash'] },
      'Bash',
      { command: 'git push' },
      'ask ask ask ask deny ask',
    ],
    [
      'a command with a deny rule',
      { deny: ['Bash(curl:*)'], allow: ['Bash'] },
      'Bash',
      { command: 'curl x' },
      'deny deny deny deny deny deny',
    ],
    ['a protected path', { allow: ['Edit'] }, 'Write', { file_path: '.git/config', content: '' }, 'ask ask ask ask deny allow'],
    ['a protected path in a command', { allow: ['Bash'] }, 'Bash', { command: 'echo x > .bashrc' }, 'ask ask ask ask deny allow'],
    ['a critical removal', { allow: ['Bash'] }, 'Bash', { command: 'rm -rf /' }, 'ask ask ask ask deny ask'],
    ['a question to the person', { allow: ['AskUserQuestion'] }, 'AskUserQuestion', {}, 'ask ask ask ask deny ask'],
    ['a tool that needs no permission', {}, 'TodoWrite', {}, 'allow allow allow allow allow allow'],
    ['a tool of an MCP server', {}, 'mcp__a__b', {}, 'ask ask ask ask deny allow'],
  ])('%s', (_, lists, tool, input, decisions) => {
    expect(inModes(lists, tool, input)).toBe(decisions);
  });

  it('acceptEdits covers additional directories', () => {
    space.file('../outside/o.txt');
    const lists = { additionalDirectories: ['../outside'] };
    const under = (mode: PermissionMode) => decide(space.under(lists, { mode }), 'Write', { file_path: '../outside/n', content: '' });
    expect([under('acceptEdits'), under('default')]).toEqual(['allow', 'ask']);
    expect(bash(space.under(lists), 'cat ../outside/o.txt')).toBe('allow');
  });

  it('acceptEdits does not follow a link out of the working directory', () => {
    space.link('out', '/etc');
    const engine = space.under({}, { mode: 'acceptEdits' });
    expect(decide(engine, 'Write', { file_path: 'out/n', content: '' })).toBe('ask');
    expect(bash(engine, 'touch out/n')).toBe('ask');
  });

  it('auto, with a classifier, suspends rules that would let anything run', () => {
    const facts = (rule: string, command: string) =>
      space.under({ allow: [rule] }, { mode: 'auto', hasClassifier: true }).facts({ toolName: 'Bash', input: { command } }).allowRule?.rule
        .text;
    const both = { allow: ['Bash(npm test)', 'Bash(python3 *)'] };
    expect(bash(space.under(both, { mode: 'auto', hasClassifier: true }), 'npm test && python3 x.py')).toBe('ask');
    expect([facts('Bash', 'x'), facts('Bash(python3 *)', 'python3 x.py'), facts('Bash(npm test)', 'npm test')]).toEqual([
      undefined,
      undefined,
      'Bash(npm test)',
    ]);
    expect(decide(space.under({}, { mode: 'auto', hasClassifier: true }), 'Write', { file_path: 'n', content: '' })).toBe('allow');
  });

  it('bypassPermissions has to be enabled when the session starts', () => {
    const engine = space.under({});
    expect(engine.setMode('bypassPermissions').warnings).toEqual([expect.stringContaining('not enabled when the session started')]);
    expect(engine.mode).toBe('default');
    expect(space.under({}, { bypassAvailable: true }).setMode('bypassPermissions').warnings).toEqual([]);
  });

  it('can be disabled by settings', () => {
    space.settings('~/.claude/settings.json', {
      permissions: { defaultMode: 'bypassPermissions', disableBypassPermissionsMode: 'disable' },
    });
    const loaded = space.load();
    expect([loaded.mode, loaded.warnings]).toEqual(['default', [expect.stringContaining('disabled by settings')]]);
  });
});

describe('hooks and tools', () => {
  const facts = (lists: Lists, hook: 'allow' | 'deny' | 'ask') =>
    space.under(lists).facts({ toolName: 'Bash', input: { command: 'npm test' }, hook: { behavior: hook, hookName: 'pre' } });

  it('are facts beside the rules; none lowers another', () => {
    const found = facts({ deny: ['Bash(npm *)'], ask: ['Bash(npm test)'] }, 'allow');
    expect(found).toMatchObject({ denyRule: { matched: 'npm test' }, askRule: { matched: 'npm test' }, hook: { behavior: 'allow' } });
  });

  it('answer a question to the person only with an input of their own', () => {
    const ask = (hookSuppliedInput: boolean) =>
      space.under({}).facts({ toolName: 'AskUserQuestion', input: {}, hook: { behavior: 'allow' }, hookSuppliedInput }).requiresPerson;
    expect([ask(false), ask(true)]).toEqual(['The question is for a person', null]);
    const mcp = { server: 's', tool: 't' };
    const call = {
      toolName: 'mcp__s__t',
      mcp,
      input: {},
      hook: { behavior: 'allow' },
      hookSuppliedInput: true,
      requiresUserInteraction: true,
    } as const;
    expect(space.under({}).facts(call).requiresPerson).toBe('The tool asks for a person');
  });

  it('do not hold the end of a conversation', () => {
    const engine = space.under({ deny: ['*'] });
    expect(engine.facts({ toolName: 'EndConversation', input: {}, hook: { behavior: 'deny' } })).toMatchObject({
      denyRule: null,
      hook: null,
    });
  });

  it('bring their own matcher for the contents of their rules', () => {
    const engine = space.under({ allow: ['deploy_to(staging)'] });
    const call = (target: string) => ({
      toolName: 'deploy_to',
      input: { target },
      matchesContent: (content: string) => content === target,
    });
    expect(engine.facts(call('staging')).allowRule?.rule.text).toBe('deploy_to(staging)');
    expect(engine.facts(call('production')).allowRule).toBeNull();
  });
});

describe('protected paths', () => {
  it.each([
    ['.git/config', true],
    ['sub/.vscode/tasks.json', true],
    ['.GIT/hooks/pre-commit', true],
    ['.claude/settings.json', true],
    ['.claude/worktrees/one/src/a.ts', false],
    ['.claude/worktrees/one/.git/config', true],
    ['.config/git/ignore', true],
    ['.config/other', false],
    ['lefthook-local.yml', true],
    ['.mcp.json', true],
    ['GIT~1/config', true],
    ['.npmrc. ', true],
    ['.gitignore', false],
  ])('%s: %s', (path, isProtected) => {
    const { decision, winner } = explain(space.under({ allow: ['Edit'] }), 'Write', { file_path: path, content: '' });
    expect([decision, winner.source?.type]).toEqual(isProtected ? ['ask', 'safety'] : ['allow', 'rule']);
  });

  it('are reached through a link as well', () => {
    space.file('.git/config');
    space.link('innocent', space.path('.git/config'));
    expect(decide(space.under({ allow: ['Edit'] }), 'Write', { file_path: 'innocent', content: '' })).toBe('ask');
  });
});

describe('the reason of a question', () => {
  it.each([
    ['git log -1; touch p1', 'Nothing allows it in mode default: for "touch p1" no allow rule covers it'],
    ['cat /etc/hosts', 'Nothing allows it in mode default: /etc/hosts lies outside the working directories'],
    ['git log > out.txt', 'Nothing allows it in mode default: it writes to out.txt'],
  ])('names the part that nothing covers: %s', (command, reason) => {
    expect(explain(space.under({ allow: ['Bash(git log:*)'] }), 'Bash', { command }).reason).toBe(reason);
  });
});

describe('reads outside the working directories that settings block', () => {
  const under = (mode: PermissionMode) => {
    space.settings('.claude/settings.json', {
      permissions: { allow: ['Bash(*)', 'Read(//etc/**)'], blockReadsOutsideWorkingDirectories: true, additionalDirectories: ['/data'] },
    });
    return space.engine({ mode });
  };

  it.each<PermissionMode>(['default', 'acceptEdits', 'plan', 'bypassPermissions'])('are refused to file tools in mode %s', (mode) => {
    const engine = under(mode);
    expect(decide(engine, 'Read', { file_path: '/etc/hosts' })).toBe('deny');
    expect(decide(engine, 'Grep', { pattern: 'x', path: '/etc' })).toBe('deny');
    expect(decide(engine, 'Read', { file_path: space.path('a.txt') })).toBe('allow');
    expect(decide(engine, 'Read', { file_path: '/data/a' })).toBe('allow');
  });

  it.each([
    'cat /etc/hosts',
    'cat < /etc/hosts',
    'ls ..',
    'cd / && ls',
    'cat $X',
    '(cat a.txt)',
    'cd a && cd b && cat c',
    'eval cat /etc/hosts',
    'bash -c "$X"',
  ])('are asked about in every mode: %s', (command) => {
    expect([bash(under('bypassPermissions'), command), bash(under('default'), command)]).toEqual(['ask', 'ask']);
    expect(bash(under('dontAsk'), command)).toBe('deny');
  });

  it.each(['cat a.txt', 'ls', 'cd sub && cat b', 'cat /data/x', 'node x', 'echo hi > /tmp/x'])(
    'let through what reads inside, or is not seen to read: %s',
    (command) => {
      expect(bash(under('bypassPermissions'), command)).toBe('allow');
    },
  );

  it('hold where any settings file says so', () => {
    space.settings('.claude/settings.json', { permissions: { blockReadsOutsideWorkingDirectories: false } });
    space.settings('~/.claude/settings.json', { permissions: { blockReadsOutsideWorkingDirectories: true } });
    expect(space.load()).toMatchObject({ outsideReadsBlocked: true, problems: [] });
  });
});
