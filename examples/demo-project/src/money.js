/** Cents as a price: 1999 → "19.99". */
export function formatPrice(cents) {
  const sign = cents < 0 ? '-' : '';
  const whole = Math.trunc(Math.abs(cents) / 100);
  const rest = String(Math.abs(cents) % 100).padStart(2, '0');
  return `${sign}${whole}.${rest}`;
}

/** `percent` of an amount, rounded to the cent. */
export function percentOf(cents, percent) {
  return Math.round((cents * percent) / 100);
}
