import fc from 'fast-check';
import { expect, it } from 'vitest';
import { growing } from '../src/growing.js';

interface Item {
  readonly words: readonly string[];
}

it('finds what a look at everything finds, whatever is done at the end of the list or to the whole of it', () => {
  const item = fc.array(fc.string(), { maxLength: 3 }).map((words): Item => ({ words }));
  const step = fc.oneof(
    fc.record({ what: fc.constant('push' as const), item }),
    fc.record({ what: fc.constant('replaceLast' as const), item }),
    fc.record({ what: fc.constant('pop' as const) }),
    fc.record({ what: fc.constant('renew' as const), items: fc.array(item, { maxLength: 6 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const look = growing(({ words }: Item) => words);
      const list: Item[] = [];
      for (const one of steps) {
        if (one.what === 'push') list.push(one.item);
        else if (one.what === 'replaceLast' && list.length > 0) list[list.length - 1] = one.item;
        else if (one.what === 'pop') list.pop();
        else if (one.what === 'renew') list.splice(0, list.length, ...one.items);
        expect(look(list)).toEqual(list.flatMap(({ words }) => words));
      }
    }),
  );
});

it('looks at no settled item twice', () => {
  let looks = 0;
  const look = growing((word: string) => {
    looks++;
    return [word];
  });
  const list: string[] = [];
  for (let n = 0; n < 1_000; n++) {
    list.push(`word ${n}`);
    expect(look(list)).toHaveLength(n + 1);
  }
  expect(looks).toBeLessThan(2_100);
});
