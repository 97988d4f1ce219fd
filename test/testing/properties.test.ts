import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../src/settings/load.js';
import {
  always,
  checkProperties,
  describeViolation,
  type ExploreOptions,
  explorePermissions,
  fakeTool,
  never,
  type Property,
  spell,
} from '../../src/testing/index.js';
import { getAllBaseTools } from '../../src/tool/index.js';

const place = { cwd: '/project', home: '/home/someone' };

async function hold(one: Property, options: ExploreOptions): Promise<string | null> {
  const model = await explorePermissions({ ...place, calls: one.patterns, modes: ['default'], ...options });
  const [result] = checkProperties(model, [one]);
  return result?.violation ? describeViolation(result.violation) : null;
}

describe('a property of a command', () => {
  const neverRemoved = never('Bash(rm *)').runs({ unless: 'asked' });

  it('holds of every spelling where nothing allows it', async () => {
    expect(await hold(neverRemoved, { settings: { permissions: { allow: ['Bash(npm test *)'] } } })).toBeNull();
  });

  it('is violated by a mode that allows it', async () => {
    expect(await hold(neverRemoved, { settings: {}, modes: ['acceptEdits'], spellings: 'plain' })).toContain('mode acceptEdits allows it');
  });

  it('is violated by a wildcard that covers what follows an &&, with the rule and the shortest witness', async () => {
    const shown = await hold(neverRemoved, { settings: { permissions: { allow: ['Bash(bash -c *)'] } } });
    expect(shown).toContain("Bash(bash -c 'rm -rf build')");
    expect(shown).toContain('rule: allow rule Bash(bash -c *) of the options given in code');
    expect(shown).toContain('it runs and nobody was asked');
  });

  it('is violated by a hook that allows too early, and holds once the hook looks at the whole command', async () => {
    const hasty = function allowGit(input: { readonly [key: string]: unknown }) {
      const command = JSON.stringify(input.tool_input);
      return command.includes('git') ? { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } } : {};
    };
    const settings = { permissions: { allow: ['Bash(git status *)'] } };
    const shown = await hold(neverRemoved, { settings, hooks: { callbacks: { PreToolUse: [{ matcher: 'Bash', hooks: [hasty] }] } } });
    expect(shown).toMatch(/git status build (?:&&|;|\||\|\|) rm -rf build|git -c alias/);
    expect(shown).toContain('the hook allowGit says allow');
    const careful = () => ({});
    expect(
      await hold(neverRemoved, { settings, hooks: { callbacks: { PreToolUse: [{ matcher: 'Bash', hooks: [careful] }] } } }),
    ).toBeNull();
  });

  it('is violated where a guard that refuses can fail, and holds where its failure refuses too', async () => {
    const guard = () => ({
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'no' },
    });
    const settings = { permissions: { allow: ['Bash(rm *)'] } };
    const hooks = (onFailure: 'block' | 'continue') => ({ callbacks: { PreToolUse: [{ matcher: 'Bash', hooks: [guard], onFailure }] } });
    const neverRuns = never('Bash(rm *)').runs();
    expect(await hold(neverRuns, { settings, spellings: 'plain', hooks: hooks('continue') })).toContain('fails and decides nothing › runs');
    expect(await hold(neverRuns, { settings, spellings: 'plain', hooks: hooks('block') })).toBeNull();
  });
});

describe('a property of a file', () => {
  it('holds of every form of its path under an ask rule, links included', async () => {
    expect(
      await hold(always('Edit(/src/**)').asks({ mode: 'default' }), { settings: { permissions: { ask: ['Edit(/src/**)'] } } }),
    ).toBeNull();
  });

  it('is violated by a deny that is inert', async () => {
    const one = always('Edit(/secrets/**)').isDenied();
    const shown = await hold(one, { settings: { permissions: { deny: ['Write(/secrets/**)'] } } });
    expect(shown).toMatch(/it asks instead of being denied|it runs/);
    expect(await hold(one, { settings: { permissions: { deny: ['Edit(/secrets/**)'] } }, modes: ['default'] })).toBeNull();
  });

  it('is told with file and line', async () => {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'sixgates-policy-')));
    mkdirSync(join(cwd, '.claude'));
    writeFileSync(
      join(cwd, '.claude/settings.json'),
      '{\n  "permissions": {\n    "allow": [\n      "Read(~/.ssh/config)"\n    ]\n  }\n}\n',
    );
    const shown = await hold(never('Read(~/.ssh/config)').runs({ unless: 'asked' }), {
      cwd,
      home: realpathSync(mkdtempSync(join(tmpdir(), 'sixgates-home-'))),
    });
    expect(shown).toContain(`${cwd}/.claude/settings.json:4`);
  });

  it('holds of the user’s settings where they were moved, as in a session: no mode writes to them unasked', async () => {
    const asked = never('Write').runs({ unless: 'asked' });
    const settings = loadSettings({ ...place, configDir: '/project/cfg', files: false });
    const write = (file_path: string) => [{ tool: 'Write', input: { file_path, content: '{}' } }];
    const options = { settings, modes: ['acceptEdits'] } as const;
    expect(await hold(asked, { ...options, calls: write('/project/cfg/settings.json') })).toBeNull();
    expect(await hold(asked, { ...options, calls: write('/project/cfgs/settings.json') })).toContain('mode acceptEdits allows it');
  });
});

describe('a tool of one’s own', () => {
  it('is explored by name', async () => {
    const tools = [fakeTool('Deploy')];
    const one = never('Deploy').runs({ unless: 'asked' });
    expect(await hold(one, { tools, settings: {} })).toBeNull();
    expect(await hold(one, { tools, settings: { permissions: { allow: ['Deploy'] } } })).toContain('allow rule Deploy');
  });

  it('is held by mode plan as in a session: where it may change something', async () => {
    const one = never('Deploy').runs({ unless: 'asked' });
    const options = { modes: ['plan'], settings: { permissions: { allow: ['Deploy'] } } } as const;
    expect(await hold(one, { ...options, tools: [fakeTool('Deploy')] })).toBeNull();
    expect(await hold(one, { ...options, tools: [fakeTool('Deploy', 'ok', { isReadOnly: () => true })] })).toContain('allow rule Deploy');
  });

  it('of an MCP server that is not running may change something, or nothing: mode plan is not counted on', async () => {
    const settings = { permissions: { allow: ['mcp__db'] } };
    expect(await hold(never('mcp__db__drop').runs({ unless: 'asked' }), { modes: ['plan'], settings })).toContain('allow rule mcp__db');
  });

  it('of an MCP server is stood in for where the server is not running', async () => {
    expect(await hold(never('mcp__db__drop').runs({ unless: 'asked' }), { settings: { permissions: { allow: ['mcp__db'] } } })).toContain(
      'allow rule mcp__db',
    );
  });
});

describe('spellings', () => {
  const options = { ...place, tools: getAllBaseTools() };

  it('are the plain one first, each once, and more of them the more thorough', () => {
    const count = (thoroughness: 'plain' | 'common' | 'thorough') => spell('Bash(rm *)', { ...options, thoroughness }).length;
    expect(count('plain')).toBe(1);
    expect(count('common')).toBeGreaterThan(90);
    expect(count('thorough')).toBeGreaterThan(1_000);
    const texts = spell('Bash(rm *)', { ...options, thoroughness: 'thorough' }).map(({ text }) => text);
    expect(texts[0]).toBe('Bash(rm -rf build)');
    expect(new Set(texts).size).toBe(texts.length);
  });

  it.each([
    ['Edit(/src/**)', '/project/src/sample.txt'],
    ['Edit(//etc/**)', '/etc/sample.txt'],
    ['Edit(~/notes/*.md)', '/home/someone/notes/sample.md'],
    ['Edit(**/generated/*.ts)', '/project/generated/sample.ts'],
    ['Read(.env)', '/project/.env'],
    ['Read(./docs/a.md)', '/project/docs/a.md'],
  ])('of %s begin with %s', (pattern, path) => {
    expect(spell(pattern, { ...options, thoroughness: 'plain' })[0]?.input.file_path).toBe(path);
  });

  it('of a file reach it through links and by the shell', () => {
    const calls = spell('Edit(/src/**)', { ...options, thoroughness: 'common' });
    expect(calls.some(({ links }) => links !== undefined)).toBe(true);
    expect(calls.some(({ tool, input }) => tool === 'Bash' && String(input.command).includes('>'))).toBe(true);
    expect(new Set(calls.map(({ tool }) => tool))).toEqual(new Set(['Edit', 'Write', 'Bash']));
  });

  it('refuse a pattern that is none', () => {
    expect(() => spell('Bash(rm *', { ...options, thoroughness: 'plain' })).toThrow('closing parenthesis');
  });
});
