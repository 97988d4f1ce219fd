import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createHookRunner, type HookConfig, type HookSource, loadHooks } from '../../src/hooks/index.js';
import { compileMatcher } from '../../src/hooks/matcher.js';
import { bashCall, preToolUse, rig } from './support.js';

const project = (settings: unknown): HookSource => ({ scope: 'projectSettings', file: '.claude/settings.json', settings });
const command = (text: string, more: object = {}) => ({ type: 'command', command: text, ...more });
const bash = (...hooks: unknown[]) => ({ PreToolUse: [{ matcher: 'Bash', hooks }] });
const names = (config: HookConfig) => config.hooks.map((hook) => hook.name);

describe('a matcher', () => {
  const matches = (matcher: string | undefined, subject: string) => {
    const compiled = compileMatcher(matcher);
    return compiled.ok && compiled.matches(subject);
  };
  it.each([
    [undefined, 'Bash', true],
    ['', 'Bash', true],
    ['*', 'Bash', true],
    ['Bash', 'Bash', true],
    ['Bash', 'bash', false],
    ['Bash', 'BashOutput', false],
    ['Edit|Write', 'Write', true],
    ['Edit, Write', 'Write', true],
    ['Edit.*', 'NotebookEdit', true],
    ['^Edit$', 'NotebookEdit', false],
    ['mcp__memory', 'mcp__memory__read', false],
    ['mcp__memory__.*', 'mcp__memory__read', true],
  ])('%j on %s: %s', (matcher, subject, expected) => {
    expect(matches(matcher, subject)).toBe(expected);
  });

  it('that is no regular expression is an error that names the place', () => {
    const { hooks, issues } = loadHooks([project({ hooks: { PreToolUse: [{ matcher: '(', hooks: [command('x')] }] } })]);
    expect(hooks).toEqual([]);
    expect(issues).toMatchObject([{ severity: 'error', file: '.claude/settings.json', path: 'hooks.PreToolUse[0].matcher' }]);
  });

  it('that names an MCP server without its tools is warned about', () => {
    const { issues } = loadHooks([project({ hooks: { PreToolUse: [{ matcher: 'mcp__memory', hooks: [command('x')] }] } })]);
    expect(issues).toMatchObject([{ severity: 'warning', message: expect.stringContaining('"mcp__memory__.*"') }]);
  });
});

describe('loading', () => {
  it.each([
    ['PreToolUs', 'Did you mean "PreToolUse"?'],
    ['pretooluse', 'Did you mean "PreToolUse"?'],
    ['OnStop', 'Unknown event "OnStop"'],
  ])('warns of the unknown event %s', (event, message) => {
    const { hooks, issues } = loadHooks([project({ hooks: { [event]: [{ hooks: [command('x')] }] } })]);
    expect(hooks).toEqual([]);
    expect(issues).toMatchObject([{ severity: 'warning', path: `hooks.${event}`, message: expect.stringContaining(message) }]);
  });

  it('notes documented events that never fire here', () => {
    const { issues } = loadHooks([project({ hooks: { WorktreeCreate: [{ hooks: [command('x')] }] } })]);
    expect(issues).toMatchObject([{ severity: 'note', path: 'hooks.WorktreeCreate' }]);
  });

  it('keeps a handler with an unknown field or a time limit that is none, and drops only the handler that is broken', () => {
    const { hooks, issues } = loadHooks([
      project({ hooks: bash(command('good', { extra: 1 }), { type: 'command' }, command('slow', { timeout: 0 })) }),
    ]);
    expect(hooks.map(({ name, handler }) => [name, handler.timeout])).toEqual([
      ['good', undefined],
      ['slow', undefined],
    ]);
    expect(issues.map((issue) => [issue.severity, issue.path])).toEqual([
      ['warning', 'hooks.PreToolUse[0].hooks[0].extra'],
      ['error', 'hooks.PreToolUse[0].hooks[1].command'],
      ['warning', 'hooks.PreToolUse[0].hooks[2].timeout'],
    ]);
  });

  it.each([
    ['Bash(git *)', '"if": "Bash(git *)" on the handler'],
    ['bash', 'write "Bash"'],
    ['Edit|write', 'write "Write"'],
    [' ', 'leave "matcher" out'],
    ['mcp__memory', 'write "mcp__memory__.*"'],
  ])('says of the matcher %j that it covers no tool, or fewer than it seems to', (matcher, said) => {
    const { issues } = loadHooks([project({ hooks: { PreToolUse: [{ matcher, hooks: [command('x')] }] } })]);
    expect(issues).toMatchObject([{ severity: 'warning', path: 'hooks.PreToolUse[0].matcher', message: expect.stringContaining(said) }]);
  });

  it.each(['Bash', 'Edit|Write', 'Bash, Edit', 'Notebook.*', '^Bash$', 'MyOwnTool', 'mcp__memory__.*', '*'])(
    'has nothing to say of the matcher %j',
    (matcher) => {
      expect(loadHooks([project({ hooks: { PreToolUse: [{ matcher, hooks: [command('x')] }] } })]).issues).toEqual([]);
    },
  );

  it('says what is wrong with a field without calling it missing where it is there', () => {
    const { issues } = loadHooks([project({ hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 5 }, { type: 'command' }] }] } })]);
    expect(issues.map(({ message }) => message.includes('missing'))).toEqual([false, true]);
  });

  it.each([
    [{ SessionStart: [{ hooks: [{ type: 'http', url: 'http://localhost/' }] }] }, 'SessionStart accepts'],
    [{ Stop: [{ hooks: [command('x', { if: 'Bash(rm *)' })] }] }, '"if" has meaning on tool events only'],
    [{ Notification: [{ hooks: [{ type: 'prompt', prompt: 'x' }] }] }, 'accepts no "prompt" handler'],
    [bash({ type: 'agent', prompt: 'x' }), '"agent" do not run here'],
    [bash({ type: 'http', url: 'file:///etc/passwd' }), 'http or https'],
    [[], 'Expected an object of events'],
    [{ PreToolUse: {} }, 'Expected an array'],
    [{ PreToolUse: [1] }, 'Expected an object'],
  ])('reports what cannot run: %j', (hooks, message) => {
    const config = loadHooks([project({ hooks })]);
    expect(config.hooks).toEqual([]);
    expect(config.issues.map((issue) => issue.message).join()).toContain(message);
  });

  it('reports hooks in code that are no functions, from callers without types', () => {
    const callbacks = JSON.parse('{"PreToolUse": [{"hooks": ["./x.sh"]}, {"command": "x"}], "Nope": []}');
    const { hooks, issues } = loadHooks([], callbacks);
    expect(hooks).toEqual([]);
    expect(issues.map((issue) => [issue.severity, issue.path])).toEqual([
      ['error', 'hooks.PreToolUse[0].hooks[0]'],
      ['error', 'hooks.PreToolUse[1].hooks'],
      ['warning', 'hooks.Nope'],
    ]);
  });

  it('puts hooks into configuration order, whatever order the files are given in', () => {
    const sources: HookSource[] = [
      { scope: 'managed', settings: { hooks: bash(command('managed')) } },
      { scope: 'localSettings', settings: { hooks: bash(command('local')) } },
      project({ hooks: bash(command('project')) }),
      { scope: 'userSettings', settings: { hooks: bash(command('user')) } },
    ];
    const guard = () => undefined;
    expect(names(loadHooks(sources, { PreToolUse: [{ hooks: [guard] }] }))).toEqual(['user', 'project', 'local', 'guard', 'managed']);
  });
});

describe('switching hooks off', () => {
  const guard = () => undefined;
  const managed = (settings: object): HookSource => ({ scope: 'managed', settings: { hooks: bash(command('managed')), ...settings } });
  const callbacks = { PreToolUse: [{ hooks: [guard] }] };

  it('disableAllHooks of a project leaves managed hooks and hooks in code', () => {
    expect(names(loadHooks([project({ disableAllHooks: true, hooks: bash(command('project')) }), managed({})], callbacks))).toEqual([
      'guard',
      'managed',
    ]);
  });
  it('a stronger scope overrules disableAllHooks', () => {
    const local: HookSource = { scope: 'localSettings', settings: { disableAllHooks: false } };
    expect(names(loadHooks([local, project({ disableAllHooks: true, hooks: bash(command('project')) })]))).toEqual(['project']);
  });
  it('disableAllHooks of managed settings leaves none', () => {
    expect(names(loadHooks([project({ hooks: bash(command('project')) }), managed({ disableAllHooks: true })], callbacks))).toEqual([]);
  });
  it('allowManagedHooksOnly counts in managed settings only', () => {
    const files = project({ allowManagedHooksOnly: true, hooks: bash(command('project')) });
    expect(names(loadHooks([files, managed({})]))).toEqual(['project', 'managed']);
    expect(names(loadHooks([files, managed({ allowManagedHooksOnly: true })], callbacks))).toEqual(['guard', 'managed']);
  });
});

describe('choosing handlers', () => {
  it('starts nothing and asks nothing where no hook matches', async () => {
    const { runner, run, runs } = rig({ hooks: preToolUse('exit 2') });
    expect(runner.isConfigured('PreToolUse', 'Bash')).toBe(true);
    expect(runner.isConfigured('PreToolUse', 'Read')).toBe(false);
    expect(runner.isConfigured('PostToolUse', 'Bash')).toBe(false);
    const result = await run({ ...bashCall(), subject: 'Read' });
    expect(result.verdict).toEqual({ behavior: 'passthrough' });
    expect(runs).toEqual([]);
  });

  it('runs the same handler of several files once, and keeps it a guard if one of them made it so', async () => {
    const config = loadHooks([
      project({ hooks: bash(command('echo x >> ran; exit 1', { onFailure: 'block' })) }),
      { scope: 'userSettings', settings: { hooks: bash(command('echo x >> ran; exit 1', { timeout: 5 })) } },
      { scope: 'localSettings', settings: { hooks: { PreToolUse: [{ hooks: [command('echo x >> ran; exit 1', { async: true })] }] } } },
    ]);
    const { dir } = rig({});
    const runner = createHookRunner({ config, context: { sessionId: 's', transcriptPath: 't', cwd: () => dir, projectDir: dir } });
    const result = await runner.run(bashCall(), { signal: new AbortController().signal });
    expect(readFileSync(join(dir, 'ran'), 'utf8')).toBe('x\n');
    expect(result.runs).toHaveLength(1);
    expect(result.verdict.behavior).toBe('deny');
  });

  it('runs a handler with "once" one time, even for calls at the same time', async () => {
    const { run, runner, dir } = rig({ hooks: preToolUse({ command: 'echo x >> ran', once: true }) });
    await Promise.all([run(bashCall()), run(bashCall())]);
    await run(bashCall());
    expect(readFileSync(join(dir, 'ran'), 'utf8')).toBe('x\n');
    expect(runner.isConfigured('PreToolUse', 'Bash')).toBe(false);
  });

  it('holds "if" against the call, and runs the hook when the rule cannot be judged', async () => {
    const asked: unknown[] = [];
    const answers: Record<string, boolean | 'unknown'> = { 'Bash(rm *)': false, 'Bash(git *)': true, 'Bash(x)': 'unknown' };
    const matchesRule = (rule: string, tool: string, input: object) => {
      asked.push([rule, tool, input]);
      const answer = answers[rule];
      if (answer === undefined) throw new Error('bad rule');
      return answer;
    };
    const rules = ['Bash(rm *)', 'Bash(git *)', 'Bash(x)', 'Bash((('];
    const { run } = rig({ hooks: preToolUse(...rules.map((rule, n) => ({ command: `true ${n}`, if: rule }))), ports: { matchesRule } });
    const result = await run(bashCall('git push'));
    expect(result.runs.map((entry) => entry.name)).toEqual(['true 1', 'true 2', 'true 3']);
    expect(asked[0]).toEqual(['Bash(rm *)', 'Bash', { command: 'git push' }]);
    expect(result.notices).toEqual([expect.stringContaining('could not be judged (bad rule.)')]);
  });
});

const data = resolve(import.meta.dirname, '../../../shared/data/settings');
describe.skipIf(!existsSync(data))('settings files of others (skipped: ../shared/data/settings is absent)', () => {
  const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
  const valid = existsSync(data) ? readdirSync(join(data, 'valid')) : [];

  it.each(valid)('%s loads without errors or unknown names', (file) => {
    const { issues } = loadHooks([{ scope: 'projectSettings', file, settings: read(join(data, 'valid', file)) }]);
    expect(issues.filter((issue) => issue.severity !== 'note' && !/"if" has|"agent"/.test(issue.message))).toEqual([]);
  });

  it.each([
    ['additional-properties-hook.json', 'hooks.PreToolUse[0].extraField', 'Unknown field'],
    ['additional-properties-hook.json', 'hooks.PreToolUse[0].hooks[0].unknownProperty', 'Unknown field'],
    ['invalid-hook-shell.json', 'hooks.PreToolUse[0].hooks[0].shell', 'bash'],
    ['invalid-hook-type.json', 'hooks.PreToolUse[0].hooks[0].type', '"command"'],
    ['invalid-timeout-value.json', 'hooks.PreToolUse[0].hooks[0].timeout', 'more than 0'],
    ['missing-required-hook-fields.json', 'hooks.PostToolUse[0].hooks[0].command', 'missing'],
    ['missing-required-hook-fields.json', 'hooks.PostToolUse[0].hooks[1].server', 'missing'],
    ['wrong-property-types.json', 'hooks.PreToolUse[0].hooks[0].async', 'boolean'],
  ])('%s is reported at %s', (file, path, reason) => {
    const { issues } = loadHooks([{ scope: 'projectSettings', file, settings: read(join(data, 'invalid', file)) }]);
    expect(issues).toContainEqual(expect.objectContaining({ file, path, message: expect.stringContaining(reason) }));
  });
});
