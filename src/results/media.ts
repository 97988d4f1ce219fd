/** What the first bytes of a file say it is, as a media type; undefined when they say nothing. */
export function sniffMediaType(bytes: Uint8Array): string | undefined {
  const starts = (signature: readonly number[], offset = 0): boolean => signature.every((byte, index) => bytes[offset + index] === byte);
  const ascii = (text: string, offset = 0): boolean => starts([...Buffer.from(text, 'latin1')], offset);
  if (starts([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'image/png';
  if (starts([0xff, 0xd8, 0xff])) return 'image/jpeg';
  if (ascii('GIF87a') || ascii('GIF89a')) return 'image/gif';
  if (ascii('RIFF') && ascii('WEBP', 8)) return 'image/webp';
  if (ascii('%PDF-')) return 'application/pdf';
  if (starts([0x1f, 0x8b])) return 'application/gzip';
  if (starts([0x50, 0x4b, 0x03, 0x04])) return 'application/zip';
  if (starts([0x7f, 0x45, 0x4c, 0x46])) return 'application/x-elf';
  if (ascii('BM') && bytes.length > 26 && bytes[14] === 40) return 'image/bmp';
  if (starts([0x49, 0x49, 0x2a, 0x00]) || starts([0x4d, 0x4d, 0x00, 0x2a])) return 'image/tiff';
  if (ascii('ftyp', 4) && ['heic', 'heix', 'hevc', 'mif1', 'msf1'].some((brand) => ascii(brand, 8))) return 'image/heic';
  if (ascii('ftyp', 4) && ascii('avif', 8)) return 'image/avif';
  if (ascii('SQLite format 3\0')) return 'application/vnd.sqlite3';
  return undefined;
}

const API_IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
export type ApiImageType = (typeof API_IMAGE_TYPES)[number];

export function isApiImageType(type: string | undefined): type is ApiImageType {
  return API_IMAGE_TYPES.some((known) => known === type);
}

/** Width and height in pixels, read from the header; undefined when the header is broken or its variant unknown. */
export function imageDimensions(bytes: Buffer, type: ApiImageType): { readonly width: number; readonly height: number } | undefined {
  try {
    switch (type) {
      case 'image/png':
        return bytes.toString('latin1', 12, 16) === 'IHDR' ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) } : undefined;
      case 'image/gif':
        return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
      case 'image/jpeg':
        return jpegDimensions(bytes);
      case 'image/webp':
        return webpDimensions(bytes);
    }
  } catch {
    // Reading past the end: the header is cut off.
    return undefined;
  }
}

/**
 * True for an image that is there to its end, as far as its structure tells: what a broken download or an interrupted writer leaves has a
 * header like any other, but cannot be decoded.
 */
export function isWholeImage(bytes: Buffer, type: ApiImageType): boolean {
  switch (type) {
    case 'image/png':
      return isWholePng(bytes);
    case 'image/jpeg': {
      const scan = bytes.indexOf(Buffer.from([0xff, 0xda]));
      return scan !== -1 && bytes.lastIndexOf(Buffer.from([0xff, 0xd9])) > scan;
    }
    case 'image/webp':
      return bytes.length >= 12 && bytes.readUInt32LE(4) + 8 <= bytes.length;
    case 'image/gif':
      return bytes.length > 13;
  }
}

/** Chunk after chunk from the signature to `IEND`, pixels among them. */
function isWholePng(bytes: Buffer): boolean {
  let hasPixels = false;
  for (let at = 8; at + 12 <= bytes.length; ) {
    const end = at + 12 + bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (end > bytes.length || !/^[A-Za-z]{4}$/.test(type)) return false;
    if (type === 'IEND') return hasPixels;
    hasPixels ||= type === 'IDAT';
    at = end;
  }
  return false;
}

function jpegDimensions(bytes: Buffer): { width: number; height: number } | undefined {
  let offset = 2;
  while (offset + 9 < bytes.length) {
    if (bytes[offset] !== 0xff) return undefined;
    const marker = bytes[offset + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { height: bytes.readUInt16BE(offset + 5), width: bytes.readUInt16BE(offset + 7) };
    offset += 2 + bytes.readUInt16BE(offset + 2);
  }
  return undefined;
}

function webpDimensions(bytes: Buffer): { width: number; height: number } | undefined {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) };
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    default:
      return undefined;
  }
}
