import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../src/json.js';
import { anyObjectInput, buildTool } from '../../src/tool/build.js';
import { toolInputJSONSchema } from '../../src/tool/input-schema.js';
import { parseToolInput } from '../../src/tool/parse-input.js';
import { assembleToolPool } from '../../src/tool/pool.js';

const tool = (inputSchema: z.ZodType<object>, name = 'T') =>
  buildTool({ name, description: 'test', inputSchema, call: async () => ({ data: '' }) });
const remote = (inputJSONSchema: JsonObject, name = 'mcp__s__t') =>
  buildTool({ name, description: 'test', inputSchema: anyObjectInput, inputJSONSchema, call: async () => ({ data: '' }) });

const union = z.discriminatedUnion('op', [
  z.object({ op: z.literal('a'), x: z.string() }),
  z.object({ op: z.literal('b'), y: z.number() }),
]);

describe('the schema that is sent', () => {
  it('folds a discriminated union at the root into one object with the discriminator as an enum', () => {
    expect(toolInputJSONSchema(tool(union))).toEqual({
      type: 'object',
      properties: { op: { type: 'string', enum: ['a', 'b'] }, x: { type: 'string' }, y: { type: 'number' } },
      required: ['op'],
    });
  });

  it('while the original decides at run time', () => {
    expect(parseToolInput(tool(union), { op: 'b', x: 'x' })).toMatchObject({
      ok: false,
      message: expect.stringContaining('`y` is required'),
    });
    expect(parseToolInput(tool(union), { op: 'a', x: 'x' })).toMatchObject({ ok: true });
  });

  it.each<[string, z.ZodType<object>, JsonObject]>([
    [
      'a plain union',
      z.union([z.strictObject({ a: z.string(), c: z.string() }), z.strictObject({ b: z.number(), c: z.number() })]),
      {
        type: 'object',
        properties: { a: { type: 'string' }, c: { anyOf: [{ type: 'string' }, { type: 'number' }] }, b: { type: 'number' } },
        required: ['c'],
        additionalProperties: false,
      },
    ],
    [
      'an intersection',
      z.intersection(z.object({ a: z.string() }), z.object({ b: z.number().optional() })),
      { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['a'] },
    ],
    [
      'a refined object',
      z.object({ a: z.string() }).refine((value) => value.a !== ''),
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    ],
  ])('keeps the properties of %s', (_name, schema, expected) => {
    expect(toolInputJSONSchema(tool(schema))).toEqual(expected);
  });

  it('folds a root oneOf of a JSON Schema, follows its references and keeps its definitions', () => {
    const schema: JsonObject = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { id: { type: 'string' } },
      required: ['id'],
      oneOf: [{ $ref: '#/definitions/ByName' }, { type: 'object', properties: { mail: { type: 'string' } }, required: ['mail'] }],
      definitions: { ByName: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
    };
    const sent = toolInputJSONSchema(remote(schema));
    expect(sent).toEqual({
      type: 'object',
      properties: { id: { type: 'string' }, name: { type: 'string' }, mail: { type: 'string' } },
      required: ['id'],
      definitions: schema.definitions,
    });
    expect(parseToolInput(remote(schema), { id: '1' })).toMatchObject({ ok: false });
    expect(parseToolInput(remote(schema), { id: '1', mail: 'm' })).toMatchObject({ ok: true });
  });

  it('is in the form of the input and free of noise', () => {
    const schema = z.object({
      q: z.string(),
      n: z.number().optional(),
      d: z.number().int().default(3),
      z: z.string().nullable(),
      o: z.string().nullish(),
    });
    const sent = toolInputJSONSchema(tool(schema));
    expect(sent.required).toEqual(['q', 'z']);
    expect(JSON.stringify(sent)).not.toContain('900719925');
    expect(sent).not.toHaveProperty('$schema');
    expect(JSON.stringify(toolInputJSONSchema(tool(schema)))).toBe(JSON.stringify(sent));
  });

  it.each<[string, z.ZodType<object>, string]>([
    ['a date', z.object({ at: z.date() }), 'the date at at'],
    ['a map', z.object({ deep: z.object({ of: z.map(z.string(), z.number()) }) }), 'the map at deep.of'],
    ['a big integer', z.object({ ids: z.array(z.bigint()) }), 'the bigint at ids.items'],
    ['a set that may be left out', z.object({ tags: z.set(z.string()).optional() }), 'the set at tags'],
  ])('is not made up where no JSON can be what is wanted: %s', (_, schema, said) => {
    expect(() => toolInputJSONSchema(tool(schema))).toThrow(said);
    const { tools, warnings } = assembleToolPool({ base: [tool(schema)], mcpTools: [] });
    expect(tools).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining(said)]);
  });

  it.each<[string, z.ZodType<object>, JsonObject]>([
    ['a date made of a text', z.object({ at: z.coerce.date() }), { at: { type: 'string', format: 'date-time' } }],
    [
      'a text or a date',
      z.object({ at: z.union([z.iso.datetime(), z.date()]) }),
      { at: { anyOf: [expect.objectContaining({ type: 'string' }), {}] } },
    ],
    [
      'a codec',
      z.object({ at: z.codec(z.string(), z.date(), { decode: (text) => new Date(text), encode: String }) }),
      { at: { type: 'string' } },
    ],
    ['anything', z.object({ at: z.any() }), { at: {} }],
    ['what a step before makes', z.object({ at: z.preprocess((text) => BigInt(String(text)), z.bigint().min(1n)) }), { at: {} }],
  ])('is sent where a JSON will do: %s', (_, schema, properties) => {
    expect(toolInputJSONSchema(tool(schema)).properties).toEqual(properties);
  });

  it('is never bought with the other tools: a broken one is left out by name', () => {
    const good = Array.from({ length: 19 }, (_, index) => remote({ type: 'object' }, `mcp__s__good${index}`));
    const bad = [
      remote({ type: 'string' }, 'mcp__s__text'),
      remote({ $ref: '#/nowhere' }, 'mcp__s__dangling'),
      remote({ $ref: '#' }, 'mcp__s__endless'),
      remote({ type: 'object', properties: { a: { type: 'nonsense' } } }, 'mcp__s__nonsense'),
    ];
    const pool = assembleToolPool({ base: [], mcpTools: [...bad, ...good] });
    expect(pool.tools).toHaveLength(19);
    expect(pool.warnings).toHaveLength(4);
    for (const broken of bad) expect(pool.warnings.join('\n')).toContain(broken.name);
  });
});
