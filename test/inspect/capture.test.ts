import { ChildProcess } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyStore } from '../../src/inspect/bodyStore.js';
import { capture, FULL_LIMITS, LIGHT_LIMITS } from '../../src/inspect/capture.js';
import { Redactor } from '../../src/inspect/redact.js';

const redactor = new Redactor({ env: {}, salt: 'fixed' });
const plain = (value: unknown): unknown => JSON.parse(capture(value, redactor).text);

describe('capturing values', () => {
  it('keeps a graph of 19 nodes, each twice in the next, small', () => {
    let node: Record<string, unknown> = { leaf: 'x' };
    for (let level = 0; level < 19; level++) node = { left: node, right: node, level };
    const { text } = capture(node, redactor);
    expect(text.length).toBeLessThan(10_000);
    expect(text).toContain('‹same as $.left');
  });

  it('runs no code of the value: no getter, no toJSON, no trap that throws', () => {
    let ran = 0;
    const value = {
      get secretly() {
        return ++ran;
      },
      nested: {
        toJSON() {
          ran++;
          throw new Error('toJSON');
        },
      },
      proxy: new Proxy(
        {},
        {
          ownKeys() {
            throw new Error('trap');
          },
        },
      ),
    };
    expect(plain(value)).toEqual({ secretly: '‹getter›', nested: { toJSON: '‹function›' }, proxy: '‹unreadable›' });
    expect(ran).toBe(0);
  });

  it('names live objects instead of walking them', () => {
    expect(
      plain({
        controller: new AbortController(),
        child: Object.create(ChildProcess.prototype),
        bytes: Buffer.alloc(9),
        date: new Date(0),
        bad: new Date(Number.NaN),
        big: 10n,
        not: Number.NaN,
        map: new Map([['k', { v: 1 }]]),
        set: new Set([1]),
        none: undefined,
      }),
    ).toEqual({
      controller: '‹AbortController›',
      child: '‹ChildProcess›',
      bytes: '‹Buffer of 9 bytes›',
      date: '1970-01-01T00:00:00.000Z',
      bad: '‹invalid date›',
      big: '‹bigint 10›',
      not: '‹NaN›',
      map: { '‹Map›': [['k', { v: 1 }]] },
      set: { '‹Set›': [1] },
    });
  });

  it('says where a cycle leads', () => {
    const loop: Record<string, unknown> = { a: { b: {} } };
    loop.self = loop;
    expect(plain(loop)).toEqual({ a: { b: {} }, self: '‹cycle to $›' });
  });

  it('costs the same however long a string is, and never shows half a secret at the cut', () => {
    const secret = 'sk-ant-api03-AbCdEf0123456789AbCdEf0123456789';
    for (let before = LIGHT_LIMITS.stringChars - 50; before <= LIGHT_LIMITS.stringChars + 2; before += 1) {
      const { text, clipped } = capture({ output: `${'-'.repeat(before - 1)} ${secret}${' .'.repeat(2_500_000)}` }, redactor);
      expect(clipped).toBe(true);
      expect(text.length).toBeLessThan(LIGHT_LIMITS.stringChars + 200);
      expect(text).not.toContain('sk-ant-api03-AbCdEf01');
    }
  });

  it('asks a rule of one’s own about every string at every place, each time', () => {
    const seen: string[] = [];
    const rule = (text: string, path: string) => {
      if (text.endsWith('!')) seen.push(path);
      return text;
    };
    const ruled = new Redactor({ env: {}, rules: [rule] });
    const part = { a: 'one!', b: ['two!', new Map([['three!', new Error('four!')]])] };
    const places = ['.a', '.b[0]', '.b[1][0][0]', '.b[1][0][1].message'];
    for (const at of ['x', 'x', 'y']) {
      capture({ [at]: part }, ruled);
      expect(seen.splice(0).filter((path) => !path.endsWith('.stack'))).toEqual(places.map((place) => `$.${at}${place}`));
    }
  });

  it('keeps a key named __proto__ as data', () => {
    expect(capture(JSON.parse('{"__proto__":{"polluted":true}}'), redactor).text).toBe('{"__proto__":{"polluted":true}}');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('gives back plain JSON unchanged and never throws on anything', () => {
    const quiet = new Redactor({ env: {}, salt: 'x' });
    quiet.isSecretKey = () => false;
    quiet.text = (text) => text;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(JSON.parse(capture(value, quiet).text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 200 },
    );
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withNullPrototype: true }), (value) => {
        JSON.parse(capture(value, redactor).text);
      }),
      { numRuns: 200 },
    );
  });
});

describe('texts known to hold no secret', () => {
  it('never hide one that is there', () => {
    const pieces = fc.array(
      fc.constantFrom(
        'sk-',
        'AbC0123456789def',
        'AKIAABCDEFGHIJKLMNOP',
        'token',
        '=',
        '"',
        'https://u:',
        'pw',
        '@host',
        ' ',
        'Bearer ',
        'eyJ',
      ),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 20 }), (lists) => {
        const used = new Redactor({ env: { A_TOKEN: 'AbC0123456789' }, salt: 'x' });
        for (const text of lists.map((list) => list.join(''))) {
          const fresh = new Redactor({ env: { A_TOKEN: 'AbC0123456789' }, salt: 'x' });
          expect(used.json(text)).toBe(JSON.stringify(fresh.text(text)));
          expect(used.json(text)).toBe(JSON.stringify(fresh.text(text)));
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('the body store', () => {
  it('stores equal content once and drops the oldest beyond its limit', () => {
    const store = new BodyStore(redactor, 1000);
    const first = store.put({ text: 'a'.repeat(400) });
    expect(store.put({ text: 'a'.repeat(400) }).hash).toBe(first.hash);
    expect(store.bytes).toBeLessThan(450);
    for (const letter of ['b', 'c', 'd']) store.put({ text: letter.repeat(400) });
    expect(store.bytes).toBeLessThanOrEqual(1000);
    expect(store.get(first.hash)).toBeUndefined();
    expect(first).toEqual({ hash: first.hash, bytes: 411, preview: `{"text":"${'a'.repeat(191)}` });
  });

  it('gives to what tells the whole anew at each step no more than half of its room', () => {
    const store = new BodyStore(redactor, 10_000);
    const input = store.put({ command: 'make' });
    const letters = Array.from({ length: 100 }, (_, i) => i);
    const contexts = letters.map((i) => store.putAnew({ calls: `${i} ${'x'.repeat(400)}` }));
    expect(store.get(input.hash)).toBe('{"command":"make"}');
    expect(contexts.filter(({ hash }) => store.get(hash) !== undefined)).toEqual(contexts.slice(-24));
    // It keeps that half, too.
    for (const i of letters) store.put({ output: `${i} ${'y'.repeat(400)}` });
    expect(store.get(input.hash)).toBeUndefined();
    expect(contexts.filter(({ hash }) => store.get(hash) !== undefined).length).toBeGreaterThanOrEqual(11);
    expect(store.bytes).toBeLessThanOrEqual(10_000);
    // What is told once as well, stays as such; and the newest stays however large it is.
    const both = store.putAnew({ both: true });
    expect(store.put({ both: true }).hash).toBe(both.hash);
    for (const i of letters) store.putAnew({ more: `${i} ${'z'.repeat(400)}` });
    expect(store.get(both.hash)).toBe('{"both":true}');
    for (const put of [store.putAnew, store.put])
      expect(store.get(put.call(store, { huge: 'h'.repeat(20_000) }, FULL_LIMITS).hash)).toHaveLength(20_011);
  });

  it('keeps of a body that has left no more than its preview, whole characters or not', () => {
    const store = new BodyStore(redactor, 1000);
    const text = `"${'a'.repeat(198)}${'💥'.repeat(100)}"`;
    const ref = store.putText(text);
    const shown = text.slice(0, 200);
    expect(ref.preview).toBe(shown);
    for (const letter of ['b', 'c', 'd']) store.put({ text: letter.repeat(400) });
    expect(store.get(ref.hash)).toBeUndefined();
    expect(ref.preview).toBe(shown);
  });

  it('hands long bodies over in parts that join to the whole and never split a character', () => {
    const store = new BodyStore(redactor);
    const { hash } = store.putText('💥'.repeat(300_000));
    let text = '';
    for (let part = store.part(hash, 0); part; part = part.done ? undefined : store.part(hash, text.length)) {
      expect(part.text).not.toMatch(/[\uD800-\uDBFF]$/);
      text += part.text;
    }
    expect(text).toBe('💥'.repeat(300_000));
    expect(store.part('unknown', 0)).toBeUndefined();
  });
});
