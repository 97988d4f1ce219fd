import { applyEdits, type JSONPath, modify } from 'jsonc-parser';
import { z } from 'zod';
import { buildTool } from '../tool/build.js';
import { ToolFailure } from '../tool/errors.js';
import { changeFile, type FileChange, type FileChangeOptions } from './fs/change.js';
import { digestOf } from './fs/ledger.js';
import { missingMessage } from './fs/missing.js';
import { absolutePath, refusePath } from './fs/paths.js';
import { cellId, type Notebook, type NotebookCell, parseNotebook, replaceNaN } from './read/notebook.js';

const inputSchema = z.strictObject({
  notebook_path: z.string().describe('Absolute path of the notebook'),
  cell_id: z.string().optional().describe('The cell to replace or delete, or after which to insert; without it, insert at the start'),
  new_source: z.string().describe('The new source of the cell; ignored for delete'),
  cell_type: z.enum(['code', 'markdown']).optional().describe('Kind of the cell; needed for insert'),
  edit_mode: z.enum(['replace', 'insert', 'delete']).default('replace'),
});
type NotebookInput = z.output<typeof inputSchema>;

export interface NotebookChange extends FileChange {
  readonly mode: NotebookInput['edit_mode'];
  readonly cellId: string;
}

/** Changes one cell of a Jupyter notebook; every byte of the other cells stays. */
export function notebookEditTool(options: FileChangeOptions = {}) {
  return buildTool({
    name: 'NotebookEdit',
    description: 'Change a cell of a Jupyter notebook',
    prompt:
      'Replaces, inserts or deletes one cell of a Jupyter notebook (.ipynb). The notebook must have been read with Read first; it shows the ids of the cells. Replacing a code cell clears its outputs.',
    inputSchema,
    searchHint: 'jupyter notebook ipynb cell edit',
    shouldDefer: true,
    isDestructive: (input) => input.edit_mode === 'delete',
    resourceKeys: (input, cwd) => [`file:${absolutePath(input.notebook_path, cwd)}`],
    backfillObservableInput: (input, cwd) => ({ ...input, notebook_path: absolutePath(input.notebook_path, cwd) }),
    toAutoClassifierInput: (input) => `NotebookEdit ${input.notebook_path} ${input.edit_mode}: ${input.new_source}`,
    validateInput(input) {
      const refusal = refusePath(input.notebook_path);
      if (refusal !== undefined) return { ok: false, message: refusal };
      if (!input.notebook_path.endsWith('.ipynb'))
        return { ok: false, message: `${input.notebook_path} is not a notebook (.ipynb). Use Edit.` };
      if (input.edit_mode === 'insert' && input.cell_type === undefined)
        return { ok: false, message: 'cell_type is needed to insert a cell.' };
      if (input.edit_mode !== 'insert' && input.cell_id === undefined)
        return { ok: false, message: `cell_id is needed to ${input.edit_mode} a cell.` };
      return { ok: true };
    },
    async call(input, context) {
      let changed = input.cell_id ?? '';
      let real = '';
      let hasMoved = false;
      const change = await changeFile(input.notebook_path, context, options, async (current, target) => {
        if (current === undefined) throw new ToolFailure(await missingMessage(target.asked));
        const record = context.files.get(target.real);
        if (record === undefined) throw new ToolFailure(`${target.asked} has not been read in this conversation. Read it first.`);
        if (record.digest !== digestOf(current.bytes))
          throw new ToolFailure(`${target.asked} has changed since it was read. Read it again before changing it.`);
        if (current.text === undefined) throw new ToolFailure(`${target.asked} is a binary file.`);
        const readable = withStandIns(current.text.text, input.new_source);
        const notebook = parseNotebook(readable.text, target.asked);
        const edited = editCell(readable.text, notebook, input);
        changed = edited.cellId;
        real = target.real;
        hasMoved = edited.behind.some(({ id }) => id === undefined);
        return { text: readable.restored(edited.text), like: current.text, notes: hasMoved ? [MOVED] : [] };
      });
      // Whoever names a cell by its place means the place where it was seen.
      if (hasMoved) context.files.set(real, { digest: '', partial: false });
      const output: NotebookChange = { ...change, mode: input.edit_mode, cellId: changed };
      return { data: output };
    },
    mapToolResultToToolResultBlockParam: (output) => ({
      content: [`Cell ${output.cellId} of ${output.filePath} was ${PAST[output.mode]}.`, ...output.notes].join('\n'),
    }),
    renderToolUseMessage: (input) => ({
      title: `${input.edit_mode} cell ${input.cell_id ?? ''} of ${input.notebook_path}`,
      body: input.new_source,
      format: 'code',
    }),
    renderToolResultMessage: (output) => ({ title: `NotebookEdit ${output.filePath}`, body: output.diff, format: 'diff' }),
  });
}

const MOVED = 'The cells after it have other numbers now. Read the notebook again before the next change.';
const PAST = { replace: 'replaced', insert: 'inserted', delete: 'deleted' } as const;

interface EditedNotebook {
  readonly text: string;
  readonly cellId: string;
  /** The cells that stand at another place now. */
  readonly behind: readonly NotebookCell[];
}

function editCell(text: string, notebook: Notebook, input: NotebookInput): EditedNotebook {
  const at = input.cell_id === undefined ? -1 : notebook.cells.findIndex((cell, index) => cellId(cell, index) === input.cell_id);
  if (input.cell_id !== undefined && at === -1) {
    const known = notebook.cells.map(cellId).slice(0, 50).join(', ');
    throw new ToolFailure(`There is no cell ${JSON.stringify(input.cell_id)}. The cells are: ${known}.`);
  }
  const namesakes = notebook.cells.filter((cell, index) => cellId(cell, index) === input.cell_id).length;
  if (namesakes > 1) {
    throw new ToolFailure(
      `${namesakes} cells have the id ${JSON.stringify(input.cell_id)}, so it is not clear which is meant. Make the ids differ first, with a command or Write.`,
    );
  }
  const change = (before: string, path: JSONPath, value: unknown, insert = false): string =>
    applyEdits(before, modify(before, path, value, { formattingOptions: formatOf(text), ...(insert ? { isArrayInsertion: true } : {}) }));
  const behind = input.edit_mode === 'replace' ? [] : notebook.cells.slice(at + 1);
  switch (input.edit_mode) {
    case 'delete':
      return { text: change(text, ['cells', at], undefined), cellId: input.cell_id ?? '', behind };
    case 'insert': {
      const id = newCellId(notebook);
      const cell = {
        cell_type: input.cell_type,
        ...(hasIds(notebook) ? { id } : {}),
        metadata: {},
        ...(input.cell_type === 'code' ? { execution_count: null, outputs: [] } : {}),
        source: sourceLines(input.new_source),
      };
      return { text: change(text, ['cells', at + 1], cell, true), cellId: hasIds(notebook) ? id : `cell-${at + 1}`, behind };
    }
    case 'replace': {
      const old = notebook.cells[at];
      const type = input.cell_type ?? old?.cell_type;
      const source = typeof old?.source === 'string' ? input.new_source : sourceLines(input.new_source);
      let result = change(text, ['cells', at, 'source'], source);
      if (type !== old?.cell_type) result = change(result, ['cells', at, 'cell_type'], type);
      // Outputs belong to the source that made them.
      for (const key of ['outputs', 'execution_count'] as const) {
        if (type === 'code') result = change(result, ['cells', at, key], key === 'outputs' ? [] : null);
        else if (old?.cell_type === 'code') result = change(result, ['cells', at, key], undefined);
      }
      return { text: result, cellId: input.cell_id ?? '', behind };
    }
  }
}

/** The text with strings that stand nowhere else for NaN and Infinity, which JSON does not have, and the way back. */
function withStandIns(text: string, added: string): { readonly text: string; restored(edited: string): string } {
  let mark = 'stands for ';
  while (text.includes(mark) || added.includes(mark)) mark = `${mark}_`;
  return {
    text: replaceNaN(text, (token) => JSON.stringify(mark + token)),
    restored: (edited) => edited.replaceAll(new RegExp(`"${mark}(-?(?:NaN|Infinity))"`, 'g'), '$1'),
  };
}

/** Lines with their ends, as notebooks keep them. */
function sourceLines(source: string): string[] {
  return source.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Ids of cells came with version 4.5 of the format. */
function hasIds(notebook: Notebook): boolean {
  return notebook.nbformat > 4 || (notebook.nbformat === 4 && (notebook.nbformat_minor ?? 0) >= 5);
}

/** An id that no cell has, the same for the same notebook. */
function newCellId(notebook: Notebook): string {
  const taken = new Set(notebook.cells.map(cellId));
  for (let number = notebook.cells.length; ; number++) if (!taken.has(`cell-${number}`)) return `cell-${number}`;
}

function formatOf(text: string) {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? ' ';
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  return { insertSpaces: !indent.includes('\t'), tabSize: indent.length, eol };
}
