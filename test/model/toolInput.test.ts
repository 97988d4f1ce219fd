import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { acceptToolInput, MAX_INPUT_DEPTH, parseToolInput } from '../../src/model/toolInput.js';

describe('tool input', () => {
  test.each(['', ' ', '  \n\t'])('%j counts as an empty object: tools without arguments stream no text', (raw) => {
    expect(parseToolInput(raw)).toEqual({ kind: 'object', value: {} });
  });

  test.each([
    ['{"re":"\\d+"}', /not valid JSON: .*escape/],
    ['{"a":"x = "foo" + y"}', /not valid JSON/],
    ['{"a":1}{"b":2}', /not valid JSON/],
    ['{"a":', /not valid JSON/],
    ['[1,2]', /must be a JSON object, but it is an array/],
    ['"str"', /but it is a string/],
    ['7', /but it is a number/],
    ['null', /but it is null/],
  ])('%s is refused in words that quote the reason', (raw, reason) => {
    expect(parseToolInput(raw)).toMatchObject({ kind: 'invalid', reason: expect.stringMatching(reason) });
  });

  test('any JSON object comes through unchanged', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string().filter((key) => key !== '__proto__' && key !== 'constructor'),
          fc.jsonValue(),
        ),
        (value) => {
          fc.pre(!JSON.stringify(value).includes('__proto__') && !JSON.stringify(value).includes('constructor'));
          const raw = JSON.stringify(value);
          expect(parseToolInput(raw)).toEqual({ kind: 'object', value: JSON.parse(raw) });
        },
      ),
    );
  });

  test.each([
    ['{"__proto__":{"admin":true}}', '__proto__'],
    ['{"a":[{"__proto__":{}}]}', 'a.0.__proto__'],
    ['{"constructor":{"prototype":{"admin":true}}}', 'constructor'],
  ])('%s never comes near a prototype: it is refused, and the place is named', (raw, place) => {
    expect(parseToolInput(raw)).toMatchObject({ kind: 'invalid', reason: expect.stringContaining(`at ${place},`) });
    expect(Object.prototype).not.toHaveProperty('admin');
  });

  test('"constructor" as an ordinary word is ordinary data', () => {
    const value = { constructor: 'bridge builders', nested: { constructor: { name: 'x' } } };
    expect(parseToolInput(JSON.stringify(value))).toEqual({ kind: 'object', value });
  });

  test('input too deep for recursive readers is refused, however deep it is', () => {
    const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    expect(parseToolInput(nested(MAX_INPUT_DEPTH))).toMatchObject({ kind: 'object' });
    expect(parseToolInput(nested(MAX_INPUT_DEPTH + 1))).toMatchObject({
      kind: 'invalid',
      reason: expect.stringContaining('nested deeper'),
    });
    expect(parseToolInput(nested(50_000))).toMatchObject({ kind: 'invalid' });
  });

  test('input given as a value is held to the same rules', () => {
    expect(acceptToolInput(undefined)).toEqual({ kind: 'object', value: {} });
    expect(acceptToolInput({ a: 1 })).toEqual({ kind: 'object', value: { a: 1 } });
    expect(acceptToolInput([1])).toMatchObject({ kind: 'invalid' });
    expect(acceptToolInput(JSON.parse('{"__proto__":1}'))).toMatchObject({ kind: 'invalid' });
  });

  test.each(['{"id":9007199254740993}', '{"a":[{"id":-12345678901234567890}]}'])(
    '%s would reach a tool as another number, and is refused',
    (raw) => {
      expect(parseToolInput(raw)).toMatchObject({ kind: 'invalid', reason: expect.stringContaining('send it as a string') });
    },
  );

  test.each([
    '{"id":9007199254740992}',
    '{"id":"9007199254740993"}',
    '{"a":"\\"9007199254740993"}',
    '{"x":0.12345678901234567890}',
    '{"x":1e20}',
  ])('%s means what it says', (raw) => {
    expect(parseToolInput(raw)).toEqual({ kind: 'object', value: JSON.parse(raw) });
  });

  test('a number beyond all numbers is refused: it could be neither stored nor sent back', () => {
    expect(parseToolInput('{"a":{"b":1e999}}')).toEqual({ kind: 'invalid', reason: 'the number at a.b is too large' });
  });
});
