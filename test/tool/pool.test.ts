import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildTool } from '../../src/tool/build.js';
import { closest, editDistance } from '../../src/tool/closest.js';
import { toolInputJSONSchema } from '../../src/tool/input-schema.js';
import { assembleToolPool, closeNames, findTool, getAllBaseTools } from '../../src/tool/pool.js';

const tool = (name: string, extra: { aliases?: string[]; isEnabled?: () => boolean } = {}) =>
  buildTool({ name, description: 'test', inputSchema: z.strictObject({}), call: async () => ({ data: name }), ...extra });

describe('a tool pool', () => {
  it('is ordered by name, built-in tools before those of servers, whatever the order given', () => {
    const base = [tool('Write'), tool('Bash'), tool('Read')];
    const mcpTools = [tool('mcp__b__x'), tool('mcp__a__y')];
    const names = (pool: { tools: readonly { name: string }[] }) => pool.tools.map(({ name }) => name);
    const expected = ['Bash', 'Read', 'Write', 'mcp__a__y', 'mcp__b__x'];
    expect(names(assembleToolPool({ base, mcpTools }))).toEqual(expected);
    expect(names(assembleToolPool({ base: base.toReversed(), mcpTools: mcpTools.toReversed() }))).toEqual(expected);
  });

  it('keeps the built-in tool on a name clash and says so', () => {
    const own = tool('Read');
    const pool = assembleToolPool({ base: [own], custom: [tool('Read')], mcpTools: [tool('Read')] });
    expect(pool.tools).toEqual([own]);
    expect(pool.warnings).toHaveLength(2);
  });

  it('shows no tool that is hidden by a bare deny rule, nor one that is switched off', () => {
    const base = [tool('Bash'), tool('Read'), tool('Off', { isEnabled: () => false })];
    const pool = assembleToolPool({ base, hidden: (name) => name === 'Bash' });
    expect(pool.tools.map(({ name }) => name)).toEqual(['Read']);
  });

  it('finds a tool by a former name, the present one first', () => {
    const pool = [tool('New', { aliases: ['Old', 'Read'] }), tool('Read')];
    expect(findTool(pool, 'Old')?.name).toBe('New');
    expect(findTool(pool, 'Read')?.name).toBe('Read');
    expect(findTool(pool, 'constructor')).toBeUndefined();
  });

  it('knows what a wrong name may have meant', () => {
    const pool = ['Read', 'Edit', 'NotebookEdit', 'Bash', 'mcp__github__list_issues'].map((name) => tool(name));
    expect(closeNames(pool, 'read')).toEqual(['Read']);
    expect(closeNames(pool, 'Edti')).toEqual(['Edit']);
    expect(closeNames(pool, 'list_issues')).toEqual(['mcp__github__list_issues']);
    expect(closeNames(pool, 'zzzzzz')).toEqual([]);
  });
});

describe('the built-in tools', () => {
  it('have names and schemas that the API takes, and say whether they may run side by side', () => {
    const tools = getAllBaseTools();
    expect(tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name).toSorted());
    for (const builtIn of tools) {
      expect(builtIn.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      const schema = toolInputJSONSchema(builtIn);
      expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
      for (const keyword of ['oneOf', 'anyOf', 'allOf', '$schema']) expect(schema).not.toHaveProperty(keyword);
      expect(builtIn.prompt().length).toBeGreaterThan(20);
    }
  });

  it('are the same from turn to turn, since they keep state by session', () => {
    expect(getAllBaseTools()).toBe(getAllBaseTools());
    expect(assembleToolPool().tools[0]).toBe(assembleToolPool().tools[0]);
    expect(getAllBaseTools({ worktrees: true }).map(({ name }) => name)).toContain('EnterWorktree');
  });

  it('default to the careful side', () => {
    const plain = tool('Plain');
    expect(plain.isConcurrencySafe({})).toBe(false);
    expect(plain.isReadOnly({})).toBe(false);
    expect(plain.isDestructive({})).toBeUndefined();
    expect(plain).toMatchObject({ interruptBehavior: 'block', idempotent: false, shouldDefer: false, maxResultSizeChars: 50_000 });
  });
});

it('measures distance with swaps of neighbours as one step', () => {
  expect(editDistance('', 'abc')).toBe(3);
  expect(editDistance('abcd', 'abdc')).toBe(1);
  expect(editDistance('kitten', 'sitting')).toBe(3);
  expect(closest('treshold', ['threshold', 'thread'])).toEqual(['threshold']);
});
