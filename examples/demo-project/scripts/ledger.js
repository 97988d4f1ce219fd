import { Basket } from '../src/basket.js';
import { formatPrice } from '../src/money.js';

/** The ledger of a year: long on purpose, as ledgers are. Deterministic, so that two runs can be compared. */
const ARTICLES = [
  ['apple', 45],
  ['bread', 320],
  ['milk', 129],
  ['egg', 30],
  ['coffee', 799],
];

let seed = 7;
const next = (limit) => {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return seed % limit;
};

for (let day = 1; day <= 365; day++) {
  for (let customer = 1; customer <= 3; customer++) {
    const basket = new Basket();
    for (let n = 0; n <= next(3); n++) {
      const [article, price] = ARTICLES[next(ARTICLES.length)];
      basket.add(article, price, 1 + next(12));
    }
    const goods = basket
      .lines()
      .map(({ article, pieces }) => `${pieces} ${article}`)
      .join(', ');
    console.log(`day ${String(day).padStart(3)} customer ${customer}: ${goods.padEnd(40)} ${formatPrice(basket.total()).padStart(9)}`);
  }
}
