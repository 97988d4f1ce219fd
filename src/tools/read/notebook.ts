import { z } from 'zod';
import type { ImageBlockParam } from '../../messages/types.js';
import { headWithin, sanitizeText } from '../../results/text.js';
import { messageOf, ToolFailure } from '../../tool/errors.js';

const multiline = z.union([z.string(), z.array(z.string())]);
const outputSchema = z.looseObject({
  output_type: z.string(),
  text: multiline.optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  ename: z.string().optional(),
  evalue: z.string().optional(),
  traceback: z.array(z.string()).optional(),
});
const cellSchema = z.looseObject({
  id: z.string().optional(),
  cell_type: z.enum(['code', 'markdown', 'raw']),
  source: multiline,
  outputs: z.array(outputSchema).optional(),
});
/** A Jupyter notebook, as far as tools look into it; everything else is kept. */
const notebookSchema = z.looseObject({
  cells: z.array(cellSchema),
  metadata: z.looseObject({ language_info: z.looseObject({ name: z.string() }).optional() }).optional(),
  nbformat: z.number(),
  nbformat_minor: z.number().optional(),
});
export type Notebook = z.output<typeof notebookSchema>;
export type NotebookCell = Notebook['cells'][number];

export function parseNotebook(text: string, asked: string): Notebook {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw noNotebook(asked, messageOf(error));
  }
  const parsed = notebookSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw noNotebook(asked, `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
}

function noNotebook(asked: string, why: string): ToolFailure {
  return new ToolFailure(
    `${asked} is not a notebook: ${why}\nRead it as lines with offset and limit to see it; Write can then replace it.`,
  );
}

/** Python writes NaN and Infinity into notebooks, which JSON does not have: null in their place. Strings stay as they are. */
export function withoutNaN(text: string): string {
  return replaceNaN(text, () => 'null');
}

/** The text with something else for each NaN and Infinity outside of strings. */
export function replaceNaN(text: string, standIn: (token: string) => string): string {
  if (!/NaN|Infinity/.test(text)) return text;
  // Quote by quote: a pattern for a whole string is out of stack where the string is a large picture.
  let inString = false;
  return text.replaceAll(/\\.|"|-?\b(?:NaN|Infinity)\b/g, (token) => {
    if (token === '"') inString = !inString;
    return inString || token === '"' || token.startsWith('\\') ? token : standIn(token);
  });
}

function joined(source: string | readonly string[] | undefined): string {
  return source === undefined ? '' : typeof source === 'string' ? source : source.join('');
}

/** The id by which NotebookEdit finds a cell: its own, or its position in notebooks that have no ids. */
export function cellId(cell: NotebookCell, index: number): string {
  return cell.id ?? `cell-${index}`;
}

/** The cells with their outputs as text for the model, and the images among the outputs. */
export function showNotebook(notebook: Notebook): { readonly text: string; readonly images: readonly ImageBlockParam[] } {
  const language = notebook.metadata?.language_info?.name ?? 'code';
  const images: ImageBlockParam[] = [];
  const parts = notebook.cells.map((cell, index) => {
    const kind = cell.cell_type === 'code' ? language : cell.cell_type;
    const outputs = (cell.outputs ?? []).map((output) => showOutput(output, images)).filter((text) => text !== '');
    const source = `<cell id="${cellId(cell, index)}" type="${kind}">\n${joined(cell.source)}\n</cell>`;
    return outputs.length === 0 ? source : `${source}\n<output>\n${outputs.join('\n')}\n</output>`;
  });
  return { text: parts.join('\n'), images };
}

function showOutput(output: z.output<typeof outputSchema>, images: ImageBlockParam[]): string {
  if (output.output_type === 'error')
    return bounded([`${output.ename ?? 'Error'}: ${output.evalue ?? ''}`, ...(output.traceback ?? [])].join('\n'));
  const { data } = output;
  if (data === undefined) return bounded(joined(output.text));
  for (const type of ['image/png', 'image/jpeg'] as const) {
    const image = multiline.safeParse(data[type]);
    if (image.success) {
      images.push({ type: 'image', source: { type: 'base64', media_type: type, data: joined(image.data).replaceAll(/\s/g, '') } });
      return '[image below]';
    }
  }
  const plain = multiline.safeParse(data['text/plain']);
  return plain.success ? bounded(joined(plain.data)) : `[${Object.keys(data).join(', ')}]`;
}

const MAX_OUTPUT_CHARS = 10_000;
/** Output as it would be printed: unlike the source of a cell, nobody copies it into an edit, so colour codes go. */
function bounded(output: string): string {
  const text = sanitizeText(output);
  const head = headWithin(text, MAX_OUTPUT_CHARS);
  return head.length === text.length ? text : `${head}\n[${text.length - head.length} more characters]`;
}
