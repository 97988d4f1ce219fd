import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../src/json.js';
import { anyObjectInput, buildTool } from '../../src/tool/build.js';
import { parseToolInput } from '../../src/tool/parse-input.js';

const tool = (inputSchema: z.ZodType<object>, extra: { strictInput?: boolean; inputJSONSchema?: JsonObject } = {}) =>
  buildTool({ name: 'T', description: 'test', inputSchema, call: async () => ({ data: '' }), ...extra });
const parse = (schema: z.ZodType<object>, value: unknown) => parseToolInput(tool(schema), value);
const message = (schema: z.ZodType<object>, value: unknown): string => {
  const result = parse(schema, value);
  return result.ok ? `ok: ${JSON.stringify(result.input)}` : result.message;
};

describe('null and absence', () => {
  const schema = z.object({
    q: z.string(),
    n: z.number().optional(),
    d: z.number().default(3),
    z: z.string().nullable(),
    o: z.string().nullish(),
  });
  it.each([
    [
      { q: 'a', z: null },
      { q: 'a', d: 3, z: null },
    ],
    [
      { q: 'a', z: null, n: null },
      { q: 'a', d: 3, z: null },
    ],
    [
      { q: 'a', z: null, d: null },
      { q: 'a', d: 3, z: null },
    ],
    [
      { q: 'a', z: null, o: null },
      { q: 'a', d: 3, z: null, o: null },
    ],
  ])('counts null for an optional field as left out, keeps it for a nullable one: %j', (given, input) => {
    expect(parse(schema, given)).toMatchObject({ ok: true, input });
    const result = parse(schema, given);
    expect(result.ok && result.input).toEqual(input);
  });

  it('reports a missing or null required field by name', () => {
    expect(message(schema, { q: 'a' })).toContain('`z` is required but was not given');
    expect(message(schema, { q: null, z: null })).toContain('`q`: expected string, received null');
  });

  it('records what it left out', () => {
    expect(parse(schema, { q: 'a', z: null, n: null })).toMatchObject({ repairs: [{ path: 'n', kind: 'nullAsAbsent', from: null }] });
  });

  it('reaches into nested objects, not into places of arrays', () => {
    const nested = z.object({ list: z.array(z.object({ a: z.string().optional() })), flags: z.array(z.boolean()) });
    expect(parse(nested, { list: [{ a: null }], flags: [] })).toMatchObject({ ok: true, input: { list: [{}] } });
    expect(message(nested, { list: [], flags: [null] })).toContain('`flags[0]`: expected boolean, received null');
  });
});

describe('no arguments', () => {
  const optional = z.object({ a: z.string().optional() });
  it.each([undefined, null, '', {}])('counts %j as an empty object', (value) => {
    expect(parse(optional, value)).toEqual({ ok: true, input: {}, repairs: [] });
    expect(parse(z.strictObject({}), value)).toMatchObject({ ok: true });
    expect(message(z.object({ need: z.string() }), value)).toContain('`need` is required');
  });
  it.each([[[]], ['text'], [3], [true]])('refuses %j', (value) => {
    expect(message(optional, value)).toContain('must be a JSON object');
  });
});

describe('textual forms', () => {
  const flag = z.object({ f: z.boolean() });
  const number = z.object({ n: z.number() });
  it.each([
    ['true', true],
    ['false', false],
    ['False ', false],
    [' TRUE', true],
  ])('takes the word %j for a boolean', (given, value) => {
    expect(parse(flag, { f: given })).toMatchObject({
      ok: true,
      input: { f: value },
      repairs: [{ path: 'f', kind: 'boolean', from: given }],
    });
  });
  it.each(['0', 'no', 'yes', '', '1', 'truee'])('leaves %j alone and says what was expected', (given) => {
    expect(message(flag, { f: given })).toContain('`f`: expected boolean, received string');
  });
  it.each([0, 1])('does not take the number %j for a boolean', (given) => {
    expect(message(flag, { f: given })).toContain('expected boolean, received number');
  });
  it.each([
    ['50', 50],
    ['-3', -3],
    ['0.25', 0.25],
  ])('takes the plain decimal %j for a number', (given, value) => {
    expect(parse(number, { n: given })).toMatchObject({ ok: true, input: { n: value } });
  });
  it.each([' 50', '12abc', '', '0x10', '1e3', 'NaN', 'Infinity', '9007199254740993', '007', '1.50', '-0', '+1'])(
    'leaves %j alone',
    (given) => {
      expect(message(number, { n: given })).toContain('`n`: expected number, received string');
    },
  );
  it('takes neither a boolean for a number nor a number for a string', () => {
    expect(message(number, { n: true })).toContain('expected number, received boolean');
    expect(message(z.object({ s: z.string() }), { s: 5 })).toContain('`s`: expected string, received number');
  });
  it('repairs inside nullable, optional and union fields only when no branch takes the text as it is', () => {
    expect(parse(z.object({ n: z.number().nullish() }), { n: '5' })).toMatchObject({ ok: true, input: { n: 5 } });
    expect(parse(z.object({ n: z.union([z.number(), z.null()]) }), { n: '5' })).toMatchObject({ ok: true, input: { n: 5 } });
    expect(parse(z.object({ n: z.union([z.number(), z.string()]) }), { n: '5' })).toMatchObject({
      ok: true,
      input: { n: '5' },
      repairs: [],
    });
  });
  it('does not repair past another rule of the field', () => {
    expect(message(z.object({ n: z.number().min(10) }), { n: '5' })).toContain('expected number, received string');
  });
  it('can be switched off by a tool', () => {
    expect(parseToolInput(tool(flag, { strictInput: true }), { f: 'false' })).toMatchObject({ ok: false });
  });
});

describe('inside a union', () => {
  const a = z.strictObject({ op: z.literal('a'), x: z.string(), n: z.number().optional(), f: z.boolean().default(false) });
  const b = z.strictObject({ op: z.literal('b'), y: z.number() });
  const ask = z.object({
    who: z.union([z.object({ id: z.number(), note: z.string().optional() }), z.object({ name: z.string(), all: z.boolean() })]),
  });
  it.each<[z.ZodType<object>, unknown, unknown]>([
    [z.union([a, b]), { op: 'a', x: 's', n: null, f: 'false' }, { op: 'a', x: 's', f: false }],
    [z.union([a, b]), { op: 'b', y: '5', _meta: {} }, { op: 'b', y: 5 }],
    [z.discriminatedUnion('op', [a, b]), { op: 'a', x: 's', n: null }, { op: 'a', x: 's', f: false }],
    [ask, { who: { id: '5', note: null } }, { who: { id: 5 } }],
    [ask, { who: { name: 'x', all: 'False' } }, { who: { name: 'x', all: false } }],
  ])('the same rules hold: %#', (schema, given, input) => {
    expect(parse(schema, given)).toMatchObject({ ok: true, input });
  });
  it('a form is mended whole or not at all', () => {
    const either = z.object({
      v: z.union([z.strictObject({ p: z.boolean(), q: z.boolean() }), z.strictObject({ p: z.string(), q: z.number() })]),
    });
    expect(parse(either, { v: { p: 'true', q: '5' } })).toMatchObject({ ok: true, input: { v: { p: 'true', q: 5 } } });
    expect(parse(either, { v: { p: 'true', q: 'x' } })).toMatchObject({ ok: false });
  });
  it('the form that was meant says what is wrong', () => {
    expect(message(z.union([a, b]), { op: 'b' })).toContain('`y` is required');
    expect(message(z.union([a, b]), { op: 'b', y: 1, x: 's' })).toContain('parameter `x` does not go with the others');
    expect(message(z.union([a, b]), { op: 'c' })).toMatch(/expected "a".*expected "b"/);
  });
});

describe('a field that zod would coerce', () => {
  const schema = z.object({
    all: z.coerce.boolean(),
    n: z.coerce.number().optional(),
    made: z.preprocess((value) => value === 'yes', z.coerce.boolean()).optional(),
    when: z.union([z.coerce.number(), z.literal('now')]).optional(),
  });
  it.each([
    [{ all: 'false' }, { all: false }],
    [
      { all: ' TRUE', n: '50' },
      { all: true, n: 50 },
    ],
    [
      { all: false, n: null, when: 'now' },
      { all: false, when: 'now' },
    ],
    [
      { all: true, made: 'no' },
      { all: true, made: false },
    ],
  ])('is mended by the exact rules alone: %j', (given, input) => {
    expect(parse(schema, given)).toMatchObject({ ok: true, input });
  });
  it.each([
    [{ all: 'no' }, '`all`: expected boolean, received string'],
    [{ all: '' }, '`all`: expected boolean, received string'],
    [{ all: 1 }, '`all`: expected boolean, received number'],
    [{ all: null }, '`all`: expected boolean, received null'],
    [{}, '`all` is required'],
    [{ all: true, n: '' }, '`n`: expected number, received string'],
    [{ all: true, n: true }, '`n`: expected number, received boolean'],
    [{ all: true, n: '0x10' }, '`n`: expected number, received string'],
  ])('is refused otherwise: %j', (given, said) => {
    expect(message(schema, given)).toContain(said);
  });
});

describe('an array or object given as a text', () => {
  const schema = z.strictObject({
    items: z.array(z.strictObject({ a: z.string() })).optional(),
    box: z.strictObject({ list: z.array(z.number()) }).optional(),
    map: z.record(z.string(), z.number()).optional(),
    pair: z.tuple([z.string(), z.number()]).optional(),
    words: z.string().optional(),
    either: z.union([z.string(), z.array(z.string())]).optional(),
  });
  it.each([
    [{ items: '[{"a":"x"}]' }, { items: [{ a: 'x' }] }],
    [{ items: ' [] ' }, { items: [] }],
    [{ items: ['{"a":"x"}'] }, { items: [{ a: 'x' }] }],
    [{ box: '{"list":"[1,\\"2\\"]"}' }, { box: { list: [1, 2] } }],
    [{ map: '{"x":1}' }, { map: { x: 1 } }],
    [{ pair: '["a",1]' }, { pair: ['a', 1] }],
  ])('is taken for what it is the JSON of, where nothing else fits: %j', (given, input) => {
    expect(parse(schema, given)).toMatchObject({
      ok: true,
      input,
      repairs: expect.arrayContaining([expect.objectContaining({ kind: 'json' })]),
    });
  });
  it.each([{ words: '["keep"]' }, { words: '{"keep":1}' }, { either: '["keep"]' }])(
    'stays a text where a text is wanted or allowed: %j',
    (given) => {
      expect(parse(schema, given)).toEqual({ ok: true, input: given, repairs: [] });
    },
  );
  it.each([
    [{ items: '[{"a":"x"}' }, '`items`: expected array, received string'],
    [{ items: '[{"a":"x"}] and more' }, '`items`: expected array, received string'],
    [{ items: '{"a":"x"}' }, '`items`: expected array, received string'],
    [{ items: 'x,y' }, '`items`: expected array, received string'],
    [{ items: '"[]"' }, '`items`: expected array, received string'],
    [{ box: '{"__proto__":{"list":[]}}' }, '`box`: expected object, received string'],
    [{ items: '[{"a":1}]' }, '`items[0].a`: expected string, received number'],
  ])('is refused where it is not exactly that: %j', (given, said) => {
    expect(message(schema, given)).toContain(said);
  });
  it('is refused by a tool that takes nothing but what it says', () => {
    expect(parseToolInput(tool(schema, { strictInput: true }), { items: '[]' })).toMatchObject({ ok: false });
  });
  it('has the same rules under a JSON Schema', () => {
    const tool_ = tool(z.record(z.string(), z.unknown()), {
      inputJSONSchema: {
        type: 'object',
        properties: { ids: { type: ['array', 'null'], items: { type: 'string' } }, q: { type: 'string' } },
      },
    });
    expect(parseToolInput(tool_, { ids: '["a","b"]', q: '["c"]' })).toMatchObject({ ok: true, input: { ids: ['a', 'b'], q: '["c"]' } });
  });
});

describe('unknown keys', () => {
  const schema = z.strictObject({ path: z.string(), threshold: z.number().default(0.5) });
  it('are errors that name the nearest known key', () => {
    expect(message(schema, { path: 'a', treshold: 0.9 })).toContain('unknown parameter `treshold`; did you mean `threshold`?');
    expect(message(schema, { Path: 'a' })).toContain('unknown parameter `Path`; did you mean `path`?');
    expect(message(schema, { file: 'a' })).toContain('unknown parameter `file`; known are `path`, `threshold`');
    expect(message(schema, { file: 'a' })).toContain('`path` is required');
  });
  it('that a host is known to add are removed and recorded', () => {
    expect(parse(schema, { path: 'a', _meta: {} })).toEqual({
      ok: true,
      input: { path: 'a', threshold: 0.5 },
      repairs: [{ path: '_meta', kind: 'hostKeyRemoved', from: {} }],
    });
  });
  it('named __proto__ or constructor never reach a prototype', () => {
    for (const open of [schema, z.looseObject({ path: z.string() }), z.record(z.string(), z.unknown())]) {
      const poisoned: unknown = JSON.parse('{"path":"a","__proto__":{"polluted":true}}');
      expect(message(open, poisoned)).toContain('unknown parameter `__proto__`');
    }
    const nested: unknown = JSON.parse('{"path":"a","deep":{"__proto__":{"polluted":true}}}');
    expect(parse(z.looseObject({ path: z.string() }), nested)).toMatchObject({ ok: false });
    expect(message(schema, JSON.parse('{"path":"a","constructor":{"x":1}}'))).toContain('unknown parameter `constructor`');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('a tool that brings a JSON Schema', () => {
  const remote = buildTool({
    name: 'mcp__s__t',
    description: 'test',
    inputSchema: anyObjectInput,
    inputJSONSchema: {
      type: 'object',
      properties: { q: { type: 'string' }, n: { type: 'integer' }, deep: { type: 'object', properties: { f: { type: 'boolean' } } } },
      required: ['q'],
      additionalProperties: false,
    },
    call: async () => ({ data: '' }),
  });
  it('has the same rules', () => {
    expect(parseToolInput(remote, { q: 'a', n: '5', deep: { f: 'False' } })).toMatchObject({
      ok: true,
      input: { q: 'a', n: 5, deep: { f: false } },
    });
    expect(parseToolInput(remote, { q: 'a', n: null })).toMatchObject({ ok: true, input: { q: 'a' } });
    expect(parseToolInput(remote, { q: null })).toMatchObject({ message: expect.stringContaining('`q`: expected string, received null') });
    expect(parseToolInput(remote, { n: 1.5, qq: 'a' })).toMatchObject({ ok: false });
    const { message: text } = parseToolInput(remote, { n: 'x', qq: 'a' }) as { message: string };
    expect(text).toContain('`q` is required');
    expect(text).toContain('`n`: expected integer, received string');
    expect(text).toContain('unknown parameter `qq`; did you mean `q`?');
  });
});

it('answers any JSON with a verdict, never with a throw', () => {
  const schema = z.strictObject({ a: z.string(), b: z.boolean().optional(), c: z.array(z.strictObject({ d: z.number() })).optional() });
  const part = fc.record({ a: fc.jsonValue(), b: fc.jsonValue(), c: fc.jsonValue() }, { requiredKeys: [] });
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), part), (value) => {
      const result = parse(schema, value);
      if (result.ok) expect(schema.safeParse(result.input).success).toBe(true);
      else expect(result.message.length).toBeGreaterThan(10);
    }),
    { numRuns: 1000 },
  );
  let deep: unknown = 1;
  for (let level = 0; level < 5000; level++) deep = [deep];
  expect(parse(z.looseObject({}), { deep })).toMatchObject({ ok: false, message: expect.stringContaining('nested deeper') });
});

it('copies an input once for each repair, however many fields are wrong', () => {
  const copies = vi.spyOn(globalThis, 'structuredClone');
  const result = parse(z.strictObject({ n: z.array(z.number()) }), { n: Array.from({ length: 300 }, String) });
  expect(result).toMatchObject({ ok: false });
  expect(copies.mock.calls.length).toBeLessThanOrEqual(200);
  copies.mockRestore();
});
