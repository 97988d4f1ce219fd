import { lstat } from 'node:fs/promises';
import { createTwoFilesPatch } from 'diff';
import { errorCode, ToolFailure } from '../../tool/errors.js';
import type { ToolContext } from '../../tool/types.js';
import { approvedTarget, openForReading, type Target } from './access.js';
import { digestOf } from './ledger.js';
import { withLock } from './lock.js';
import { newSecret } from './secret-guard.js';
import { decodeText, encodeText, type TextFile } from './text-file.js';
import { type WriteObserver, writeFileSafely } from './write-file.js';

export interface FileChangeOptions {
  /** Refuse to write credentials into files that git shares. Default true. */
  readonly secretGuard?: boolean;
  readonly observe?: WriteObserver;
}

/** A file as it is now, before a change. */
export interface CurrentFile {
  readonly bytes: Buffer;
  /** Undefined for binary content. */
  readonly text: TextFile | undefined;
}

/** What a tool wants a file to be. */
export interface PlannedChange {
  readonly text: string;
  readonly like: Pick<TextFile, 'encoding' | 'bom'>;
  readonly notes: readonly string[];
}

/** What a change did; the output of Edit, Write and NotebookEdit. */
export interface FileChange {
  readonly filePath: string;
  readonly type: 'create' | 'update';
  /** A unified diff of what was written. */
  readonly diff: string;
  readonly notes: readonly string[];
}

/** Largest file that is changed as text, in bytes. */
export const MAX_EDIT_BYTES = 16 * 1024 * 1024;

/**
 * One change of one text file, from resolving its path to reading it back. Changes of the same file run one after the other.
 * `plan` sees the current content and says what it shall be, or throws `ToolFailure`.
 */
export async function changeFile(
  written: string,
  context: ToolContext,
  options: FileChangeOptions,
  plan: (current: CurrentFile | undefined, target: Target) => PlannedChange | Promise<PlannedChange>,
): Promise<FileChange> {
  const target = await approvedTarget(written, 'edit', context);
  return withLock(target.real, async () => {
    const current = await readCurrent(target);
    if (current === undefined && written.endsWith('/'))
      throw new ToolFailure(`${written} names a directory. Give the name of a file in it.`);
    const planned = await plan(current, target);
    const before = current?.text?.text ?? '';
    if (options.secretGuard !== false) {
      const refusal = await newSecret(target.real, before, planned.text);
      if (refusal !== undefined) throw new ToolFailure(refusal);
    }
    const bytes = encodeText(planned.text, planned.like);
    const { notes } = await writeFileSafely({ target, bytes, expected: current?.bytes, observe: options.observe });
    const known = context.files.get(target.real);
    // Who saw a part and changed a part has still not seen the rest.
    context.files.set(target.real, { digest: digestOf(bytes), partial: current !== undefined && known?.partial === true });
    const through = target.real === target.asked ? [] : [`Written to ${target.real}, where the path leads.`];
    return {
      filePath: target.asked,
      type: current === undefined ? 'create' : 'update',
      diff: unifiedDiff(target.asked, before, planned.text),
      notes: [...planned.notes, ...notes, ...through],
    };
  });
}

async function readCurrent(target: Target): Promise<CurrentFile | undefined> {
  const exists = await lstat(target.real).then(
    () => true,
    (error: unknown) => errorCode(error) !== 'ENOENT',
  );
  if (!exists) return undefined;
  const handle = await openForReading(target);
  try {
    const { size } = await handle.stat();
    if (size > MAX_EDIT_BYTES) {
      throw new ToolFailure(
        `${target.asked} has ${size} bytes, over the limit of ${MAX_EDIT_BYTES} for an edit. Use a command (sed, a script) instead.`,
      );
    }
    const bytes = await handle.readFile();
    return { bytes, text: decodeText(bytes) };
  } finally {
    await handle.close();
  }
}

/** A diff for display; bounded, since the diff of two large unrelated texts can take minutes. */
function unifiedDiff(file: string, before: string, after: string): string {
  const diff = createTwoFilesPatch(file, file, before, after, undefined, undefined, { context: 3, timeout: 500 });
  return diff ?? `(${file}: the change is too large for a diff)`;
}
