import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Basket } from '../src/basket.js';
import { receipt } from '../src/receipt.js';

test('a basket adds up', () => {
  assert.equal(new Basket().add('apple', 45, 3).add('bread', 320).total(), 455);
});

test('pieces of the same article are one line', () => {
  const lines = new Basket().add('apple', 45).add('apple', 45, 2).lines();
  assert.deepEqual(lines, [{ article: 'apple', price: 45, pieces: 3, total: 135 }]);
});

test('from ten pieces on each piece costs 10 % less', () => {
  assert.equal(new Basket().add('egg', 30, 9).total(), 270);
  assert.equal(new Basket().add('egg', 30, 10).total(), 270);
});

test('a receipt names every article and the total', () => {
  const text = receipt(new Basket().add('milk', 129, 2));
  assert.match(text, /2 x milk/);
  assert.match(text, /Total +2\.58/);
});
