import type { Spread } from './stats.js';

/** One line of a result table. */
export interface Row {
  readonly name: string;
  readonly value: Spread;
  readonly unit: string;
  /** Against `Section.base` in the same rounds. */
  readonly ratio?: Spread;
}

/** The result of one scenario. */
export interface Section {
  readonly scenario: string;
  readonly title: string;
  /** What was done and how to read it. */
  readonly text: string;
  /** What the ratios are against. */
  readonly base?: string;
  readonly rows: readonly Row[];
}
