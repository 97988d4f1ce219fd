import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { explainCommand } from '../../src/cli/explain.js';
import { Workspace } from './workspace.js';

let space: Workspace;
beforeEach(() => {
  space = new Workspace();
});
afterEach(() => space.remove());

async function run(args: readonly string[], stdin = ''): Promise<{ output: string; errors: string }> {
  const [output, errors] = [new PassThrough(), new PassThrough()];
  const command = explainCommand({ input: Readable.from([stdin]), output, errors })
    .exitOverride()
    .configureOutput({ writeErr: (message) => errors.write(message) });
  try {
    await command.parseAsync(['--cwd', space.cwd, '--home', space.home, '--managed', '/nowhere', ...args], { from: 'user' });
  } catch (error) {
    errors.write(String(error));
  }
  output.end();
  errors.end();
  return { output: await text(output), errors: await text(errors) };
}

describe('sixgates explain', () => {
  it('prints the verdict, the rule with file and line, every check, and what has no effect', async () => {
    const file = space.settings('team.json', { permissions: { allow: ['Bash(git push origin main)'], deny: ['Bash(git push *)'] } });
    const { output, errors } = await run(['Bash(git push origin main)', '--settings', file]);
    expect(errors).toBe('');
    expect(output).toBe(
      [
        'deny  Bash(git push origin main)',
        `  Matches deny rule Bash(git push *) of ${file}:7, for "git push origin main"`,
        '',
        'Checks, in order:',
        `  checkingDenyRule  deny   Matches deny rule Bash(git push *) of ${file}:7, for "git push origin main"`,
        '',
        'Rules without effect here:',
        `  allow rule Bash(git push origin main) of ${file}:4, below deny rule Bash(git push *)`,
        '',
      ].join('\n'),
    );
  });

  it('prints one JSON object on request', async () => {
    const { output } = await run(['Read(/etc/hosts)', '--json']);
    expect(JSON.parse(output)).toMatchObject({
      decision: 'ask',
      winner: { check: 'findingNothingThatAllows', source: { type: 'mode', mode: 'default' } },
    });
    expect(JSON.parse((await run(['Read(/etc/hosts)', '--json', '--nobody'])).output)).toMatchObject({
      decision: 'deny',
      winner: { source: { type: 'nobody' } },
    });
    expect(JSON.parse((await run(['mcp__a__b({"x": 1})', '--json', '--mode', 'bypassPermissions'])).output)).toMatchObject({
      decision: 'allow',
    });
  });

  it('answers line by line, in order, whatever a line holds', async () => {
    space.settings('~/.claude/settings.json', { permissions: { deny: ['WebSearch'] } });
    const lines = [
      '{"tool":"Bash","input":{"command":"ls"}}',
      'nonsense',
      '{"tool":"WebSearch","input":{"query":"q"}}',
      '{"tool":1}',
      '',
      '{"tool":"Bash","input":[]}',
      '{"tool":"Bash","input":{}}',
    ];
    const { output } = await run(['--jsonl'], `${lines.join('\n')}\n`);
    const answers = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.map((answer) => answer.decision ?? answer.error)).toEqual([
      'allow',
      'The line is not a JSON object',
      'deny',
      'The field "tool" must be the name of a tool',
      'The line is not a JSON object',
      'The field "input" must be a JSON object',
      'ask',
    ]);
    expect(answers[2]).toMatchObject({
      winner: { source: { rule: { text: 'WebSearch', file: space.path('~/.claude/settings.json'), line: 4 } } },
    });
  });

  it('looks at commands that hide what they run as strictly, or as leniently, as it is told', async () => {
    space.settings('.claude/settings.json', { permissions: { allow: ['Bash(*)'], deny: ['Bash(rm *)'] } });
    const decisionOf = async (...flags: string[]): Promise<unknown> =>
      JSON.parse((await run(['Bash(eval rm a)', '--json', ...flags])).output).decision;
    expect(await decisionOf()).toBe('deny');
    expect(await decisionOf('--opaque', 'strict')).toBe('deny');
    expect(await decisionOf('--opaque', 'claude-code')).toBe('allow');
    expect((await run(['Bash(ls)', '--opaque', 'lax'])).errors).toMatch(/--opaque.*'lax'.*strict, claude-code/s);
  });

  it('takes the mode from the settings unless it is given', async () => {
    space.settings('.claude/settings.json', { permissions: { defaultMode: 'acceptEdits' } });
    const decision = async (...flags: string[]) => JSON.parse((await run(['Write(n.txt)', '--json', ...flags])).output).decision;
    expect([await decision(), await decision('--mode', 'default'), await decision('--mode', 'dontAsk')]).toEqual(['allow', 'ask', 'deny']);
  });

  it('ignores what a project allows itself as long as it is not trusted', async () => {
    space.settings('.claude/settings.json', { permissions: { allow: ['Bash(make)'], deny: ['Bash(rm:*)'] } });
    const untrusted = await run(['Bash(make)', '--json', '--untrusted']);
    expect(JSON.parse(untrusted.output).decision).toBe('ask');
    expect(untrusted.errors).toContain('not trusted');
    expect(JSON.parse((await run(['Bash(rm x)', '--json', '--untrusted'])).output).decision).toBe('deny');
    expect(JSON.parse((await run(['Bash(make)', '--json'])).output).decision).toBe('allow');
  });

  it('says what is wrong with a call, a mode or a file', async () => {
    expect((await run([])).errors).toContain('name a call');
    expect((await run(['Bash(ls'])).errors).toContain('the closing parenthesis is missing');
    expect((await run(['TodoWrite(x)'])).errors).toContain('must be JSON');
    expect((await run(['Bash(ls)', '--mode', 'yolo'])).errors).toContain('Modes: default');
    expect((await run(['Bash(ls)', '--settings', '/nowhere/s.json'])).errors).toContain(
      '/nowhere/s.json: The file cannot be read (ENOENT)',
    );
    expect((await run(['Read({"file_path": "a)'])).errors).toContain('begins like JSON and is none');
    expect((await run(['Bash(ls)', '--cwd', '/nowhere'])).errors).toContain('--cwd /nowhere: /nowhere cannot be used');
  });

  it('answers nothing for a named settings file that does not hold as a whole', async () => {
    const file = space.settings('team.json', { permissions: { allow: ['Bash(*)'], deny: ['Bash(rm *'] } });
    const { output, errors } = await run(['Bash(rm a)', '--settings', file]);
    expect(output).toBe('');
    expect(errors).toMatch(/--settings: error: .*team\.json:\d+: permissions\.deny\[0\]/);
  });
});
