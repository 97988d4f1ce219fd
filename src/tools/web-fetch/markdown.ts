import { sniffMediaType } from '../../results/media.js';
import { formatBytes } from '../../results/text.js';
import { ToolFailure } from '../../tool/errors.js';

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
    .replaceAll('"', '');
  const sniffed = sniffMediaType(body);
  if (sniffed !== undefined || /^(?:image|audio|video|font)\/|octet-stream|zip|pdf/.test(type)) {
    throw new ToolFailure(
      `The answer is ${sniffed ?? type} of ${formatBytes(body.length)}, not text. Download it with a command to look into it.`,
    );
  }
  const text = decoderFor(charset).decode(body);
  const isHtml = type === 'text/html' || type === 'application/xhtml+xml' || (type === '' && /^\s*<(?:!doctype html|html)/i.test(text));
  return isHtml ? toMarkdown(text.slice(0, MAX_HTML_CHARS)) : text;
}

async function toMarkdown(html: string): Promise<string> {
  const { default: TurndownService } = await import('turndown');
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
  service.remove(['script', 'style', 'noscript', 'iframe', 'link', 'meta', 'template']);
  service.remove((node) => node.nodeName.toLowerCase() === 'svg');
  return service.turndown(html).trim();
}

function decoderFor(charset: string | undefined) {
  try {
    return new TextDecoder(charset ?? 'utf-8');
  } catch {
    return new TextDecoder('utf-8');
  }
}
