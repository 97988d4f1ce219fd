import { styleText } from 'node:util';
import stringWidth from 'string-width';
import type { CallOutcome, OutcomeKind } from '../tool/call.js';

type Style = Parameters<typeof styleText>[0];

/** Colours only where someone looks at them: a terminal, and no `NO_COLOR`. */
export function createPaint(stream: { readonly isTTY?: boolean }): (style: Style, text: string) => string {
  const colours = stream.isTTY === true && process.env.NO_COLOR === undefined;
  return (style, text) => (colours ? styleText(style, text, { validateStream: false }) : text);
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

/** Where a line stands: how wide the terminal is, and how deep among subagents the call is. */
export interface LinePlace {
  readonly width: number;
  readonly depth?: number;
}

export interface CallFacts {
  readonly tool: string;
  readonly title: string;
  readonly ms: number;
  /** What a subagent's call belongs to. */
  readonly agent?: string | undefined;
}

/** A finished call in one line: mark, tool, what it was about, how long, and why where it did not succeed. */
export function outcomeLine(call: CallFacts, outcome: CallOutcome, paint: Paint, place: LinePlace): string {
  const { mark, style } = MARKS[outcome.kind];
  const why = outcome.kind === 'succeeded' ? '' : `${outcome.kind}: ${outcome.summary}`;
  return markedLine(paint(style, mark), call, why, place);
}

/** A call on its way: its state in the words of the machine, and the last thing it said. */
export function runningLine(
  call: CallFacts & { readonly state: string; readonly note?: string | undefined },
  paint: Paint,
  place: LinePlace,
): string {
  const state = call.state.replace('executing.', '');
  return markedLine(paint('cyan', '●'), call, [state, call.note ?? ''].filter(Boolean).join('  '), place);
}

/** Of a call that is too long for its line, the title is shortened first: time and state are what one looks for. */
function markedLine(mark: string, { tool, title, ms, agent }: CallFacts, rest: string, { width, depth = 0 }: LinePlace): string {
  const indent = '  '.repeat(depth);
  const room = width - indent.length - 2;
  const head = oneLine(`${agent === undefined ? '' : `[${clip(agent, 20)}] `}${headOf(tool, title)}`);
  const tail = ['', duration(ms), ...(rest === '' ? [] : [clip(rest, room)])].join('  ');
  const headRoom = Math.max(Math.min(stringWidth(head), SHORTEST_HEAD), room - stringWidth(tail));
  return `${indent}${mark} ${cut(`${cut(head, headRoom)}${tail}`, room)}`;
}
const SHORTEST_HEAD = 24;

export const headOf = (tool: string, title: string): string =>
  title === tool || title.startsWith(`${tool}(`) || title.startsWith(`${tool} `) ? title : `${tool} ${title}`;

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** One line of a terminal, `width` columns at most: no line breaks, no control characters of a tool's making, no wrapping. */
export function clip(text: string, width: number): string {
  // What is cut away for certain need not be looked at.
  return cut(oneLine(text.slice(0, Math.max(0, width) * 16 + 256)), width);
}

/** A line that is clean already, `width` columns at most. */
export function cut(line: string, width: number): string {
  if (stringWidth(line) <= width) return line;
  return width < 1 ? '' : `${beginning(line, width - 1).trimEnd()}…`;
}

/** As much of a text as fits into so many columns; characters stay whole. */
export function beginning(text: string, width: number): string {
  let end = 0;
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    used += stringWidth(segment);
    if (used > width) break;
    end += segment.length;
  }
  return text.slice(0, end);
}

export const oneLine = (text: string): string => visible(text).replaceAll(/\s+/g, ' ');

/** Control and direction characters made visible: what a person reads before saying yes must be what will run. */
export function visible(text: string): string {
  return text.replaceAll(
    /(?![\t\n])\p{Cc}|[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** Text of a model for a terminal: what could steer the terminal is shown, the rest stays as it is. */
export function printable(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(/(?![\t\n])\p{Cc}/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
