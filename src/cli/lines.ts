import { styleText } from 'node:util';
import type { CallOutcome, OutcomeKind } from '../tool/call.js';

type Style = Parameters<typeof styleText>[0];

/** Colours only where someone looks at them: a terminal, and no `NO_COLOR`. */
export function createPaint(stream: NodeJS.WriteStream): (style: Style, text: string) => string {
  const colours = stream.isTTY === true && process.env.NO_COLOR === undefined;
  return (style, text) => (colours ? styleText(style, text) : text);
}
export type Paint = ReturnType<typeof createPaint>;

const MARKS: Record<OutcomeKind, { readonly mark: string; readonly style: Style }> = {
  succeeded: { mark: '✓', style: 'green' },
  failed: { mark: '✗', style: 'red' },
  invalid: { mark: '✗', style: 'red' },
  denied: { mark: '⊘', style: 'yellow' },
  cancelled: { mark: '◼', style: 'yellow' },
  stopped: { mark: '◼', style: 'yellow' },
};

/** A finished call in one line: mark, tool, what it was about, how long, and why where it did not succeed. */
export function outcomeLine(tool: string, title: string, outcome: CallOutcome, ms: number, paint: Paint, width: number): string {
  const { mark, style } = MARKS[outcome.kind];
  const why = outcome.kind === 'succeeded' ? '' : `  ${outcome.kind}: ${outcome.summary}`;
  return `${paint(style, mark)} ${clip(`${headOf(tool, title)}  ${duration(ms)}${why}`, width - 2)}`;
}

/** A call on its way: its state in the words of the machine. */
export function runningLine(tool: string, title: string, state: string, ms: number, paint: Paint, width: number): string {
  return `${paint('cyan', '●')} ${clip(`${headOf(tool, title)}  ${state.replace('executing.', '')}  ${duration(ms)}`, width - 2)}`;
}

export const headOf = (tool: string, title: string): string =>
  title === tool || title.startsWith(`${tool}(`) || title.startsWith(`${tool} `) ? title : `${tool}  ${title}`;

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** One line of a terminal: no line breaks, no control characters of a tool's making, no wrapping. */
export function clip(text: string, width: number): string {
  const line = visible(text).replaceAll(/\s+/g, ' ');
  return line.length > width ? `${line.slice(0, Math.max(1, width - 1))}…` : line;
}

/** Control and direction characters made visible: what a person reads before saying yes must be what will run. */
export function visible(text: string): string {
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}
