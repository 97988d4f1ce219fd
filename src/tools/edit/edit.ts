import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { buildTool } from '../../tool/build.js';
import { ToolFailure } from '../../tool/errors.js';
import type { FileRecord } from '../../tool/types.js';
import { type CurrentFile, changeFile, type FileChange, type FileChangeOptions, type PlannedChange } from '../fs/change.js';
import { digestOf } from '../fs/ledger.js';
import { missingMessage } from '../fs/missing.js';
import { absolutePath, refusePath, resolveTarget } from '../fs/paths.js';
import { didYouMean, lineOf } from './hints.js';
import { findMatches, type Matches, replaceRanges } from './match.js';

const inputSchema = z.strictObject({
  file_path: z.string().describe('Absolute path of the file to change'),
  old_string: z.string().describe('The text to replace, exactly as it stands in the file'),
  new_string: z.string().describe('The text to put in its place; must differ from old_string'),
  replace_all: z.boolean().default(false).describe('Replace every occurrence instead of exactly one'),
});
type EditInput = z.output<typeof inputSchema>;

export interface EditOutput extends FileChange {
  readonly replacements: number;
  /** 1-based line of the first replacement. */
  readonly line: number;
}

const PROMPT = `Replaces text in a file.
- The file must have been read with Read in this conversation first.
- old_string must match the file exactly, with its indentation, and must occur exactly once; add surrounding lines to make it unique, or set replace_all to change every occurrence.
- Leave out the line numbers that Read puts before each line.
- new_string is written literally. Line ends of the file are kept.
- An empty old_string creates a new file.`;

/** Exact text replacement in one file. */
export function editTool(options: FileChangeOptions = {}) {
  return buildTool({
    name: 'Edit',
    description: 'Replace text in a file',
    prompt: PROMPT,
    inputSchema,
    searchHint: 'modify change replace file text',
    isDestructive: () => false,
    resourceKeys: (input, cwd) => [`file:${absolutePath(input.file_path, cwd)}`],
    backfillObservableInput: (input, cwd) => ({ ...input, file_path: absolutePath(input.file_path, cwd) }),
    toAutoClassifierInput: (input) => `Edit ${input.file_path}: ${input.new_string}`,
    async validateInput(input, context) {
      const refusal = refusePath(input.file_path);
      if (refusal !== undefined) return { ok: false, message: refusal };
      if (input.old_string === input.new_string) {
        return { ok: false, message: 'old_string and new_string are the same, code point by code point. There is nothing to change.' };
      }
      if (input.file_path.endsWith('.ipynb')) return { ok: false, message: 'Notebooks are changed with NotebookEdit, not with Edit.' };
      const real = await resolveTarget(absolutePath(input.file_path, context.cwd, context.env)).catch(() => undefined);
      if (real !== undefined && input.old_string !== '' && context.files.get(real) === undefined && (await isFile(real))) {
        return { ok: false, message: notRead(input.file_path) };
      }
      return { ok: true };
    },
    async call(input, context) {
      let matches: Matches = { kind: 'exact', ranges: [], unique: false };
      let line = 1;
      const change = await changeFile(input.file_path, context, options, async (current, target) => {
        if (current === undefined || (current.bytes.length === 0 && input.old_string === ''))
          return createdBy(input, current, target.asked);
        const text = textOf(current, target.asked);
        if (input.old_string === '')
          throw new ToolFailure(`old_string is empty, but ${target.asked} exists and is not empty. Use Write to replace it whole.`);
        const record = context.files.get(target.real);
        if (record === undefined) throw new ToolFailure(notRead(target.asked));
        // The mark at the start of a file is no part of its text; `cat` shows it all the same.
        const [old, replacement] = text.bom ? withoutMark(input.old_string, input.new_string) : [input.old_string, input.new_string];
        matches = findMatches(text.text, old);
        checkRecord(record, current, input, target.asked);
        checkCount(matches, text.text, input, target.asked);
        const replaced = replaceRanges(text.text, matches, replacement);
        if (replaced === text.text)
          throw new ToolFailure('The file already reads so; only line ends would differ, and those are kept as they are.');
        line = lineOf(text.text, matches.ranges[0]?.start ?? 0);
        return { text: replaced, like: text, notes: notesOn(matches) };
      });
      return { data: { ...change, replacements: Math.max(1, matches.ranges.length), line } };
    },
    mapToolResultToToolResultBlockParam: (output) => ({ content: describeEdit(output) }),
    renderToolUseMessage: (input) => ({
      title: `Edit ${input.file_path}`,
      body: `- ${input.old_string}\n+ ${input.new_string}`,
      format: 'diff',
    }),
    renderToolResultMessage: (output) => ({ title: `Edit ${output.filePath}`, body: output.diff, format: 'diff' }),
  });
}

function describeEdit(output: EditOutput): string {
  const done =
    output.type === 'create'
      ? `${output.filePath} was created.`
      : `${output.filePath} was changed: ${output.replacements === 1 ? `1 replacement at line ${output.line}` : `${output.replacements} replacements, the first at line ${output.line}`}.`;
  return [done, ...output.notes].join('\n');
}

async function createdBy(input: EditInput, current: CurrentFile | undefined, asked: string): Promise<PlannedChange> {
  if (input.old_string === '') {
    return { text: input.new_string, like: current?.text ?? { encoding: 'utf8', bom: false }, notes: [] };
  }
  throw new ToolFailure(await missingMessage(asked));
}

function textOf(current: CurrentFile, asked: string) {
  if (current.text === undefined) throw new ToolFailure(`${asked} is a binary file; Edit changes text only.`);
  return current.text;
}

/** Content decides, never a time stamp: a `touch` changes nothing, a restored time stamp hides nothing. */
function checkRecord(record: FileRecord, current: CurrentFile, input: EditInput, asked: string): void {
  const unchanged = record.digest === digestOf(current.bytes);
  if (record.partial && input.replace_all) {
    throw new ToolFailure(`Only a part of ${asked} was read, and replace_all could change lines that were not. Read the whole file first.`);
  }
  if (unchanged || record.partial) return;
  throw new ToolFailure(`${asked} has changed since it was read. Read it again before changing it.`);
}

function checkCount({ kind, ranges, unique }: Matches, text: string, input: EditInput, asked: string): void {
  if (ranges.length === 0) {
    const hint = didYouMean(text, input.old_string);
    throw new ToolFailure(`old_string was not found in ${asked}.${hint === '' ? '' : `\n${hint}`}`);
  }
  if (unique) return;
  const lines = ranges.slice(0, 10).map((range) => lineOf(text, range.start));
  const where = `${lines.join(', ')}${ranges.length > 10 ? ', …' : ''}`;
  if (kind === 'quotes') {
    throw new ToolFailure(
      `old_string was not found in ${asked} as it is. With curly and straight quotes as the same it matches ${ranges.length} places (lines ${where}); give the file's own quotes.`,
    );
  }
  if (!input.replace_all) {
    throw new ToolFailure(
      `old_string occurs ${ranges.length === 1 ? 'more than once, overlapping itself,' : `${ranges.length} times`} in ${asked} (lines ${where}). Add surrounding text to make it unique, or set replace_all.`,
    );
  }
}

function withoutMark(old: string, replacement: string): readonly [string, string] {
  const isMarked = [old, replacement].every((text) => text.startsWith('\uFEFF'));
  return isMarked && old.length > 1 ? [old.slice(1), replacement.slice(1)] : [old, replacement];
}

function notesOn({ kind }: Matches): string[] {
  if (kind === 'quotes') return ['The match treats curly and straight quotes as the same; new_string was written with the quotes given.'];
  return [];
}

function notRead(asked: string): string {
  return `${asked} has not been read in this conversation. Read it first, then edit it.`;
}

/** Of a directory or a device the call itself says what it is. */
async function isFile(real: string): Promise<boolean> {
  return stat(real).then(
    (stats) => stats.isFile(),
    () => false,
  );
}
