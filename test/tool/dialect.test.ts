import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { z as zodThree } from 'zod/v3';
import type { JsonObject } from '../../src/json.js';
import { anyObjectInput, buildTool } from '../../src/tool/build.js';
import { inCurrentDialect } from '../../src/tool/dialect.js';
import { toolInputJSONSchema } from '../../src/tool/input-schema.js';
import { parseToolInput } from '../../src/tool/parse-input.js';
import { assembleToolPool } from '../../src/tool/pool.js';

const remote = (inputJSONSchema: JsonObject, name = 'mcp__s__t') =>
  buildTool({ name, description: 'test', inputSchema: anyObjectInput, inputJSONSchema, call: async () => ({ data: '' }) });
const sent = (properties: JsonObject, more: JsonObject = {}) => toolInputJSONSchema(remote({ type: 'object', properties, ...more }));
const takes = (tool: ReturnType<typeof remote>, value: unknown) => parseToolInput(tool, value).ok;

describe('a schema of an older dialect', () => {
  it('is sent as 2020-12, the only one that the API takes', () => {
    const schema: JsonObject = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {
        pair: {
          type: 'array',
          items: [{ type: 'string' }, { $schema: 'http://json-schema.org/draft-04/schema#', type: 'number' }],
          additionalItems: false,
        },
        above: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
        again: { $ref: '#/properties/pair/items/1' },
        items: { type: 'string', default: null, enum: ['x', 'y'] },
      },
      dependencies: { above: ['pair'], again: { required: ['items'] } },
      required: ['pair', 'pair'],
      description: null,
    };
    const tool = remote(schema);
    expect(toolInputJSONSchema(tool)).toEqual({
      type: 'object',
      properties: {
        pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
        above: { type: 'number', exclusiveMinimum: 0, maximum: 9 },
        again: { $ref: '#/$defs/moved1' },
        items: { type: 'string', default: null, enum: ['x', 'y'] },
      },
      dependentRequired: { above: ['pair'] },
      dependentSchemas: { again: { required: ['items'] } },
      required: ['pair'],
      $defs: { moved1: { type: 'number' } },
    });
    expect(takes(tool, { pair: ['a', 1], above: 9 })).toBe(true);
    expect(takes(tool, { pair: ['a', 1, 2] })).toBe(false);
    expect(takes(tool, { pair: ['a', 1], above: 0 })).toBe(false);
    expect(takes(tool, { pair: ['a', 1], again: 1 })).toBe(false);
  });

  it('marks what is required beside the property or in its object: both count', () => {
    const tool = remote({ type: 'object', properties: { a: { type: 'string', required: true }, b: { type: 'string', required: false } } });
    expect(toolInputJSONSchema(tool)).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      required: ['a'],
    });
    expect(takes(tool, { a: 'x' })).toBe(true);
    expect(parseToolInput(tool, {})).toMatchObject({ message: expect.stringContaining('`a` is required') });
  });

  it('keeps the parts that references name by a place which the folding takes away', () => {
    const tool = remote({
      oneOf: [
        { type: 'object', properties: { a: { type: 'string' }, tree: { type: 'array', items: { $ref: '#/oneOf/0/properties/tree' } } } },
        { type: 'object', properties: { b: { $ref: '#/oneOf/0/properties/a' } }, required: ['b'] },
      ],
    });
    expect(toolInputJSONSchema(tool)).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, tree: { type: 'array', items: { $ref: '#/$defs/moved1' } }, b: { $ref: '#/$defs/moved2' } },
      $defs: { moved1: { type: 'array', items: { $ref: '#/$defs/moved1' } }, moved2: { type: 'string' } },
    });
  });

  it('gives a part that moves a name that no other has', () => {
    const tool = remote({
      oneOf: [
        { type: 'object', properties: { a: { type: 'string' }, b: { $ref: '#/oneOf/0/properties/a' }, c: { $ref: '#/$defs/moved1' } } },
      ],
      $defs: { moved1: { type: 'number' } },
    });
    expect(takes(tool, { b: 'x', c: 1 })).toBe(true);
    expect(toolInputJSONSchema(tool)).toMatchObject({ $defs: { moved1: { type: 'number' }, moved1_: { type: 'string' } } });
  });

  it('takes a tuple of nothing for any array, as its generator does', () => {
    const tool = remote({ type: 'object', properties: { list: { type: 'array', items: [] } } });
    expect(toolInputJSONSchema(tool)).toMatchObject({ properties: { list: { type: 'array' } } });
    expect(takes(tool, { list: [1, 'a'] })).toBe(true);
  });

  it('accepts the same values in the words of today', () => {
    const old = new Ajv({ strict: false });
    const current = new Ajv2020({ strict: false });
    const leaf = fc.constantFrom<JsonObject>({ type: 'number' }, { type: 'string' }, { const: null }, { enum: [1, 'a'] });
    const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        fc.record({
          type: fc.constant('array'),
          items: fc.array(tie('schema'), { maxLength: 2 }),
          additionalItems: fc.oneof(fc.boolean(), tie('schema')),
        }),
        fc.record({
          properties: fc.record({ a: tie('schema'), b: tie('schema') }),
          dependencies: fc.record({ a: fc.oneof(fc.constant(['b']), tie('schema')) }),
        }),
        fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
      ) as fc.Arbitrary<JsonObject>,
    }));
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.record({ a: fc.jsonValue({ maxDepth: 1 }), b: fc.constantFrom(1, 'a', null) }, { requiredKeys: [] }),
      fc.array(fc.constantFrom(1, 'a', null)),
    );
    fc.assert(
      fc.property(schema, fc.array(value, { maxLength: 5 }), (one, values) => {
        // A validator of draft-07 refuses an empty tuple.
        fc.pre(!JSON.stringify(one).includes('"items":[]'));
        const byOld = old.compile(one);
        const byCurrent = current.compile(inCurrentDialect(one));
        for (const given of values) expect(byCurrent(given)).toBe(byOld(given));
      }),
      { numRuns: 200 },
    );
  });
});

describe('a schema that the API would refuse', () => {
  it.each<[string, JsonObject, string]>([
    ['a property name of other characters', { $filter: { type: 'string' } }, '"$filter"'],
    ['a property name that is too long', { ['x'.repeat(65)]: {} }, '"xxx'],
    ['a type that is none', { a: { type: 'any' } }, 'schema/properties/a/type'],
    ['a bound that is a text', { a: { minimum: '1' } }, 'schema/properties/a/minimum'],
  ])('costs its own tool alone: %s', (_, properties, said) => {
    const pool = assembleToolPool({
      base: [],
      mcpTools: [remote({ type: 'object', properties }, 'mcp__s__odd'), remote({ type: 'object' }, 'mcp__s__good')],
    });
    expect(pool.tools.map(({ name }) => name)).toEqual(['mcp__s__good']);
    expect(pool.warnings).toEqual([expect.stringContaining(said)]);
    expect(pool.warnings[0]).toContain('mcp__s__odd');
  });

  it('is told from a schema of another library', () => {
    const three: unknown = zodThree.object({ a: zodThree.string() });
    const tool = buildTool({ name: 'Old', description: 'test', inputSchema: three as z.ZodType<object>, call: async () => ({ data: '' }) });
    expect(assembleToolPool({ base: [], custom: [tool] }).warnings).toEqual([expect.stringContaining('not a schema of zod 4')]);
  });
});

describe('a pattern', () => {
  it('need not be one of JavaScript in its strictest form for its tool to be there', () => {
    const tool = remote({
      type: 'object',
      properties: { day: { type: 'string', pattern: '^\\d{4}\\-\\d{2}$' }, word: { type: 'string', pattern: '^(?i)[a-z]+\\Z' } },
    });
    expect(assembleToolPool({ base: [], mcpTools: [tool] }).warnings).toEqual([]);
    expect(takes(tool, { day: '2026-11', word: '1' })).toBe(true);
    expect(takes(tool, { day: '2026/11' })).toBe(false);
    expect(sent({ day: { type: 'string', pattern: '\\-' } })).toMatchObject({ properties: { day: { pattern: '\\-' } } });
  });
});
