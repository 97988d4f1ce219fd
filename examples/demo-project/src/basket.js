import { percentOf } from './money.js';

const BULK_FROM = 10;
const BULK_DISCOUNT = 10;

/** What a customer takes to the till. Prices are in cents. */
export class Basket {
  #lines = new Map();

  add(article, price, pieces = 1) {
    if (!Number.isInteger(pieces) || pieces < 1) throw new RangeError(`${pieces} pieces of ${article} cannot be bought`);
    const line = this.#lines.get(article) ?? { article, price, pieces: 0 };
    this.#lines.set(article, { ...line, price, pieces: line.pieces + pieces });
    return this;
  }

  lines() {
    return [...this.#lines.values()].map((line) => ({ ...line, total: lineTotal(line) }));
  }

  total() {
    return this.lines().reduce((sum, line) => sum + line.total, 0);
  }
}

function lineTotal({ price, pieces }) {
  const discount = pieces > BULK_FROM ? percentOf(price, BULK_DISCOUNT) : 0;
  return (price - discount) * pieces;
}
