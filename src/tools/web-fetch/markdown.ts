import { sniffMediaType } from '../../results/media.js';
import { formatBytes } from '../../results/text.js';
import { ToolFailure } from '../../tool/errors.js';
import { ENCODING_NAMES, markedEncoding } from '../fs/text-file.js';

/** HTML beyond this many characters is cut before it is converted: the converter's time grows with it. */
const MAX_HTML_CHARS = 2_000_000;

/**
 * The text of an answer: Markdown for HTML, other text as it is.
 * @throws ToolFailure for binary content.
 */
export async function pageText(body: Buffer, contentType: string): Promise<string> {
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll(/["']/g, '');
  const sniffed = sniffMediaType(body);
  if (sniffed !== undefined || (/^(?:image|audio|video|font)\/|octet-stream|zip|pdf/.test(type) && type !== 'image/svg+xml')) {
    throw new ToolFailure(
      `The answer is ${sniffed ?? type} of ${formatBytes(body.length)}, not text. Download it with a command to look into it.`,
    );
  }
  // A byte order mark is right where a header is wrong (WHATWG Encoding, decode).
  const marked = markedEncoding(body);
  const text = decode(body, marked === undefined ? (charset ?? declaredCharset(body)) : ENCODING_NAMES[marked]);
  const isHtml = type === 'text/html' || type === 'application/xhtml+xml' || (type === '' && /^\s*<(?:!doctype html|html)/i.test(text));
  return isHtml ? toMarkdown(text.slice(0, MAX_HTML_CHARS)) : text;
}

/** What a document says of itself in its first kilobyte, where the header says nothing: HTML in a `meta` element, XML in its declaration. */
function declaredCharset(body: Buffer): string | undefined {
  const start = body.toString('latin1', 0, 1024);
  return (/<meta\b[^>]{0,200}?charset\s*=\s*["']?\s*([\w:-]+)/i.exec(start) ??
    /^<\?xml\b[^>]{0,200}?encoding\s*=\s*["']([\w:-]+)/i.exec(start))?.[1];
}

async function toMarkdown(html: string): Promise<string> {
  if (isTooDeep(html)) return bareText(html);
  const { default: TurndownService } = await import('turndown');
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
  service.remove(['script', 'style', 'noscript', 'iframe', 'link', 'meta', 'template']);
  service.remove((node) => node.nodeName.toLowerCase() === 'svg');
  return service.turndown(html).trim();
}

/** Elements within elements beyond this are more than the converter's stack, and its time, take. */
const MAX_DEPTH = 500;
/** Elements that need no end tag, so that a missing one says nothing of depth. */
const UNENDED =
  /^(?:p|li|d[td]|t[rdh]|thead|tbody|tfoot|option|optgroup|colgroup|r[tp]|html|head|body|area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;

function isTooDeep(html: string): boolean {
  let depth = 0;
  for (const [tag, end, name = ''] of html.matchAll(/<(\/?)([a-z][a-z0-9-]{0,40})\b[^<>]{0,2000}>/gi)) {
    if (UNENDED.test(name.toLowerCase()) || tag.endsWith('/>')) continue;
    depth = Math.max(0, depth + (end === '/' ? -1 : 1));
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

const UNSHOWN: ReadonlySet<string> = new Set(['script', 'style', 'noscript', 'template']);

/** What is written between the tags. */
function bareText(html: string): string {
  const parts: string[] = [];
  let from = 0;
  let inside: string | undefined;
  for (const { 0: tag, 1: end, 2: written = '', index } of html.matchAll(/<(\/?)([a-z][a-z0-9-]{0,40})?[^<>]{0,2000}>/gi)) {
    if (inside === undefined) parts.push(html.slice(from, index));
    from = index + tag.length;
    const name = written.toLowerCase();
    if (inside === undefined && end === '' && UNSHOWN.has(name)) inside = name;
    else if (end === '/' && name === inside) inside = undefined;
  }
  if (inside === undefined) parts.push(html.slice(from));
  return parts.join(' ').replaceAll(/\s+/g, ' ').trim();
}

/** Windows-1252 between 0x80 and 0x9F, which Node 20 decodes as the control characters of Latin-1. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

function decode(body: Buffer, charset: string | undefined): string {
  const decoder = decoderFor(charset);
  const text = decoder.decode(body);
  if (decoder.encoding !== 'windows-1252') return text;
  return text.replaceAll(/[\x80-\x9f]/g, (control) => WINDOWS_1252[control.charCodeAt(0) - 0x80] ?? control);
}

function decoderFor(charset: string | undefined) {
  try {
    return new TextDecoder(charset ?? 'utf-8');
  } catch {
    return new TextDecoder('utf-8');
  }
}
