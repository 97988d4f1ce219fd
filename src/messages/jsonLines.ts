import { parseJson } from '../json.js';

/** One line of a file of JSON lines, as it stands there. */
export interface JsonLine {
  /** From 1. */
  readonly number: number;
  /** Without its line break and without a byte order mark. */
  readonly text: string;
  /** Undefined where the text is not valid JSON. */
  readonly value: unknown;
  /** Whether a byte order mark stands before it. */
  readonly hasMark: boolean;
  /** False for a last line without its line break: whoever wrote it was cut off. */
  readonly isFinished: boolean;
}

const NEWLINE = 0x0a;
const MARK = '\uFEFF';

/** The lines of a file in its order, blank ones included. Never throws; the file is not held as one long string. */
export function* jsonLines(bytes: Buffer): Generator<JsonLine> {
  for (let start = 0, number = 1; start < bytes.length; number++) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    const whole = bytes.toString('utf8', start, end);
    const hasMark = number === 1 && whole.startsWith(MARK);
    const text = hasMark ? whole.slice(1) : whole;
    yield { number, text, value: parseJson(text), hasMark, isFinished: newline !== -1 };
    start = end + 1;
  }
}
