import { describe, expect, it } from 'vitest';
import { describeInputChange, postToolUsePayload } from '../../src/hooks/index.js';
import { bashCall, decides, preToolUse, prints, rig } from './support.js';

const rewrite = (command: string) => decides('allow', { updatedInput: { command } });

describe('updatedInput', () => {
  const modifier = prints(rewrite('echo NEW'));
  it.each([
    ['first, the other slower', [modifier, `sleep 0.3; ${prints({})}`]],
    ['first, the other faster', [`sleep 0.3; ${modifier}`, prints({})]],
    ['last, the other slower', [`sleep 0.3; ${prints({})}`, modifier]],
    ['last, the other faster', ['cat >/dev/null', `sleep 0.3; ${modifier}`]],
  ])('survives a hook that says nothing about input: the modifier is %s', async (_, commands) => {
    const { run } = rig({ hooks: preToolUse(...commands) });
    const result = await run(bashCall('echo OLD'));
    expect(result.updatedInput?.value).toEqual({ command: 'echo NEW' });
    expect(result.verdict.behavior).toBe('allow');
  });

  it.each([
    ['slower', `sleep 0.3; ${prints(rewrite('one'))}`, prints(rewrite('two'))],
    ['faster', prints(rewrite('one')), `sleep 0.3; ${prints(rewrite('two'))}`],
  ])('of two modifiers is the last in configuration order, whole, and both are told: the first is %s', async (_, first, second) => {
    const { run } = rig({ hooks: preToolUse(first, second) });
    const result = await run(bashCall('echo OLD', { timeout: 5 }));
    expect(result.updatedInput).toMatchObject({ value: { command: 'two' }, hookName: `${second.slice(0, 79)}…` });
    expect(result.runs.map((entry) => entry.wrote)).toEqual([['updatedInput'], ['updatedInput']]);
    expect(result.notices.join()).toContain('2 hooks set "updatedInput"');
    expect(result.notices.join()).toContain('{"command":"one"}');
  });

  it('replaces the whole input and the dropped keys are named', async () => {
    const { run } = rig({ hooks: preToolUse(prints(rewrite('sleep 180 # x'))) });
    const result = await run(bashCall('sleep 180', { timeout: 600_000, run_in_background: false }));
    expect(result.updatedInput).toMatchObject({
      value: { command: 'sleep 180 # x' },
      change: { dropped: ['timeout', 'run_in_background'], changed: ['command'], added: [] },
    });
    expect(result.notices.join()).toContain('dropped: timeout, run_in_background');
  });

  it.each([[{ dangerouslyDisableSandbox: true }], ['rm -rf x'], [[1]]])(
    'is handed on as it is for the schema to judge: %j',
    async (updatedInput) => {
      const { run } = rig({ callbacks: { PreToolUse: [{ hooks: [() => decides('allow', { updatedInput })] }] } });
      const result = await run(bashCall());
      expect(result.updatedInput?.value).toEqual(updatedInput);
      expect(result.updatedInput?.change?.dropped).toEqual(['command']);
    },
  );

  it('that is null says nothing about the input', async () => {
    const { run } = rig({ callbacks: { PreToolUse: [{ hooks: [() => decides('allow', { updatedInput: null })] }] } });
    const result = await run(bashCall());
    expect([result.updatedInput, result.notices]).toEqual([undefined, []]);
  });

  it('without a decision changes the input and leaves the verdict to the rules', async () => {
    const { run } = rig({
      hooks: preToolUse(prints({ hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { command: 'x' } } })),
    });
    expect(await run(bashCall())).toMatchObject({ verdict: { behavior: 'passthrough' }, updatedInput: { value: { command: 'x' } } });
  });

  it('is ignored together with defer', async () => {
    const { run } = rig({ hooks: preToolUse(prints(decides('defer', { updatedInput: { command: 'x' } }))) });
    const result = await run(bashCall());
    expect(result.updatedInput).toBeUndefined();
    expect(result.verdict).toEqual({ behavior: 'passthrough', defer: true });
    expect(result.notices.join()).toContain('ignored together with "defer"');
  });

  it('of one callback cannot be seen or changed by another', async () => {
    const seen: unknown[] = [];
    const { run } = rig({
      callbacks: {
        PreToolUse: [
          {
            hooks: [
              (input) => {
                Object.assign(input.tool_input ?? {}, { command: 'mutated' });
                return undefined;
              },
              async (input) => {
                await Promise.resolve();
                seen.push(input.tool_input);
                return undefined;
              },
            ],
          },
        ],
      },
    });
    const request = bashCall('echo OLD');
    await run(request);
    expect(seen).toEqual([{ command: 'echo OLD' }]);
    expect(request.payload.tool_input).toEqual({ command: 'echo OLD' });
  });
});

describe('describeInputChange', () => {
  it('names dropped, changed and added keys', () => {
    expect(describeInputChange({ a: 1, b: { c: [1] }, d: 1 }, { b: { c: [1] }, a: 2, e: 1 })).toEqual({
      dropped: ['d'],
      changed: ['a'],
      added: ['e'],
    });
    expect(describeInputChange({ a: 1 }, 'text')).toEqual({ dropped: ['a'], changed: [], added: [] });
  });
});

describe('a replaced tool output', () => {
  const request = postToolUsePayload({ toolName: 'mcp__db__q', toolInput: {}, toolUseId: 't', toolResponse: { rows: 1 }, durationMs: 1 });
  const output = (value: unknown) => ({ hookSpecificOutput: { hookEventName: 'PostToolUse', ...(value as object) } });

  it('comes only from an explicit field', async () => {
    const { run } = rig({
      callbacks: { PostToolUse: [{ hooks: [() => ({}), () => undefined, () => output({ additionalContext: 'note' })] }] },
    });
    const result = await run(request);
    expect(result.updatedToolOutput).toBeUndefined();
    expect(result.updatedMCPToolOutput).toBeUndefined();
    expect(result.additionalContext).toEqual(['note']);
  });

  it('may be an empty text, and stays apart from the one for MCP tools', async () => {
    const { run } = rig({
      callbacks: { PostToolUse: [{ hooks: [() => output({ updatedToolOutput: '' }), () => output({ updatedMCPToolOutput: 'm' })] }] },
    });
    const result = await run(request);
    expect(result.updatedToolOutput?.value).toBe('');
    expect(result.updatedMCPToolOutput?.value).toBe('m');
  });
});
