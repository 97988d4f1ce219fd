import { describe, expect, it } from 'vitest';
import { loadHooks, postToolUsePayload, preToolUsePayload } from '../../src/hooks/index.js';
import { bashCall, decides, rig } from './support.js';

const guard = { type: 'command', command: 'echo no >&2; exit 2' } as const;
const load = (group: object, event = 'PreToolUse') =>
  loadHooks([{ scope: 'projectSettings', file: 'settings.json', settings: { hooks: { [event]: [group] } } }]);
const call = (toolName: string) => preToolUsePayload({ toolName, toolInput: {}, toolUseId: 'toolu_1' });

describe('a matcher that matches no tool although it names one', () => {
  it.each(['/Bash/', '!Read', 'Bash;Edit', 'Bash\n', '^bash$', 'Edit & Write', '"Bash"'])('is reported: %j', (matcher) => {
    expect(load({ matcher, hooks: [guard] }).issues).toEqual([
      expect.objectContaining({ severity: 'warning', path: 'hooks.PreToolUse[0].matcher', message: expect.stringContaining('matches no') }),
    ]);
  });
  it.each(['Bash', 'Edit|Write', '^(Edit|Write)$', '^(?!Read$)', 'Edit.*', 'mcp__bash__.*', 'MyTool', 'My.*Tool', '*', ''])(
    'is not when it matches, or may: %j',
    (matcher) => {
      expect(load({ matcher, hooks: [guard] }).issues).toEqual([]);
    },
  );
});

describe('a matcher with a former name of a tool', () => {
  it.each(['Task', 'Task|Edit', '^Task$'])('covers the tool: %s', async (matcher) => {
    const { run } = rig({ hooks: { PreToolUse: [{ matcher, hooks: [guard] }] } });
    expect((await run(call('Agent'))).verdict.behavior).toBe('deny');
    expect((await run(call('Write'))).verdict.behavior).toBe('passthrough');
  });
  it.each([
    ['^(?!Agent$)', 'Agent'],
    ['^(?!(Agent|TaskOutput)$)', 'Agent'],
    ['Bash.*', 'TaskOutput'],
  ])('is not one that the matcher leaves to a pattern: %s does not cover %s', async (matcher, tool) => {
    const { run } = rig({ hooks: { PreToolUse: [{ matcher, hooks: [guard] }] } });
    expect((await run(call(tool))).verdict.behavior).toBe('passthrough');
    expect((await run(call('Bash'))).verdict.behavior).toBe('deny');
  });
});

describe('null in a settings file', () => {
  it('is a field that was not given', async () => {
    const config = load({ matcher: null, hooks: [{ ...guard, timeout: null, if: null, args: null, async: null, statusMessage: null }] });
    expect(config.issues).toEqual([]);
    const { run } = rig({ hooks: { PreToolUse: [{ matcher: null, hooks: [{ ...guard, if: null }] }] } });
    expect((await run(bashCall())).verdict.behavior).toBe('deny');
  });
  it('does not stand for what is needed', () => {
    expect(load({ hooks: [{ type: 'command', command: null }] }).issues).toEqual([
      expect.objectContaining({ severity: 'error', message: expect.stringContaining('missing') }),
    ]);
  });
});

describe('several rules in one "if"', () => {
  it.each(['Bash(rm *)|Bash(mv *)', 'Bash(rm *), Edit', 'Bash(rm *) || Write(x)', 'Bash(rm *) or Edit(y)'])(
    'are reported, and the guard is on: %s',
    async (rule) => {
      expect(load({ hooks: [{ ...guard, if: rule }] }).issues).toEqual([
        expect.objectContaining({
          severity: 'warning',
          path: 'hooks.PreToolUse[0].hooks[0].if',
          message: expect.stringContaining('one rule'),
        }),
      ]);
      const { run } = rig({ hooks: { PreToolUse: [{ hooks: [{ ...guard, if: rule }] }] }, ports: { matchesRule: () => false } });
      expect((await run(bashCall())).verdict.behavior).toBe('deny');
    },
  );
  it.each(['Bash(a | b)', 'Bash((x) | y)', 'Bash(echo "(a), b")', 'Edit(src/{a,b}.ts)'])('are not seen in one: %s', async (rule) => {
    expect(load({ hooks: [{ ...guard, if: rule }] }).issues).toEqual([]);
    const { run } = rig({ hooks: { PreToolUse: [{ hooks: [{ ...guard, if: rule }] }] }, ports: { matchesRule: () => false } });
    expect((await run(bashCall())).verdict.behavior).toBe('passthrough');
  });
});

describe('an output of null', () => {
  it('takes nothing away', async () => {
    const answer = {
      hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: null, updatedMCPToolOutput: null, additionalContext: null },
    };
    const { run } = rig({ callbacks: { PostToolUse: [{ hooks: [() => answer] }] } });
    const result = await run(
      postToolUsePayload({ toolName: 'mcp__s__a', toolInput: {}, toolUseId: 'toolu_1', toolResponse: 'XYZ', durationMs: 1 }),
    );
    expect(result.updatedToolOutput).toBeUndefined();
    expect(result.updatedMCPToolOutput).toBeUndefined();
    expect(result.notices).toEqual([expect.stringContaining('The real output is delivered')]);
  });
});

describe('an empty "hookSpecificOutput"', () => {
  it('says nothing, of whatever event', async () => {
    const { run, runs } = rig({ callbacks: { PreToolUse: [{ onFailure: 'block', hooks: [() => ({ hookSpecificOutput: {} })] }] } });
    expect(await run(bashCall())).toMatchObject({ verdict: { behavior: 'passthrough' }, notices: [] });
    expect(runs[0]?.status).toBe('ok');
  });
});

describe('a reason', () => {
  it('reaches the model as its head when it is a flood', async () => {
    const long = 'x'.repeat(20_000);
    const { run } = rig({ callbacks: { PreToolUse: [{ hooks: [() => decides('deny', { permissionDecisionReason: long })] }] } });
    const { verdict } = await run(bashCall());
    expect(verdict.behavior).toBe('deny');
    expect(verdict.reason).toBe(`${'x'.repeat(10_000)}… [10000 more characters]`);
    const shell = rig({
      hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'head -c 30000 /dev/zero | tr "\\0" y >&2; exit 2' }] }] },
    });
    expect((await shell.run(bashCall())).verdict.reason).toBe(`${'y'.repeat(10_000)}… [20000 more characters]`);
  });
});

describe('an answer in UTF-16', () => {
  it('is told to be no answer', async () => {
    const answer = Buffer.from(JSON.stringify(decides('deny')), 'utf16le').toString('base64');
    const { run } = rig({
      hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: `printf '\\377\\376'; echo ${answer} | base64 -d` }] }] },
    });
    const { verdict, notices } = await run(bashCall());
    expect(verdict.behavior).toBe('passthrough');
    expect(notices).toEqual([expect.stringContaining('decided nothing')]);
  });
});
