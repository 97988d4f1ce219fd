/** One line of ripgrep's output: of a file, between groups of context, or about a file that it did not show. */
export type RipgrepRecord =
  | { readonly type: 'line'; readonly file: string; readonly text: string }
  | { readonly type: 'gap' }
  | { readonly type: 'binary'; readonly file: string };

const GAP = /^--\r?\n/;
const BINARY = /^([\s\S]+?): (?:binary file matches|WARNING: stopped searching binary file after match) \(found [^\n]*\)\r?(?:\n|$)/;

/**
 * The records of output with `--null`. A file's name ends at its NUL, not at a line's end, so that a name with a line feed in it is read
 * whole: a rule about the file is asked about that name and no other. What has no file's NUL stands before the next one, and is looked for
 * there only: the output may be large.
 */
export function* ripgrepRecords(output: string): Generator<RipgrepRecord> {
  for (let at = 0; at < output.length; ) {
    const nul = output.indexOf('\0', at);
    let head = output.slice(at, nul === -1 ? output.length : nul);
    for (let found = withoutFile(head); found !== undefined; found = withoutFile(head)) {
      yield found.record;
      head = head.slice(found.length);
    }
    if (nul === -1) return;
    const newline = output.indexOf('\n', nul);
    const end = newline === -1 ? output.length : newline;
    const text = output.slice(nul + 1, end);
    yield { type: 'line', file: head, text: text.endsWith('\r') ? text.slice(0, -1) : text };
    at = end + 1;
  }
}

function withoutFile(head: string): { readonly record: RipgrepRecord; readonly length: number } | undefined {
  const gap = GAP.exec(head);
  if (gap !== null) return { record: { type: 'gap' }, length: gap[0].length };
  const [all, file] = BINARY.exec(head) ?? [];
  return all === undefined || file === undefined ? undefined : { record: { type: 'binary', file }, length: all.length };
}

/** The names in output with `--null` that holds nothing else. */
export const fileNames = (output: string): readonly string[] => output.split('\0').filter((file) => file !== '');
