import { formatPrice } from './money.js';

/** A receipt as text, one line an article. */
export function receipt(basket) {
  const lines = basket.lines().map(({ article, pieces, total }) => `${pieces} x ${article.padEnd(16)} ${formatPrice(total).padStart(9)}`);
  return [...lines, `Total ${formatPrice(basket.total()).padStart(25)}`].join('\n');
}
