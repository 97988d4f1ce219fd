import stripAnsi from 'strip-ansi';

/** Stands for a result without any text: the Messages API refuses empty text blocks, and a model needs a sign that nothing is missing. */
export const NO_OUTPUT = '(no output)';
/** The same where what there is stands behind the results of the message. */
export const OUTPUT_FOLLOWS = '(the output follows after the results)';

/**
 * Tools that show files as they are: a model copies from these results into edits, so escape sequences stay.
 * From every other tool's text they are stripped.
 */
const EXACT_TEXT_TOOLS: ReadonlySet<string> = new Set(['Read', 'Grep']);

/**
 * Text fit for a transcript: lone surrogates become U+FFFD and NUL becomes the visible U+2400, since neither survives every
 * reader; ANSI escape sequences are stripped, except from the tools that show files exactly.
 */
export function sanitizeText(text: string, toolName?: string): string {
  const plain = toolName !== undefined && EXACT_TEXT_TOOLS.has(toolName) ? text : withoutEscapes(text);
  return plain.replaceAll('\0', '\u2400').replaceAll(/\p{Surrogate}/gu, '\uFFFD');
}

/** Without escape sequences, also those that start with the one character for ESC and `[`; what is left of a broken one shows. */
function withoutEscapes(text: string): string {
  return text.includes('\u001B') || text.includes('\u009B') ? stripAnsi(text).replaceAll('\u001B', '\u241B') : text;
}

/**
 * True when decoded text is most likely no text: more than one character in ten is a control character or undecodable. One that was
 * cut off at the very end does not count: that is how a text looks whose writer was stopped. Nor do one or two in a short text: a letter of
 * another encoding, a NUL after a name.
 */
export function looksBinary(text: string): boolean {
  const sample = (text.endsWith('\uFFFD') ? text.slice(0, -1) : text).slice(0, 8192);
  if (sample.length === 0) return false;
  let odd = 0;
  for (let index = 0; index < sample.length; index++) {
    const code = sample.charCodeAt(index);
    if (
      code === 0xfffd ||
      code === 0x7f ||
      (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d && code !== 0x1b && code !== 0x08)
    )
      odd++;
  }
  return odd === sample.length || (odd > 2 && odd * 10 > sample.length);
}

/** The longest start of `text` within `maxBytes` of UTF-8 that ends between characters, at a line's end where one is near. */
export function headWithin(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.slice(0, maxBytes), 'utf8');
  const whole = bytes.length <= maxBytes ? bytes.toString('utf8') : bytes.subarray(0, characterBoundary(bytes, maxBytes)).toString('utf8');
  if (whole.length >= text.length) return text;
  // `slice` by code units may have cut a surrogate pair; its half came back as U+FFFD.
  const clean = whole.endsWith('\uFFFD') && text[whole.length - 1] !== '\uFFFD' ? whole.slice(0, -1) : whole;
  const lineEnd = clean.lastIndexOf('\n');
  // A long line after a short one is better cut than left out.
  return lineEnd > clean.length / 2 ? clean.slice(0, lineEnd) : clean;
}

/** The longest end of `text` within `maxBytes` of UTF-8 that starts between characters, at a line's start where one is near. */
export function tailWithin(text: string, maxBytes: number): string {
  let start = Math.max(0, text.length - maxBytes);
  if (isLowSurrogate(text, start)) start++;
  let bytes = Buffer.from(text.slice(start), 'utf8');
  if (bytes.length > maxBytes) {
    let from = bytes.length - maxBytes;
    while (from < bytes.length && isContinuation(bytes[from])) from++;
    bytes = bytes.subarray(from);
  }
  const tail = bytes.toString('utf8');
  if (tail.length >= text.length) return text;
  const lineStart = tail.indexOf('\n');
  return lineStart >= 0 && lineStart < tail.length / 2 ? tail.slice(lineStart + 1) : tail;
}

/** The largest position up to `limit` at which no UTF-8 character is cut. */
export function characterBoundary(bytes: Uint8Array, limit: number): number {
  let end = Math.min(limit, bytes.length);
  if (end === bytes.length) return end;
  while (end > 0 && isContinuation(bytes[end])) end--;
  return end;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
function isLowSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff;
}

/** `1,234` in one form on every machine. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** `812 bytes`, `30.3 KB`, `1.5 MB` (1 KB = 1,024 bytes). */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const units = ['KB', 'MB', 'GB'];
  let size = bytes / 1024;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${size.toFixed(1)} ${units[unit]}`;
}
