import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PermissionEngine } from '../../src/permissions/engine.js';
import { explainCall } from '../../src/permissions/explain.js';
import { loadAgents } from '../../src/session/agentDefinitions.js';
import { boundsOf, loadSettings } from '../../src/settings/load.js';
import { userPlace } from '../../src/settings/place.js';
import { Workspace } from '../permissions/workspace.js';

let space: Workspace;
beforeEach(() => {
  space = new Workspace();
});
afterEach(() => space.remove());

describe('where the user’s settings are', () => {
  it('is .claude of the home, unless CLAUDE_CONFIG_DIR says otherwise; a home that was given stands for itself', () => {
    expect(userPlace(undefined, {})).toEqual({ home: homedir(), configDir: join(homedir(), '.claude') });
    expect(userPlace(undefined, { CLAUDE_CONFIG_DIR: ' ' }).configDir).toBe(join(homedir(), '.claude'));
    expect(userPlace(undefined, { CLAUDE_CONFIG_DIR: '/etc/agents' })).toEqual({ home: homedir(), configDir: '/etc/agents' });
    expect(userPlace('/home/ada', { CLAUDE_CONFIG_DIR: '/etc/agents' })).toEqual({ home: '/home/ada', configDir: '/home/ada/.claude' });
  });
});

describe('a directory of settings elsewhere', () => {
  const place = () => ({ home: space.home, cwd: space.cwd, configDir: join(space.cwd, 'cfg') });
  const engine = (mode: 'default' | 'acceptEdits' = 'default') => {
    const loaded = loadSettings(place());
    return new PermissionEngine({ rules: loaded.rules, mode, cwd: space.cwd, home: space.home, ...boundsOf(loaded), canAsk: true });
  };
  const decide = (engineOf: PermissionEngine, toolName: string, input: Record<string, string>) =>
    explainCall(engineOf, { toolName, input }).decision;

  it('gives its rules and its agents, in place of those of the home', () => {
    space.file('cfg/settings.json', '{"permissions":{"deny":["Bash(curl *)","Read(/secret/**)"]}}');
    space.file('cfg/agents/scout.md', '---\nname: scout\ndescription: Looks around\n---\nLook around.\n');
    expect(decide(engine(), 'Bash', { command: 'curl example.com' })).toBe('deny');
    expect(decide(engine(), 'Read', { file_path: join(space.cwd, 'cfg/secret/key') })).toBe('deny');
    expect(loadAgents(place()).agents.map(({ name }) => name)).toContain('scout');
  });

  it('is protected where a link leads to it, too', () => {
    space.file('real/settings.json', '{}');
    space.link('cfg', join(space.cwd, 'real'));
    expect(decide(engine('acceptEdits'), 'Write', { file_path: join(space.cwd, 'real/settings.json'), content: '{}' })).toBe('ask');
    expect(decide(engine('acceptEdits'), 'Write', { file_path: join(space.cwd, 'cfg/settings.json'), content: '{}' })).toBe('ask');
  });

  it('takes the answers that are kept for the user', () => {
    const rules = [{ toolName: 'Bash', ruleContent: 'make *' }];
    const result = engine().apply([{ type: 'addRules', rules, behavior: 'allow', destination: 'userSettings' }]);
    expect(result.warnings).toEqual([]);
    expect(JSON.parse(readFileSync(join(space.cwd, 'cfg/settings.json'), 'utf8'))).toEqual({ permissions: { allow: ['Bash(make *)'] } });
    expect(existsSync(join(space.home, '.claude/settings.json'))).toBe(false);
  });

  it.each([
    ['Write', (at: string) => ({ file_path: at, content: '{}' })],
    ['Bash', (at: string) => ({ command: `echo '{}' > ${at}` })],
  ])('is not written to unasked by %s, in a mode that accepts edits', (tool, input) => {
    expect(decide(engine('acceptEdits'), tool, input(join(space.cwd, 'cfg/settings.json')))).toBe('ask');
    expect(decide(engine('acceptEdits'), 'Write', { file_path: join(space.cwd, 'cfgs/x'), content: '' })).toBe('allow');
  });
});
