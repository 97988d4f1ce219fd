import { messageOf } from '../tool/errors.js';

/**
 * Restate takes messages, steps and values of up to 32 MB each, and tries again and again what is larger. What is written down is kept well
 * below, counted in characters: one may be three bytes, and a quotation mark within a text is two characters.
 */
export const PART_CHARS = 4_000_000;
/** A step's answer cannot be parted. In bytes. */
const MOST_STEP_BYTES = 24 * 1024 * 1024;

/** A long text in pieces that fit. */
export function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += PART_CHARS) parts.push(text.slice(at, at + PART_CHARS));
  return parts;
}

/** Items in runs of which each fits; one that is too large alone is alone. */
export function runsOf<T>(items: readonly T[], charsOf: (item: T) => number): readonly T[][] {
  const runs: T[][] = [];
  let run: T[] = [];
  let chars = 0;
  for (const item of items) {
    const more = charsOf(item);
    if (run.length > 0 && chars + more > PART_CHARS) {
      runs.push(run);
      run = [];
      chars = 0;
    }
    run.push(item);
    chars += more;
  }
  if (run.length > 0) runs.push(run);
  return runs;
}

/** Why a value cannot be a step's answer; undefined where it can. */
export function whyUnwritable(value: unknown): string | undefined {
  try {
    // Undefined, a function or a symbol is no text at all: written down, it is null.
    const text: string | undefined = JSON.stringify(value);
    const bytes = text === undefined ? 0 : Buffer.byteLength(text);
    if (bytes <= MOST_STEP_BYTES) return undefined;
    return `it has ${Math.ceil(bytes / 1024 / 1024)} MB, and no more than ${MOST_STEP_BYTES / 1024 / 1024} MB can be kept. Let it go to a file, and return where that is`;
  } catch (error) {
    return messageOf(error);
  }
}
