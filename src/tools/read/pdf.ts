import { messageOf, ToolFailure } from '../../tool/errors.js';

/** Pages that one call may read. */
const MAX_PDF_PAGES = 20;
/** A document up to this many pages may be read whole. */
const MAX_WHOLE_PDF_PAGES = 10;
/** A whole document goes to the model as it is up to this size in bytes; above it, as text. */
const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;

export interface ReadPdf {
  readonly totalPages: number;
  /** The document itself, in base64, for a whole read. */
  readonly base64?: string;
  /** Text of the pages asked for. */
  readonly text?: string;
}

/** `3`, `1-5` or `4-`, as first and last page. */
export function parsePages(pages: string, totalPages: number): { readonly first: number; readonly last: number } {
  const match = /^\s*(\d+)\s*(-\s*(\d+)?\s*)?$/.exec(pages);
  if (match === null) throw new ToolFailure(`pages is ${JSON.stringify(pages)}; give one page ("3") or a range ("1-5").`);
  const first = Number(match[1]);
  const last = match[2] === undefined ? first : match[3] === undefined ? totalPages : Number(match[3]);
  if (first < 1 || last < first) throw new ToolFailure(`pages is ${JSON.stringify(pages)}; pages count from 1 and a range goes upwards.`);
  if (first > totalPages) throw new ToolFailure(`pages starts at ${first}, but the document has ${totalPages} pages.`);
  const end = Math.min(last, totalPages);
  if (end - first + 1 > MAX_PDF_PAGES) throw new ToolFailure(`pages asks for ${end - first + 1} pages; at most ${MAX_PDF_PAGES} a call.`);
  return { first, last: end };
}

/** Reads a PDF: short ones whole (the model sees text and figures), given pages as text. */
export async function readPdf(bytes: Buffer, pages: string | undefined, asked: string, maxChars: number): Promise<ReadPdf> {
  const { getDocument, VerbosityLevel } = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const task = getDocument({
    data: new Uint8Array(bytes),
    verbosity: VerbosityLevel.ERRORS,
    isEvalSupported: false,
    useSystemFonts: true,
    disableFontFace: true,
  });
  try {
    const document = await task.promise;
    const totalPages = document.numPages;
    if (pages === undefined && totalPages > MAX_WHOLE_PDF_PAGES) {
      throw new ToolFailure(
        `${asked} has ${totalPages} pages. Say which to read with pages, such as "1-${MAX_PDF_PAGES}" (at most ${MAX_PDF_PAGES} a call).`,
      );
    }
    if (pages === undefined && bytes.length <= MAX_DOCUMENT_BYTES) return { totalPages, base64: bytes.toString('base64') };
    const { first, last } = parsePages(pages ?? `1-${totalPages}`, totalPages);
    const texts: string[] = [];
    for (let number = first; number <= last; number++) {
      const page = await document.getPage(number);
      const content = await page.getTextContent();
      const text = content.items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('');
      texts.push(`<page number="${number}">\n${text.trim() === '' ? '(no text on this page)' : text}\n</page>`);
      page.cleanup();
    }
    const text = texts.join('\n');
    if (text.length > maxChars)
      throw new ToolFailure(`The pages asked for have ${text.length} characters, over the limit of ${maxChars}. Ask for fewer pages.`);
    return { totalPages, text };
  } catch (error) {
    if (error instanceof ToolFailure) throw error;
    throw new ToolFailure(`${asked} cannot be read as a PDF: ${messageOf(error)}`);
  } finally {
    await task.destroy();
  }
}
