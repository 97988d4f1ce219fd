import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { type Script, text, toolUse } from '../../src/testing/index.js';
import { scene, tempDir } from '../support/sessions.js';

/** A session with the built-in tools in a project with these hooks. */
async function project(hooks: JsonObject, script: Script) {
  const cwd = tempDir();
  mkdirSync(join(cwd, '.claude'));
  writeFileSync(join(cwd, '.claude/settings.json'), JSON.stringify({ hooks }));
  writeFileSync(join(cwd, 'notes.txt'), 'one\n');
  return scene(script, { cwd, builtInTools: true, settings: { home: tempDir() }, permissions: { mode: 'bypassPermissions' } });
}
const command = (line: string, more: JsonObject = {}) => ({ hooks: [{ type: 'command', command: line, ...more }] });
const prints = (answer: JsonObject) => `cat > /dev/null; echo '${JSON.stringify(answer)}'`;
const call = (tool: string, input: JsonObject): Script => [[toolUse(tool, input, { id: 't1' })], [text('done')]];

describe('the condition "if" of a hook in a session', () => {
  it.each([
    ['Bash(git push *)', 'Bash', { command: 'cd . && FOO=1 git push origin' }, true],
    ['Bash(git push *)', 'Bash', { command: 'echo "git push origin"' }, false],
    ['Bash(rm *)', 'Bash', { command: 'echo $(rm -f gone)' }, true],
    ['Bash(git push *)', 'Write', { file_path: 'new.txt', content: 'x' }, false],
    ['Edit(/*.txt)', 'Write', { file_path: 'new.txt', content: 'x' }, true],
    ['Edit(/src/**)', 'Write', { file_path: 'new.txt', content: 'x' }, false],
    ['Bash', 'Bash', { command: 'echo x' }, true],
  ])('%s holds of %s %j: %s', async (rule, tool, input, holds) => {
    const made = await project({ PreToolUse: [command('echo held >&2; exit 2', { if: rule })] }, call(tool, input));
    await made.session.send('go').done;
    expect(made.results().get('t1')?.isError).toBe(holds);
    expect(made.of('hook.run')).toHaveLength(holds ? 1 : 0);
  });

  it('that cannot be judged runs the hook, and says so', async () => {
    const made = await project({ PreToolUse: [command('echo held >&2; exit 2', { if: 'Bash(' })] }, call('Bash', { command: 'echo x' }));
    await made.session.send('go').done;
    expect(made.results().get('t1')).toEqual({ text: 'held', isError: true });
    expect(made.of('notice').map(({ message }) => message)).toContainEqual(expect.stringContaining('could not be judged'));
  });
});

describe('a prompt hook in a session', () => {
  const judged =
    (judgement: JsonObject): Script =>
    (request) => {
      const asked = JSON.stringify(request.body.messages);
      if (asked.includes('Is this safe?')) return [text(JSON.stringify(judgement))];
      return asked.includes('tool_result') ? [text('done')] : [toolUse('Bash', { command: 'echo ran' }, { id: 't1' })];
    };
  const hooks = {
    PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'prompt', prompt: 'Is this safe? $ARGUMENTS', continueOnBlock: true }] }],
  };

  it('asks the session\u2019s model, and its no refuses the call', async () => {
    const made = await project(hooks, judged({ ok: false, reason: 'not today' }));
    expect((await made.session.send('go').done).end).toBe('completed');
    expect(made.results().get('t1')).toEqual({ text: 'not today', isError: true });
  });

  it('lets the call run with its yes', async () => {
    const made = await project(hooks, judged({ ok: true }));
    await made.session.send('go').done;
    expect(made.results().get('t1')).toEqual({ text: 'ran', isError: false });
  });
});

describe('what a hook adds', () => {
  it('beyond what the model should read at once is kept in a file', async () => {
    const answer = { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'z'.repeat(40_000) } };
    const made = await project({ PostToolUse: [command(prints(answer))] }, call('Bash', { command: 'echo x' }));
    await made.session.send('go').done;
    const told = JSON.stringify(made.server.requests.at(-1)?.body.messages);
    const path = /characters\) is in (\S+?)\. It begins/.exec(told)?.[1] ?? '';
    expect(readFileSync(path, 'utf8')).toBe('z'.repeat(40_000));
    expect(told.length).toBeLessThan(10_000);
  });
});

describe('a PostToolUse hook that puts something in place of the output', () => {
  const replaces = (updatedToolOutput: JsonObject | string | number | null | []) =>
    prints({ hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput } });

  it.each<[string, JsonObject, JsonObject | string | number | null | []]>([
    ['Bash', { command: 'echo REAL' }, 'instead'],
    ['Bash', { command: 'echo REAL' }, 5],
    ['Bash', { command: 'echo REAL' }, null],
    ['Bash', { command: 'echo REAL' }, { text: 'instead' }],
    ['Read', { file_path: 'notes.txt' }, 'instead'],
    ['Grep', { pattern: 'one', output_mode: 'content' }, {}],
    ['Glob', { pattern: '*.txt' }, []],
  ])('never takes the real output of %s %j away with %j, which does not fit', async (tool, input, value) => {
    const made = await project({ PostToolUse: [command(replaces(value))] }, call(tool, input));
    await made.session.send('go').done;
    expect(made.results().get('t1')).toEqual({ text: expect.stringMatching(/REAL|one|notes\.txt/), isError: false });
    expect(made.of('notice').map(({ message }) => message)).toContainEqual(expect.stringContaining('The real output is delivered'));
  });

  it.each([{ stdout: 'instead' }, { stdout: 'instead', stderr: '', interrupted: false }])('of Bash with %j is obeyed', async (value) => {
    const made = await project({ PostToolUse: [command(replaces(value))] }, call('Bash', { command: 'echo REAL' }));
    await made.session.send('go').done;
    expect(made.results().get('t1')).toEqual({ text: 'instead', isError: false });
  });

  it('of a built-in tool as if it were an MCP tool changes nothing, and is told', async () => {
    const answer = { hookSpecificOutput: { hookEventName: 'PostToolUse', updatedMCPToolOutput: 'instead' } };
    const made = await project({ PostToolUse: [command(prints(answer))] }, call('Bash', { command: 'echo REAL' }));
    await made.session.send('go').done;
    expect(made.results().get('t1')?.text).toBe('REAL');
    expect(made.of('notice').map(({ message }) => message)).toContainEqual(expect.stringContaining('for tools of MCP servers'));
  });
});
