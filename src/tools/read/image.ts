import type { ImageBlockParam } from '../../messages/types.js';
import { MAX_IMAGE_BASE64_CHARS, MAX_IMAGE_EDGE } from '../../results/images.js';
import { type ApiImageType, imageDimensions, isWholeImage } from '../../results/media.js';
import { formatBytes } from '../../results/text.js';
import { messageOf, ToolFailure } from '../../tool/errors.js';

/** An image ready for the model, with what became of it. */
export interface ReadImage {
  readonly block: ImageBlockParam;
  readonly note: string;
}

/** Images above this size or edge are made smaller when `sharp` is installed. */
const REENCODE_BYTES = 500 * 1024;
const WANTED_EDGE = 2000;

/**
 * Prepares an image for the model. With the optional package `sharp`, large ones are scaled down and re-encoded; without it
 * they pass as they are up to the API's limits.
 */
export async function prepareImage(bytes: Buffer, type: ApiImageType, asked: string): Promise<ReadImage> {
  const size = imageDimensions(bytes, type);
  if (size === undefined || size.width === 0 || size.height === 0)
    throw new ToolFailure(`${asked} starts like ${type}, but its header is broken.`);
  if (!isWholeImage(bytes, type))
    throw new ToolFailure(`${asked} (${type}, ${formatBytes(bytes.length)}) is cut off or damaged and cannot be shown.`);
  const original = `${type}, ${size.width}×${size.height}, ${formatBytes(bytes.length)}`;
  const edge = Math.max(size.width, size.height);
  if (bytes.length > REENCODE_BYTES || edge > WANTED_EDGE) {
    const smaller = await shrink(bytes, asked);
    if (smaller !== undefined) {
      return { block: block(smaller, 'image/webp'), note: `${original}; scaled down to ${formatBytes(smaller.length)} for viewing` };
    }
  }
  if (bytes.length * (4 / 3) > MAX_IMAGE_BASE64_CHARS || edge > MAX_IMAGE_EDGE) {
    throw new ToolFailure(`${asked} (${original}) is too large to view. Scale it down first, or install the optional package sharp.`);
  }
  return { block: block(bytes, type), note: original };
}

function block(bytes: Buffer, type: ApiImageType): ImageBlockParam {
  return { type: 'image', source: { type: 'base64', media_type: type, data: bytes.toString('base64') } };
}

async function shrink(bytes: Buffer, asked: string): Promise<Buffer | undefined> {
  const sharp = await import('sharp').then(
    (module) => module.default,
    () => undefined,
  );
  if (sharp === undefined) return undefined;
  try {
    return await sharp(bytes)
      .rotate()
      .resize({ width: WANTED_EDGE, height: WANTED_EDGE, fit: 'inside', withoutEnlargement: true })
      .webp({ quality: 85 })
      .toBuffer();
  } catch (error) {
    throw new ToolFailure(`${asked} cannot be decoded as an image: ${messageOf(error)}`);
  }
}
