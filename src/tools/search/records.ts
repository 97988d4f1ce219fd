/** One line of ripgrep's output: of a file, between groups of context, or about a file that it did not show. */
export type RipgrepRecord =
  | { readonly type: 'line'; readonly file: string; readonly text: string }
  | { readonly type: 'gap' }
  | { readonly type: 'binary'; readonly file: string };

const GAP = /--\r?\n/y;
const BINARY = /([\s\S]+?): (?:binary file matches|WARNING: stopped searching binary file after match) \(found [^\n]*\)\r?(?:\n|$)/y;

/**
 * The records of output with `--null`. A file's name ends at its NUL, not at a line's end, so that a name with a line feed in it is read
 * whole: a rule about the file is asked about that name and no other.
 */
export function* ripgrepRecords(output: string): Generator<RipgrepRecord> {
  for (let at = 0; at < output.length; ) {
    const taken = (pattern: RegExp): RegExpExecArray | null => {
      pattern.lastIndex = at;
      return pattern.exec(output);
    };
    const gap = taken(GAP);
    if (gap !== null) {
      at += gap[0].length;
      yield { type: 'gap' };
      continue;
    }
    const nul = output.indexOf('\0', at);
    const note = output.indexOf(' (found "\\0" byte', at);
    const binary = note !== -1 && (nul === -1 || note < nul) ? taken(BINARY) : null;
    if (binary?.[1] !== undefined) {
      at += binary[0].length;
      yield { type: 'binary', file: binary[1] };
      continue;
    }
    if (nul === -1) return;
    const newline = output.indexOf('\n', nul);
    const end = newline === -1 ? output.length : newline;
    const text = output.slice(nul + 1, end);
    yield { type: 'line', file: output.slice(at, nul), text: text.endsWith('\r') ? text.slice(0, -1) : text };
    at = end + 1;
  }
}
