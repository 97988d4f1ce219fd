import { z } from 'zod';
import type { ImageBlockParam } from '../../messages/types.js';
import { isApiImageType, sniffMediaType } from '../../results/media.js';
import { formatBytes } from '../../results/text.js';
import { buildTool } from '../../tool/build.js';
import { ToolFailure, throwIfAborted } from '../../tool/errors.js';
import type { MappedToolResult, ToolContext } from '../../tool/types.js';
import { approvedTarget, openForReading, type Target } from '../fs/access.js';
import { digestOf, type LinesShown, recordSeen } from '../fs/ledger.js';
import { absolutePath, refusePath } from '../fs/paths.js';
import { decodeText, ENCODING_NAMES } from '../fs/text-file.js';
import { prepareImage } from './image.js';
import { splitLines, streamWindow, windowOf } from './lines.js';
import { parseNotebook, showNotebook, withoutNaN } from './notebook.js';
import { readPdf } from './pdf.js';

const inputSchema = z.strictObject({
  file_path: z.string().describe('Absolute path of the file to read'),
  offset: z
    .number()
    .int()
    .positive()
    .optional()
    .describe('Number of the first line to read, from 1. Only for files too large to read at once'),
  limit: z.number().int().positive().optional().describe('How many lines to read. Only for files too large to read at once'),
  pages: z.string().optional().describe('For PDF files: a page or a range such as "1-5", at most 20 pages'),
});
type ReadInput = z.output<typeof inputSchema>;

export type ReadOutput =
  | { readonly type: 'text'; readonly filePath: string; readonly text: string; readonly notes: readonly string[] }
  | { readonly type: 'image'; readonly filePath: string; readonly image: ImageBlockParam; readonly notes: readonly string[] }
  | { readonly type: 'document'; readonly filePath: string; readonly base64: string; readonly notes: readonly string[] }
  | {
      readonly type: 'notebook';
      readonly filePath: string;
      readonly text: string;
      readonly images: readonly ImageBlockParam[];
      readonly notes: readonly string[];
    };

const PROMPT = `Reads a file from the local file system.
- The path must be absolute. Directories are not files: list them with Glob or ls.
- The whole file is read unless offset and limit say otherwise; lines are numbered from 1. A file over the size limit is cut with a PARTIAL view notice.
- Images (PNG, JPEG, GIF, WebP) are shown. PDF files are shown whole up to 10 pages; give pages for longer ones. Notebooks (.ipynb) are shown as cells with their outputs.
- Several files can be read at once.`;

/** A token is about four characters of text; the documented cap counts tokens. */
const CHARS_PER_TOKEN = 4;
const DEFAULT_MAX_TOKENS = 25_000;
/** Files above this size in bytes are read only in windows. */
const MAX_WHOLE_BYTES = 32 * 1024 * 1024;
const MAX_NOTEBOOK_BYTES = 100 * 1024 * 1024;

/** Reads one file, whatever it holds. */
export function readTool() {
  return buildTool({
    name: 'Read',
    description: 'Read a file',
    prompt: PROMPT,
    inputSchema,
    searchHint: 'view open show file contents image pdf notebook',
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    isDestructive: () => false,
    idempotent: true,
    interruptBehavior: 'cancel',
    // It bounds itself, and a persisted copy of a file would only ask to be read in turn.
    maxResultSizeChars: 1_000_000,
    backfillObservableInput: (input, cwd) => ({ ...input, file_path: absolutePath(input.file_path, cwd) }),
    toAutoClassifierInput: (input) => `Read ${input.file_path}`,
    validateInput(input) {
      const refusal = refusePath(input.file_path);
      return refusal === undefined ? { ok: true } : { ok: false, message: refusal };
    },
    call: async (input, context) => ({ data: await read(input, context) }),
    mapToolResultToToolResultBlockParam: mapReadOutput,
    renderToolUseMessage: (input) => ({ title: `Read ${input.file_path}` }),
    renderToolResultMessage: (output) => ({
      title: `Read ${output.filePath}`,
      body: output.type === 'text' || output.type === 'notebook' ? output.text : output.notes.join('\n'),
      format: 'code',
    }),
  });
}

async function read(input: ReadInput, context: ToolContext): Promise<ReadOutput> {
  const target = await approvedTarget(input.file_path, 'read', context);
  const maxChars = maxTokens(context) * CHARS_PER_TOKEN;
  const handle = await openForReading(target);
  try {
    const { size } = await handle.stat();
    const isNotebook = target.real.endsWith('.ipynb');
    if (size > (isNotebook ? MAX_NOTEBOOK_BYTES : MAX_WHOLE_BYTES)) {
      const start = Buffer.alloc(Math.min(size, 64));
      await handle.read(start, 0, start.length, 0);
      const type = sniffMediaType(start);
      if (type !== undefined) throw new ToolFailure(`${target.asked} (${type}) has ${formatBytes(size)}, too much to show. Use a command.`);
      if (input.limit === undefined || isNotebook) {
        throw new ToolFailure(
          `${target.asked} has ${formatBytes(size)}, too much to read at once. Give offset and limit, or search it with Grep.`,
        );
      }
      const request = { offset: input.offset, limit: input.limit, maxChars };
      const { lines, totalLines, digest } = await streamWindow(handle, request, context.signal);
      const first = input.offset ?? 1;
      if (lines.length === 0) return { type: 'text', filePath: target.asked, text: '', notes: [pastEnd(first, totalLines)] };
      const text = lines.map((line, index) => `${String(first + index).padStart(6)}\t${line}`).join('\n');
      if (text.length > maxChars) throw overLimit(maxChars);
      recordSeen(context.files, target.real, { digest, partial: true });
      return { type: 'text', filePath: target.asked, text, notes: [partialNote(first, lines.length, totalLines)] };
    }
    const bytes = await handle.readFile();
    throwIfAborted(context.signal);
    return await show(bytes, target, input, context, maxChars);
  } finally {
    await handle.close();
  }
}

async function show(bytes: Buffer, target: Target, input: ReadInput, context: ToolContext, maxChars: number): Promise<ReadOutput> {
  const filePath = target.asked;
  const seen = (partial: boolean, lines?: LinesShown): void =>
    recordSeen(context.files, target.real, { digest: digestOf(bytes), partial }, lines);
  // The bytes decide, not the name: a PNG named .txt is a picture.
  const type = sniffMediaType(bytes);
  if (isApiImageType(type)) {
    const { block, note } = await prepareImage(bytes, type, filePath);
    seen(false);
    return { type: 'image', filePath, image: block, notes: [note] };
  }
  if (type === 'application/pdf') {
    const pdf = await readPdf(bytes, input.pages, filePath, maxChars);
    seen(pdf.base64 === undefined);
    const notes = [
      `PDF, ${pdf.totalPages} pages, ${formatBytes(bytes.length)}${pdf.text === undefined ? '' : '; text only, figures are not shown'}`,
    ];
    return pdf.base64 === undefined
      ? { type: 'text', filePath, text: pdf.text ?? '', notes }
      : { type: 'document', filePath, base64: pdf.base64, notes };
  }
  if (input.pages !== undefined) throw new ToolFailure(`pages is for PDF files; ${filePath} is none.`);
  const file = decodeText(bytes);
  if (file === undefined) {
    throw new ToolFailure(
      `${filePath} is a binary file (${formatBytes(bytes.length)}${type === undefined ? '' : `, ${type}`}) and cannot be shown as text.`,
    );
  }
  if (target.real.endsWith('.ipynb') && file.text.trim() !== '' && input.offset === undefined && input.limit === undefined) {
    const { text, images } = showNotebook(parseNotebook(withoutNaN(file.text), filePath));
    if (text.length > maxChars)
      throw new ToolFailure(
        `${filePath} shows as ${text.length} characters, over the limit of ${maxChars}. Read it as lines with offset and limit.`,
      );
    seen(false);
    return { type: 'notebook', filePath, text, images, notes: [] };
  }
  const lines = splitLines(file.text);
  const window = windowOf(lines, { offset: input.offset, limit: input.limit, maxChars });
  if (window.capped && (input.offset !== undefined || input.limit !== undefined) && window.shownLines > 0 && lines.length > 1) {
    throw overLimit(maxChars);
  }
  seen(window.partial, { first: window.firstLine, count: window.cutLine ? 0 : window.shownLines, total: lines.length });
  const notes = file.encoding === 'utf8' ? [] : [`Encoding: ${ENCODING_NAMES[file.encoding]}.`];
  if (lines.length === 0) notes.push('The file exists but is empty.');
  else if (window.shownLines === 0) notes.push(pastEnd(window.firstLine, lines.length));
  else if (window.partial) notes.push(partialNote(window.firstLine, window.shownLines, lines.length, window.capped));
  return { type: 'text', filePath, text: window.numbered, notes };
}

const pastEnd = (first: number, total: number): string => `offset ${first} is past the end: the file has ${total} lines.`;

function overLimit(maxChars: number): ToolFailure {
  return new ToolFailure(`The lines asked for are over the limit of ${maxChars} characters. Ask for fewer lines, or search with Grep.`);
}

function partialNote(first: number, shown: number, total: number, capped = false): string {
  const why = capped ? ' The file is over the size limit of one read; use offset and limit, or Grep, for the rest.' : '';
  return `PARTIAL view: lines ${first}-${first + shown - 1} of ${total}.${why}`;
}

function maxTokens(context: ToolContext): number {
  const configured = Number(context.env.CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS);
  return Number.isInteger(configured) && configured > 0 ? configured : DEFAULT_MAX_TOKENS;
}

function mapReadOutput(output: ReadOutput): MappedToolResult {
  const notes = output.notes.map((note) => `[${note}]`);
  switch (output.type) {
    case 'text':
      return { content: [output.text, ...notes].filter((part) => part !== '').join('\n') };
    case 'image':
      return { content: [{ type: 'text', text: notes.join('\n') }, output.image] };
    case 'document':
      return {
        content: [
          { type: 'text', text: notes.join('\n') },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: output.base64 } },
        ],
      };
    case 'notebook':
      return { content: [{ type: 'text', text: [output.text, ...notes].join('\n') }, ...output.images] };
  }
}
