import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeProblem, loadSettings } from '../../src/settings/load.js';
import { Workspace } from '../permissions/workspace.js';

const shared = join(import.meta.dirname, '../../../shared/data/settings');
const available = existsSync(shared);
if (!available) console.log(`skipped: ${shared} holds no settings files`);
const filesIn = (kind: string): string[] => (available ? readdirSync(join(shared, kind)).map((name) => join(shared, kind, name)) : []);
const loadFile = (settingsFile: string) => loadSettings({ home: '/nowhere', cwd: '/nowhere', settingsFile });

describe.skipIf(!available)('settings files of the field', () => {
  it.each(filesIn('valid'))('loads %s', (file) => {
    const { problems, files } = loadFile(file);
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(files).toHaveLength(1);
  });

  it.each(filesIn('invalid'))('reports %s with file, line, path and reason', (file) => {
    const { problems } = loadFile(file);
    expect(problems.length).toBeGreaterThan(0);
    for (const problem of problems) {
      expect(problem).toMatchObject({
        file,
        line: expect.any(Number),
        path: expect.stringMatching(/./),
        message: expect.stringMatching(/.{10}/),
      });
    }
  });
});

let space: Workspace;
beforeEach(() => {
  space = new Workspace();
});
afterEach(() => space.remove());

describe('loadSettings', () => {
  it('remembers of every rule its file, line, list, scope and anchor', () => {
    const file = space.file(
      '.claude/settings.json',
      '{\n  // rules\n  "permissions": {\n    "deny": [\n      "Bash(rm:*)",\n      "Read(.env)" ]\n  }\n}\n',
    );
    expect(space.load().rules).toEqual([
      {
        behavior: 'deny',
        toolName: 'Bash',
        ruleContent: 'rm:*',
        text: 'Bash(rm:*)',
        scope: 'projectSettings',
        root: space.cwd,
        file,
        line: 5,
      },
      {
        behavior: 'deny',
        toolName: 'Read',
        ruleContent: '.env',
        text: 'Read(.env)',
        scope: 'projectSettings',
        root: space.cwd,
        file,
        line: 6,
      },
    ]);
  });

  it('joins the rules of all scopes; of a single value the strongest scope counts', () => {
    space.settings('~/.claude/settings.json', {
      permissions: { allow: ['Bash(a)'], defaultMode: 'plan' },
      env: { A: 'user', B: 'user' },
      model: 'one',
    });
    space.settings('.claude/settings.json', { permissions: { allow: ['Bash(b)'], defaultMode: 'acceptEdits' }, env: { A: 'project' } });
    space.settings('.claude/settings.local.json', { permissions: { allow: ['Bash(c)'] } });
    const settingsFile = space.settings('flag.json', { permissions: { allow: ['Bash(d)'] } });
    const managedFile = space.settings('managed.json', { permissions: { deny: ['Bash(f)'] }, disableAllHooks: true });
    const loaded = loadSettings({
      home: space.home,
      cwd: space.cwd,
      settingsFile,
      managedFile,
      trusted: true,
      flags: { allow: ['Bash(e)'] },
      settings: { permissions: { ask: ['Bash(g)'] } },
    });
    expect(loaded.rules.map(({ scope, text }) => `${scope} ${text}`)).toEqual([
      'userSettings Bash(a)',
      'projectSettings Bash(b)',
      'localSettings Bash(c)',
      'option Bash(g)',
      'flagSettings Bash(d)',
      'cliArg Bash(e)',
      'managed Bash(f)',
    ]);
    expect(loaded).toMatchObject({ mode: 'acceptEdits', env: { A: 'project', B: 'user' }, disableAllHooks: true, problems: [] });
    expect(loaded.merged.model).toBe('one');
  });

  it('anchors a file that stands in for the project’s at the working directory', () => {
    const projectFile = space.settings('elsewhere/s.json', { permissions: { deny: ['Read(/x)'] } });
    const settingsFile = space.settings('other/s.json', { permissions: { deny: ['Read(/y)'] } });
    const { rules } = loadSettings({ home: space.home, cwd: space.cwd, projectFile, settingsFile });
    expect(rules.map(({ root }) => root)).toEqual([space.cwd, join(space.cwd, 'other')]);
  });

  it('leaves rules to managed settings alone when these say so', () => {
    space.settings('.claude/settings.json', { permissions: { deny: ['Bash(a)'] } });
    const managedFile = space.settings('managed.json', { permissions: { deny: ['Bash(b)'] }, allowManagedPermissionRulesOnly: true });
    expect(loadSettings({ home: space.home, cwd: space.cwd, managedFile }).rules.map(({ text }) => text)).toEqual(['Bash(b)']);
  });

  it('uses of an untrusted project only what restricts', () => {
    space.settings('.claude/settings.json', {
      permissions: { allow: ['Bash(a)'], deny: ['Bash(b)'], ask: ['Bash(c)'], additionalDirectories: ['/data'] },
    });
    const { rules, additionalDirectories, warnings } = loadSettings({ home: space.home, cwd: space.cwd });
    expect(rules.map(({ text }) => text)).toEqual(['Bash(b)', 'Bash(c)']);
    expect(additionalDirectories).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('allow rules'), expect.stringContaining('additional directories')]);
  });

  it.each([
    ['bypassPermissions', true, 'default'],
    ['auto', true, 'default'],
    ['acceptEdits', true, 'acceptEdits'],
    ['acceptEdits', false, 'plan'],
    ['dontAsk', false, 'dontAsk'],
  ])('mode %s of a project, trusted: %s, makes it %s', (defaultMode, trusted, mode) => {
    space.settings('~/.claude/settings.json', { permissions: { defaultMode: 'plan' } });
    for (const file of ['.claude/settings.json', '.claude/settings.local.json']) {
      space.settings(file, { permissions: { defaultMode } });
      const loaded = loadSettings({ home: space.home, cwd: space.cwd, trusted });
      expect(loaded.mode).toBe(mode);
      if (mode !== defaultMode)
        expect(loaded.problems).toContainEqual(
          expect.objectContaining({ path: 'permissions.defaultMode', message: expect.stringMatching(/no effect|ignored/) }),
        );
    }
  });

  it('lets you begin in any mode by your own settings', () => {
    for (const defaultMode of ['bypassPermissions', 'auto', 'acceptEdits']) {
      space.settings('~/.claude/settings.json', { permissions: { defaultMode } });
      expect(loadSettings({ home: space.home, cwd: space.cwd })).toMatchObject({ mode: defaultMode, problems: [] });
    }
  });

  it('keeps the deny and ask rules of a file that does not parse, and drops its allow rules', () => {
    space.file('.claude/settings.json', '{ "permissions": { "allow": ["Bash(a)"], "deny": ["Bash(b)"] } "model": "x" }');
    const { rules, problems } = space.load();
    expect(rules.map(({ text }) => text)).toEqual(['Bash(b)']);
    expect(problems[0]).toMatchObject({ severity: 'error', line: 1, message: expect.stringContaining('Not valid JSON') });
  });

  it('tells a misspelled key', () => {
    space.settings('.claude/settings.json', { permisions: { deny: ['Bash'] }, somethingNew: 1 });
    expect(space.load().warnings).toEqual([expect.stringContaining('did you mean permissions?')]);
  });

  it.each([
    ['deny', ['Bash(rm *)'], 'write it as permissions.deny'],
    ['ask', ['Bash'], 'write it as permissions.ask'],
    ['defaultMode', 'plan', 'write it as permissions.defaultMode'],
    ['additionalDirectories', ['../x'], 'write it as permissions.additionalDirectories'],
    ['disableBypassPermissionsMode', 'disable', 'write it as permissions.disableBypassPermissionsMode'],
    ['disallowedTools', ['Bash'], 'write it as permissions.deny'],
    ['PreToolUse', [], 'write it as hooks.PreToolUse'],
  ])('tells where %s belongs that stands at the top of the file', (key, value, expected) => {
    space.settings('.claude/settings.json', { [key]: value });
    expect(space.load().warnings).toEqual([expect.stringMatching(new RegExp(`settings\\.json:2: .*${expected}`))]);
  });

  it.each([
    ['Deny', 'deny'],
    ['denied', 'deny'],
    ['disallow', 'deny'],
    ['allowed', 'allow'],
    ['mode', 'defaultMode'],
  ])('tells which key below permissions was meant by %s', (key, meant) => {
    space.settings('.claude/settings.json', { permissions: { [key]: [] } });
    expect(space.load().warnings).toEqual([expect.stringContaining(`Unknown key "${key}", did you mean ${meant}?`)]);
  });

  it('tells that a sandbox is asked for, which is not here', () => {
    space.settings('~/.claude/settings.json', { sandbox: { enabled: true, failIfUnavailable: true } });
    expect(space.load().warnings).toEqual([expect.stringMatching(/settings\.json:3: sandbox\.enabled: There is no sandbox here/)]);
    space.settings('~/.claude/settings.json', { sandbox: { enabled: false } });
    expect(space.load().warnings).toEqual([]);
  });

  it('tells that a variable in the name of a directory stands for itself', () => {
    space.settings('~/.claude/settings.json', { permissions: { additionalDirectories: ['$HOME/x', '~/y'] } });
    expect(space.load().warnings).toEqual([
      expect.stringMatching(/additionalDirectories\[0\]: Variables stand for themselves in \$HOME\/x/),
    ]);
  });

  it('hands hooks on as they stand, with their origin', () => {
    const group = { matcher: 'Bash', hooks: [{ type: 'command', command: 'true' }] };
    const file = space.settings('.claude/settings.json', { hooks: { PreToolUse: [group] } });
    expect(space.load().hooks).toEqual([{ event: 'PreToolUse', group, scope: 'projectSettings', file, line: 4 }]);
  });

  it('has a directory as it is meant', () => {
    space.settings('~/.claude/settings.json', { permissions: { additionalDirectories: ['~/a', '../b', '/c', '//d', '.'] } });
    expect(space.load().additionalDirectories).toEqual([join(space.home, 'a'), join(space.root, 'b'), '/c', '/d']);
  });

  it('is not misled by a key that names a prototype', () => {
    space.file('.claude/settings.json', '{ "__proto__": { "permissions": { "allow": ["Bash"] } }, "constructor": { "a": 1 } }');
    expect(space.load().rules).toEqual([]);
    expect(Object.getPrototypeOf(space.load().merged)).toBe(Object.prototype);
  });

  it('says where and what in one line', () => {
    const problem = { severity: 'error', scope: 'userSettings', file: '/s.json', line: 3, path: 'env.a', message: 'no' } as const;
    expect(describeProblem(problem)).toBe('error: /s.json:3: env.a: no');
  });
});
