import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, inputDigest } from '../../src/permissions/digest.js';

describe('the digest of an input', () => {
  it('does not depend on the order of keys', () => {
    expect(inputDigest({ b: [1, { d: null, c: 'x' }], a: true })).toBe(inputDigest({ a: true, b: [1, { c: 'x', d: null }] }));
  });

  it('is that of SHA-256 over canonical JSON', () => {
    expect(canonicalJson({ b: 1, a: 'ü' })).toBe('{"a":"ü","b":1}');
    expect(inputDigest({})).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
  });

  it('tells any two different inputs apart', () => {
    const inputs = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(inputs, inputs, (a, b) => {
        const [one, two] = [JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))];
        expect(inputDigest(one) === inputDigest(two)).toBe(canonicalJson(one) === canonicalJson(two));
        expect(JSON.parse(canonicalJson(one))).toEqual(one);
      }),
      { numRuns: 200 },
    );
  });
});
