import type { Row, Section } from './section.js';
import type { Spread } from './stats.js';

/** Three significant digits; no more is known. */
const figure = (value: number): string => {
  if (!Number.isFinite(value)) return '–';
  return Math.abs(value) < 999.5 ? value.toPrecision(3) : Number(value.toPrecision(3)).toLocaleString('en');
};

const range = (of: (value: number) => string, { low, high }: Spread): string => (low === high ? '' : `${of(low)}–${of(high)}`);
const times = (value: number): string => value.toFixed(2);

/** Name, median, spread, ratio, spread of the ratio. */
export const rowCells = ({ name, value, unit, ratio }: Row): readonly string[] => [
  name,
  `${figure(value.median)} ${unit}`,
  range(figure, value),
  ...(ratio ? [`${times(ratio.median)} ×`, range(times, ratio)] : []),
];

export const columnNames = ({ base }: Section): readonly string[] => [
  '',
  'median',
  'spread',
  ...(base === undefined ? [] : [`× ${base}`, 'spread']),
];

/** A section as a table for the terminal. */
export function sectionText(section: Section): string {
  const lines = [columnNames(section), ...section.rows.map(rowCells)];
  const widths = columnNames(section).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const table = lines.map((line) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  return [`${section.title} (${section.scenario})`, ...table].join('\n');
}
