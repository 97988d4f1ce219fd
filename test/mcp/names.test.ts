import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalMcpName, mcpToolName } from '../../src/mcp/index.js';

const API_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

describe('the name of an MCP tool', () => {
  it('is mcp__server__tool where that fits', () => {
    expect(mcpToolName({ server: 'memory', tool: 'create_entities' })).toBe('mcp__memory__create_entities');
    expect(mcpToolName({ server: 'memory', tool: 'a__b' })).toBe('mcp__memory__a__b');
  });

  it('keeps two long names apart that differ only at their end', () => {
    const server = 'a3c1e2d4-0000-4000-8000-123456789abc';
    const one = mcpToolName({ server, tool: 'slack_search_public_and_private' });
    const two = mcpToolName({ server, tool: 'slack_search_public_and_private_v2' });
    expect(one).toMatch(API_NAME);
    expect(two).toMatch(API_NAME);
    expect(one).not.toBe(two);
    expect(canonicalMcpName({ server, tool: 'slack_search_public_and_private' })).toBe(`mcp__${server}__slack_search_public_and_private`);
  });

  it('keeps servers apart that differ only by a replaced character', () => {
    const names = ['a.b', 'a_b', 'a/b', 'a b', 'aéb', 'a-b'].map((server) => mcpToolName({ server, tool: 'run' }));
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(API_NAME);
  });

  it('keeps apart what would join to the same text', () => {
    const pairs = [
      { server: 'a', tool: 'b__c' },
      { server: 'a__b', tool: 'c' },
      { server: 'a_', tool: 'b' },
      { server: 'a', tool: '_b' },
    ];
    expect(new Set(pairs.map((pair) => mcpToolName(pair))).size).toBe(pairs.length);
  });

  it('is a limit that can be set', () => {
    expect(mcpToolName({ server: 'a-server', tool: 'a_tool_with_a_name' }, 32)).toHaveLength(32);
    expect(mcpToolName({ server: 's'.repeat(60), tool: 't'.repeat(60) }, 128)).toBe(
      `mcp__${'s'.repeat(60)}__${'t'.repeat(60)}`.slice(0, 128),
    );
  });

  it('fits the API, is the same every time, and belongs to one tool alone', () => {
    const part = fc.oneof(fc.string({ minLength: 1, maxLength: 60 }), fc.stringMatching(/^[ab._]{1,6}$/), fc.stringMatching(/^[a_]{1,4}$/));
    const identity = fc.record({ server: part, tool: part });
    fc.assert(
      fc.property(fc.array(identity, { minLength: 2, maxLength: 12 }), (identities) => {
        const byName = new Map<string, string>();
        for (const one of identities) {
          const name = mcpToolName(one);
          expect(name).toMatch(API_NAME);
          expect(mcpToolName({ ...one })).toBe(name);
          const exact = JSON.stringify([one.server, one.tool]);
          expect(byName.get(name) ?? exact).toBe(exact);
          byName.set(name, exact);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('never takes the form that a shortened name has', () => {
    const shortened = mcpToolName({ server: 'a.b', tool: 't' });
    const twin = shortened.replace('mcp__a_b__', '');
    expect(mcpToolName({ server: 'a_b', tool: twin })).not.toBe(shortened);
  });
});
