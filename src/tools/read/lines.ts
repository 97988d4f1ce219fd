import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { ToolFailure } from '../../tool/errors.js';

/** Lines of a text as a model sees them. */
export interface LineWindow {
  readonly numbered: string;
  /** 1-based number of the first line shown. */
  readonly firstLine: number;
  readonly shownLines: number;
  readonly totalLines: number;
  /** True when lines, or the end of a line, are missing from the window. */
  readonly partial: boolean;
  /** True when the size cap cut the window. */
  readonly capped: boolean;
  /** True when the size cap cut the one line that is shown. */
  readonly cutLine: boolean;
}

export interface LineRequest {
  /** 1-based; default 1. */
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  readonly maxChars: number;
}

/** The lines of a text; a final line end closes the last line and does not open another. */
export function splitLines(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}

export function windowOf(lines: readonly string[], request: LineRequest): LineWindow {
  const first = request.offset ?? 1;
  const wanted = lines.slice(first - 1, request.limit === undefined ? undefined : first - 1 + request.limit);
  const shown: string[] = [];
  let size = 0;
  let cutLine = false;
  for (const line of wanted) {
    const numbered = `${String(first + shown.length).padStart(6)}\t${line}`;
    if (size + numbered.length + 1 > request.maxChars) {
      if (shown.length === 0) {
        shown.push(cutAt(numbered, request.maxChars));
        cutLine = true;
      }
      break;
    }
    shown.push(numbered);
    size += numbered.length + 1;
  }
  const capped = cutLine || shown.length < wanted.length;
  return {
    numbered: shown.join('\n'),
    firstLine: first,
    shownLines: shown.length,
    totalLines: lines.length,
    partial: cutLine || shown.length < lines.length,
    capped,
    cutLine,
  };
}

/** The start of a text, not cut inside a surrogate pair. */
function cutAt(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/**
 * A window of a file too large to hold in memory: reads it once from start to end, keeping only the lines asked for.
 * The bytes are taken as UTF-8. The digest is that of the whole file.
 */
export async function streamWindow(
  handle: FileHandle,
  request: LineRequest & { readonly limit: number },
  signal: AbortSignal,
): Promise<{ readonly lines: readonly string[]; readonly totalLines: number; readonly digest: string }> {
  const first = request.offset ?? 1;
  const hash = createHash('sha256');
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let line = 1;
  let endsWithNewline = true;
  for await (const chunk of handle.createReadStream({ autoClose: false, highWaterMark: 1 << 20, signal })) {
    const bytes: Buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
    hash.update(bytes);
    endsWithNewline = bytes.at(-1) === 0x0a;
    let from = 0;
    while (from < bytes.length) {
      const newline = bytes.indexOf(0x0a, from);
      const to = newline === -1 ? bytes.length : newline + 1;
      if (line >= first && line < first + request.limit) {
        keptBytes += to - from;
        if (keptBytes > request.maxChars * 4)
          throw new ToolFailure(`The lines asked for are over the limit of ${request.maxChars} characters. Ask for fewer lines.`);
        kept.push(Buffer.from(bytes.subarray(from, to)));
      }
      if (newline !== -1) line++;
      from = to;
    }
  }
  return {
    lines: splitLines(Buffer.concat(kept).toString('utf8')),
    totalLines: endsWithNewline ? line - 1 : line,
    digest: hash.digest('hex'),
  };
}
