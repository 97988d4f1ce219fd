import { chmodSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bash, decide, explain, Workspace } from './workspace.js';

let space: Workspace;
beforeEach(() => {
  space = new Workspace();
});
afterEach(() => space.remove());

const allow = (ruleContent: string, destination: string) => ({
  type: 'addRules',
  rules: [{ toolName: 'Bash', ruleContent }],
  behavior: 'allow',
  destination,
});

describe('permission updates', () => {
  it('hold at once, for the session', () => {
    const engine = space.under({});
    expect(bash(engine, 'make all')).toBe('ask');
    expect(engine.apply([allow('make *', 'session')])).toMatchObject({ warnings: [], applied: [{ type: 'addRules' }] });
    expect(bash(engine, 'make all')).toBe('allow');
    engine.apply([
      { type: 'removeRules', rules: [{ toolName: 'Bash', ruleContent: 'make *' }], behavior: 'allow', destination: 'session' },
    ]);
    expect(bash(engine, 'make all')).toBe('ask');
    engine.apply([{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }]);
    expect(decide(engine, 'Write', { file_path: 'n', content: '' })).toBe('allow');
    engine.apply([{ type: 'addDirectories', directories: ['../more'], destination: 'session' }]);
    expect(decide(engine, 'Write', { file_path: '../more/n', content: '' })).toBe('allow');
    engine.apply([{ type: 'removeDirectories', directories: ['../more'], destination: 'session' }]);
    expect(decide(engine, 'Write', { file_path: '../more/n', content: '' })).toBe('ask');
  });

  it('are written where they say, with the line they stand in', () => {
    const engine = space.under({ deny: ['Bash(rm:*)'] });
    for (const destination of ['localSettings', 'projectSettings', 'userSettings'])
      engine.apply([allow(`make ${destination}`, destination)]);
    const { rules } = space.load();
    expect(rules.map(({ text, scope }) => `${scope}: ${text}`).sort()).toEqual([
      'localSettings: Bash(make localSettings)',
      'projectSettings: Bash(make projectSettings)',
      'projectSettings: Bash(rm:*)',
      'userSettings: Bash(make userSettings)',
    ]);
    expect(explain(engine, 'Bash', { command: 'make localSettings' }).winner.source).toMatchObject({
      rule: { file: space.path('.claude/settings.local.json'), line: 4 },
    });
  });

  it('leave everything else in a file as it was: comments, order, mode, and no temporary file', () => {
    const text = `{
    // who may push
    "permissions": {
        "deny": ["Bash(git push:*)"], /* nobody */
        "allow": [
            "Bash(ls)", // harmless
        ],
    },
    "model": "opus",
}
`;
    const file = space.file('.claude/settings.local.json', text);
    chmodSync(file, 0o640);
    expect(space.engine().apply([allow('make *', 'localSettings')]).warnings).toEqual([]);
    const edited = readFileSync(file, 'utf8');
    expect(edited).toContain('"Bash(make *)"');
    for (const kept of ['// who may push', '/* nobody */', '// harmless', '"model": "opus"', '"Bash(git push:*)"', '"Bash(ls)"'])
      expect(edited).toContain(kept);
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(readdirSync(dirname(file))).toEqual(['settings.local.json']);
    expect(space.load().problems).toEqual([]);
  });

  it('add a rule once', () => {
    const engine = space.under({});
    for (let i = 0; i < 3; i++) engine.apply([allow('make *', 'localSettings')]);
    expect(space.load().rules).toHaveLength(1);
    expect(engine.sources()).toHaveLength(1);
  });

  it('replace and remove rules of one list in a file', () => {
    const engine = space.under({ allow: ['Bash(a)', 'Bash(b)', 'Bash(c)'] });
    const rules = (...contents: string[]) => contents.map((ruleContent) => ({ toolName: 'Bash', ruleContent }));
    engine.apply([{ type: 'removeRules', rules: rules('b'), behavior: 'allow', destination: 'projectSettings' }]);
    expect(space.load().rules.map(({ text }) => text)).toEqual(['Bash(a)', 'Bash(c)']);
    engine.apply([{ type: 'replaceRules', rules: rules('d'), behavior: 'allow', destination: 'projectSettings' }]);
    expect(space.load().rules.map(({ text }) => text)).toEqual(['Bash(d)']);
    expect(engine.sources().map(({ rule }) => rule.text)).toEqual(['Bash(d)']);
  });

  it('keep a link to a settings file a link', () => {
    const target = space.file('../shared.json', '{}\n');
    const link = space.link('.claude/settings.local.json', target);
    space.engine().apply([allow('make *', 'localSettings')]);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, 'utf8')).toContain('Bash(make *)');
  });

  it('that are malformed are dropped with a warning; the others hold', () => {
    const engine = space.under({});
    const { warnings, applied } = engine.apply([
      { type: 'addRules', rules: 'Bash', behavior: 'allow', destination: 'session' },
      { type: 'setMode', mode: 'yolo', destination: 'session' },
      { type: 'addRules', rules: [{ toolName: 'Bash with blanks' }], behavior: 'allow', destination: 'session' },
      null,
      allow('make *', 'session'),
    ]);
    expect(warnings).toHaveLength(4);
    expect(warnings[1]).toBe('Permission update 1 was dropped: there is no mode "yolo"');
    expect(applied).toHaveLength(1);
    expect(engine.apply('all').warnings).toEqual(['Permission updates are not a list; none was applied']);
  });

  it('never overwrite a file that does not parse: the change holds for the session, and says so', () => {
    const broken = '{ "permissions": { "allow": [ }';
    const file = space.file('.claude/settings.local.json', broken);
    const engine = space.engine();
    expect(engine.apply([allow('make *', 'localSettings')]).warnings).toEqual([expect.stringContaining('holds for this session only')]);
    expect(readFileSync(file, 'utf8')).toBe(broken);
    expect(bash(engine, 'make all')).toBe('allow');
  });
});
