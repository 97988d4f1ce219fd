import { createHash } from 'node:crypto';
import path from 'node:path';
import type { ContentBlockParam, ImageBlockParam, MessageParam, TextBlockParam, ToolResultContent } from '../messages/types.js';
import { decodeBase64 } from './images.js';
import type { ResultStore } from './store.js';
import { formatBytes } from './text.js';

/** Bytes of base64 image data that one request may hold: well under the API's 32 MB a request (Anthropic docs, API errors). */
export const REQUEST_IMAGE_BYTES = 20 * 1024 * 1024;

/** The file of an image, named by its content: the same image is stored once, and its path needs no record. */
export function imageFileName(image: ImageBlockParam): string | undefined {
  if (image.source.type !== 'base64') return undefined;
  const digest = createHash('sha256').update(image.source.data).digest('hex').slice(0, 24);
  return `image-${digest}.${image.source.media_type.slice('image/'.length)}`;
}

/** Saves the images of a result, so that a later placeholder can name their files. */
export async function saveImages(images: readonly ImageBlockParam[], store: ResultStore): Promise<void> {
  const written = images.map((image) => {
    const name = imageFileName(image);
    const bytes = image.source.type === 'base64' ? decodeBase64(image.source.data) : undefined;
    return name === undefined || bytes === undefined ? undefined : store.put(name, bytes).done;
  });
  await Promise.all(written);
}

export interface ImageBudget {
  /** Default `REQUEST_IMAGE_BYTES`. */
  readonly maxBytes?: number;
  /** Directory in which `saveImages` put the files. */
  readonly dir: string;
}

/**
 * Keeps the newest images of a request within a byte budget; the data of older ones is replaced by a placeholder that names the
 * saved file. Messages, blocks and pairing keep their places. Pure: the same messages give the same request, and messages
 * without an image to replace are returned as they are.
 */
export function budgetImages(messages: readonly MessageParam[], budget: ImageBudget): readonly MessageParam[] {
  const maxBytes = budget.maxBytes ?? REQUEST_IMAGE_BYTES;
  let used = 0;
  let full = false;
  const keep = new Set<ImageBlockParam>();
  for (const image of imagesNewestFirst(messages)) {
    if (image.source.type !== 'base64') continue;
    used += image.source.data.length;
    // Once one did not fit all older ones go too: which images a model still sees must not depend on their sizes.
    full ||= used > maxBytes;
    if (!full) keep.add(image);
  }
  if (!full) return messages;
  const replace = (block: ContentBlockParam): ContentBlockParam =>
    block.type === 'image' && block.source.type === 'base64' && !keep.has(block) ? placeholder(block, budget.dir) : block;
  return messages.map((message) => {
    if (message.role !== 'user' || typeof message.content === 'string') return message;
    const content = message.content.map((block) => {
      if (block.type !== 'tool_result' || typeof block.content === 'string' || block.content === undefined) return replace(block);
      const inner: Exclude<ToolResultContent, string> = block.content.map((part) =>
        part.type === 'image' && part.source.type === 'base64' && !keep.has(part) ? placeholder(part, budget.dir) : part,
      );
      return inner.every((part, index) => part === (block.content ?? [])[index]) ? block : { ...block, content: inner };
    });
    const original = message.content;
    return content.every((block, index) => block === original[index]) ? message : { ...message, content };
  });
}

function* imagesNewestFirst(messages: readonly MessageParam[]): Generator<ImageBlockParam> {
  for (const message of messages.toReversed()) {
    if (message.role !== 'user' || typeof message.content === 'string') continue;
    for (const block of message.content.toReversed()) {
      if (block.type === 'image') yield block;
      if (block.type !== 'tool_result' || !Array.isArray(block.content)) continue;
      for (const part of block.content.toReversed()) if (part.type === 'image') yield part;
    }
  }
}

function placeholder(image: ImageBlockParam, dir: string): TextBlockParam {
  const name = imageFileName(image);
  const { source } = image;
  const what = source.type === 'base64' ? `${source.media_type}, ${formatBytes(Math.floor((source.data.length * 3) / 4))}` : 'image';
  const where = name === undefined ? '' : `; its file is ${path.join(dir, name)}`;
  return { type: 'text', text: `[older image left out of this request (${what})${where}]` };
}
