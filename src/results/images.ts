import { isJsonObject } from '../json.js';
import type { DocumentBlockParam, ImageBlockParam } from '../messages/types.js';
import { imageDimensions, isApiImageType, isWholeImage, sniffMediaType } from './media.js';
import { formatBytes, sanitizeText } from './text.js';

/** Largest base64 text of one image that the Messages API takes (Anthropic docs, vision: 5 MB an image). */
export const MAX_IMAGE_BASE64_CHARS = 5 * 1024 * 1024;
/** Largest edge in pixels that the Messages API takes (Anthropic docs, vision). */
export const MAX_IMAGE_EDGE = 8000;
const MAX_DOCUMENT_BASE64_CHARS = 32 * 1024 * 1024;

export type CheckedBlock<Block> = { readonly ok: true; readonly block: Block } | { readonly ok: false; readonly note: string };

/**
 * Decides whether an image block may enter a transcript. One bad image there makes the API refuse every later request, so
 * what does not prove to be an image of a known kind becomes a note. A wrong label between the known kinds is corrected.
 */
export function checkImage(block: ImageBlockParam): CheckedBlock<ImageBlockParam> {
  const { source } = block;
  const refuse = (why: string): CheckedBlock<ImageBlockParam> => ({ ok: false, note: `[image left out: ${why}]` });
  if (!isJsonObject(source)) return refuse('it has no source');
  if (isReference(source)) return { ok: true, block };
  if (source.type !== 'base64') return refuse(`its source of type ${JSON.stringify(source.type)} is unknown or refers to nothing`);
  const declared: string = source.media_type;
  if (typeof source.data !== 'string' || source.data.length === 0) return refuse('it has no data');
  if (source.data.length > MAX_IMAGE_BASE64_CHARS) {
    return refuse(`${formatBytes(source.data.length)} of base64 are over the limit of ${formatBytes(MAX_IMAGE_BASE64_CHARS)}`);
  }
  const bytes = decodeBase64(source.data);
  if (bytes === undefined) return refuse('its data is not valid base64');
  if (!isApiImageType(declared)) return refuse(`${JSON.stringify(declared)} is not an image type that the model can see`);
  const actual = sniffMediaType(bytes);
  if (!isApiImageType(actual)) {
    const inner = decodeBase64(bytes.toString('latin1').trim());
    if (inner !== undefined && isApiImageType(sniffMediaType(inner))) return refuse('its data is base64 twice over');
    return refuse(`its ${formatBytes(bytes.length)} are not ${declared}${actual === undefined ? '' : ` but ${actual}`}`);
  }
  const size = imageDimensions(bytes, actual);
  if (size === undefined || size.width === 0 || size.height === 0) return refuse(`its ${actual} header is broken`);
  if (Math.max(size.width, size.height) > MAX_IMAGE_EDGE) {
    return refuse(`${size.width}×${size.height} pixels are over the limit of ${MAX_IMAGE_EDGE} an edge`);
  }
  if (!isWholeImage(bytes, actual)) return refuse(`its ${actual} data is cut off or damaged`);
  const data = plainBase64(source.data, bytes);
  return {
    ok: true,
    block: declared === actual && data === source.data ? block : { ...block, source: { ...source, media_type: actual, data } },
  };
}

/** True for an address of the web and for the id of an uploaded file. */
function isReference(source: object): boolean {
  const { type, url, file_id: id }: { readonly type?: unknown; readonly url?: unknown; readonly file_id?: unknown } = source;
  if (type === 'url') return typeof url === 'string' && /^https?:\/\/\S/i.test(url);
  return type === 'file' && typeof id === 'string' && id !== '';
}

/** The same for a document block: base64 PDF is checked by its first bytes, text is cleaned as all text is. */
export function checkDocument(block: DocumentBlockParam): CheckedBlock<DocumentBlockParam> {
  const { source } = block;
  const refuse = (why: string): CheckedBlock<DocumentBlockParam> => ({ ok: false, note: `[document left out: ${why}]` });
  if (!isJsonObject(source)) return refuse('it has no source');
  if (isReference(source) || source.type === 'content') return { ok: true, block };
  if (source.type === 'text' && typeof source.data === 'string') {
    if (source.data.trim() === '') return refuse('it is empty');
    return { ok: true, block: { ...block, source: { ...source, data: sanitizeText(source.data) } } };
  }
  if (source.type !== 'base64') return refuse('its source is unknown or refers to nothing');
  const bytes = typeof source.data === 'string' && source.data.length <= MAX_DOCUMENT_BASE64_CHARS ? decodeBase64(source.data) : undefined;
  if (bytes === undefined || sniffMediaType(bytes) !== 'application/pdf') return refuse('its data is not a PDF in base64, or too large');
  const data = plainBase64(source.data, bytes);
  return { ok: true, block: data === source.data ? block : { ...block, source: { ...source, data } } };
}

/** The API takes base64 without line ends and with its padding, in the plain alphabet; encoders write it in other ways too. */
const plainBase64 = (data: string, bytes: Buffer): string =>
  /[^A-Za-z0-9+/=]/.test(data) || data.length % 4 !== 0 ? bytes.toString('base64') : data;

/** A data URL where only its data belongs. */
const DATA_URL = /^data:[^,]{0,200};base64,/i;

/**
 * Strict base64 (padding may be missing), also in the alphabet of URLs or as a data URL; undefined for anything else. `Buffer.from` alone
 * skips what it does not know.
 */
export function decodeBase64(text: string): Buffer | undefined {
  const bare = text.startsWith('data:') ? text.replace(DATA_URL, '') : text;
  const data = /[-_]/.test(bare) && !/[+/]/.test(bare) ? bare.replaceAll('-', '+').replaceAll('_', '/') : bare;
  if (data.length === 0 || !/^[A-Za-z0-9+/\r\n]+={0,2}[\r\n]*$/.test(data)) return undefined;
  const compact = data.replaceAll(/[\r\n=]/g, '');
  return compact.length % 4 === 1 ? undefined : Buffer.from(compact, 'base64');
}
