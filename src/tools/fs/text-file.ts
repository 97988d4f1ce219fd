import { isUtf8 } from 'node:buffer';
import { ToolFailure } from '../../tool/errors.js';

export type TextEncoding = 'utf8' | 'utf16le' | 'utf16be' | 'latin1';

/** A file's bytes as text, with what is needed to write the very same bytes back. */
export interface TextFile {
  readonly text: string;
  readonly encoding: TextEncoding;
  readonly bom: boolean;
}

const BOM = { utf8: [0xef, 0xbb, 0xbf], utf16le: [0xff, 0xfe], utf16be: [0xfe, 0xff], latin1: [] } as const;
export const ENCODING_NAMES: Readonly<Record<TextEncoding, string>> = {
  utf8: 'UTF-8',
  utf16le: 'UTF-16LE',
  utf16be: 'UTF-16BE',
  latin1: 'Latin-1',
};

/** The encoding that a byte order mark names; undefined where there is none. */
export function markedEncoding(bytes: Uint8Array): TextEncoding | undefined {
  return (['utf8', 'utf16le', 'utf16be'] as const).find((encoding) => BOM[encoding].every((byte, index) => bytes[index] === byte));
}

/**
 * Decodes a file's bytes, or returns undefined for binary ones. Lossless: `encodeText` of the result gives the same bytes.
 * A byte order mark decides; without one, valid UTF-8 is UTF-8, and anything else without control characters is Latin-1.
 */
export function decodeText(bytes: Buffer): TextFile | undefined {
  const encoding = markedEncoding(bytes);
  if (encoding !== undefined) {
    const body = bytes.subarray(BOM[encoding].length);
    if (encoding === 'utf8') {
      if (isUtf8(body) && !body.includes(0)) return { text: body.toString('utf8'), encoding, bom: true };
    } else if (body.length % 2 === 0) {
      const little = encoding === 'utf16le' ? body : Buffer.from(body).swap16();
      return { text: little.toString('utf16le'), encoding, bom: true };
    }
  }
  if (bytes.includes(0)) return undefined;
  if (isUtf8(bytes)) return { text: bytes.toString('utf8'), encoding: 'utf8', bom: false };
  return hasControlBytes(bytes) ? undefined : { text: bytes.toString('latin1'), encoding: 'latin1', bom: false };
}

/** C0 controls that no Latin-1 text has; tab, line ends, form feed and escape are text. */
function hasControlBytes(bytes: Buffer): boolean {
  return bytes.some((byte) => byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b);
}

/**
 * Encodes text as a file was encoded.
 * @throws ToolFailure when the encoding has no code for a character.
 */
export function encodeText(text: string, like: Pick<TextFile, 'encoding' | 'bom'>): Buffer {
  const mark = Buffer.from(like.bom ? BOM[like.encoding] : []);
  switch (like.encoding) {
    case 'utf8':
      if (/\p{Surrogate}/u.test(text)) throw new ToolFailure('The text holds half of a surrogate pair, which UTF-8 cannot store.');
      return Buffer.concat([mark, Buffer.from(text, 'utf8')]);
    case 'utf16le':
      return Buffer.concat([mark, Buffer.from(text, 'utf16le')]);
    case 'utf16be':
      return Buffer.concat([mark, Buffer.from(text, 'utf16le').swap16()]);
    case 'latin1': {
      const foreign = [...text].find((character) => (character.codePointAt(0) ?? 0) > 0xff);
      if (foreign !== undefined) {
        throw new ToolFailure(`The file is Latin-1 text, which has no ${JSON.stringify(foreign)}. Convert the file to UTF-8 first.`);
      }
      return Buffer.concat([mark, Buffer.from(text, 'latin1')]);
    }
  }
}

export type LineEnding = '\n' | '\r\n';

/** How a text ends its lines: one way throughout, mixed, or none at all. */
export function lineEndings(text: string): LineEnding | 'mixed' | 'none' {
  let crlf = 0;
  let lf = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (at > 0 && text[at - 1] === '\r') crlf++;
    else lf++;
  }
  if (crlf > 0 && lf > 0) return 'mixed';
  return crlf > 0 ? '\r\n' : lf > 0 ? '\n' : 'none';
}
