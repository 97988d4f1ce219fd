/** Several rounds of one figure. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  const middle = (sorted.length - 1) / 2;
  return { median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2, low: at(0), high: at(sorted.length - 1) };
}

/** Round by round: what disturbs a round disturbs both. */
export const ratioOf = (values: readonly number[], base: readonly number[]): Spread =>
  spreadOf(values.map((value, round) => value / (base[round] ?? Number.NaN)));
