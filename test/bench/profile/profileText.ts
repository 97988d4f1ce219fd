import type { Share } from './analyse.js';

/** Microseconds for one call. */
export interface CallProfile {
  readonly scenario: string;
  readonly calls: number;
  /** Self time. */
  readonly categories: readonly Share[];
  /** Time including what the function calls. */
  readonly functions: readonly Share[];
}

const FUNCTIONS = 40;
const FUNCTIONS_WRITTEN = 12;
const sum = (shares: readonly Share[]): number => shares.reduce((total, { us }) => total + us, 0);
const percent = (us: number, total: number): string => `${((100 * us) / total).toFixed(1)} %`;

/** A profile for the terminal. */
export function profileSection({ scenario, calls, categories, functions }: CallProfile): string {
  const total = sum(categories);
  const line = ({ name, us }: Share) => `${us.toFixed(1).padStart(9)} µs ${percent(us, total).padStart(8)}  ${name}`;
  return [
    `Profile of ${scenario}, ${calls} calls: ${total.toFixed(0)} µs/call`,
    ...categories.map(line),
    'including callees:',
    ...functions.slice(0, FUNCTIONS).map(line),
  ].join('\n');
}

export function profileMarkdown({ scenario, categories, functions }: CallProfile): string {
  const total = sum(categories);
  const rows = (shares: readonly Share[]) =>
    shares.map(({ name, us }) => `| ${name} | ${us.toFixed(1)} | ${percent(us, total)} |`).join('\n');
  const shown = categories.filter(({ us }) => us / total >= 0.005);
  return `Samples of Sixgates in \`${scenario}\`, by where the time is spent itself (µs for one call):

| category | µs/call | share |
| --- | --: | --: |
${rows(shown)}

And by function of the library, with everything it calls (compiled file and line):

| function | µs/call | share |
| --- | --: | --: |
${rows(functions.slice(0, FUNCTIONS_WRITTEN))}`;
}
