import { createHash } from 'node:crypto';
import path from 'node:path';
import { growing } from '../growing.js';
import type { DocumentBlockParam, ImageBlockParam, MessageParam, TextBlockParam } from '../messages/types.js';
import { decodeBase64 } from './images.js';
import { imageDimensions, isApiImageType } from './media.js';
import type { ResultStore } from './store.js';
import { formatBytes } from './text.js';

/** Bytes of base64 data that one request may hold: well under the API's 32 MB a request (Anthropic docs, API errors). */
const REQUEST_IMAGE_BYTES = 20 * 1024 * 1024;
/** Images that a request may hold (Claude API docs, vision: 100 with the smaller context windows). */
const REQUEST_IMAGES = 100;
/** With more images than this in a request, each may have a longest edge of `MANY_IMAGES_EDGE` pixels (Claude API docs, vision). */
const FEW_IMAGES = 20;
const MANY_IMAGES_EDGE = 2000;

/** A block that carries bytes: an image or a PDF document. */
export type MediaBlock = ImageBlockParam | DocumentBlockParam;

/** The file of an image or document, named by its content: the same one is stored once, and its path needs no record. */
export function mediaFileName(block: MediaBlock): string | undefined {
  const { source } = block;
  if (source.type !== 'base64') return undefined;
  const digest = createHash('sha256').update(source.data).digest('hex').slice(0, 24);
  return `${block.type}-${digest}.${source.media_type.split('/')[1] ?? 'bin'}`;
}

/** Saves the images and documents of a result, so that a later placeholder can name their files. */
export async function saveMedia(blocks: readonly MediaBlock[], store: ResultStore): Promise<void> {
  const written = blocks.map((block) => {
    const name = mediaFileName(block);
    const bytes = block.source.type === 'base64' ? decodeBase64(block.source.data) : undefined;
    return name === undefined || bytes === undefined ? undefined : store.put(name, bytes).done;
  });
  await Promise.all(written);
}

export interface ImageBudget {
  /** Default `REQUEST_IMAGE_BYTES`. */
  readonly maxBytes?: number;
  /** Directory in which `saveMedia` put the files. */
  readonly dir: string;
}

/**
 * Keeps the newest images and documents of a request within what the API takes, in bytes, in number and in size; the data of older ones
 * is replaced by a placeholder that names the saved file. Messages, blocks and pairing keep their places. Pure: the same messages give
 * the same request, and messages without anything to replace are returned as they are.
 *
 * What is dropped grows in steps, a quarter of the budget or of the number at a time, so that the request's prefix, and what is cached of
 * it, does not change with every new image.
 */
export function budgetImages(messages: readonly MessageParam[], budget: ImageBudget): readonly MessageParam[] {
  const all = mediaOldestFirst(messages);
  const dropped = new Set(overBytes(all, budget.maxBytes ?? REQUEST_IMAGE_BYTES));
  const images = all.filter((block) => block.type === 'image' && !dropped.has(block));
  for (const block of overNumber(images)) dropped.add(block);
  if (dropped.size === 0) return messages;
  return messages.map((message) => {
    if (message.role !== 'user' || typeof message.content === 'string') return message;
    const { content, changed } = mapChanged(message.content, (block) => {
      if (block.type === 'image' || block.type === 'document') return dropped.has(block) ? placeholder(block, budget.dir) : block;
      if (block.type !== 'tool_result' || !Array.isArray(block.content)) return block;
      const inner = mapChanged(block.content, (part) =>
        (part.type === 'image' || part.type === 'document') && dropped.has(part) ? placeholder(part, budget.dir) : part,
      );
      return inner.changed ? { ...block, content: inner.content } : block;
    });
    return changed ? { ...message, content } : message;
  });
}

function overBytes(all: readonly MediaBlock[], maxBytes: number): readonly MediaBlock[] {
  const total = all.reduce((sum, block) => sum + base64Size(block), 0);
  if (total <= maxBytes) return [];
  const excess = inSteps(total - maxBytes, Math.max(1, Math.floor(maxBytes / 4)));
  const dropped: MediaBlock[] = [];
  let passed = 0;
  for (const block of all) {
    if (passed >= excess) break;
    passed += base64Size(block);
    dropped.push(block);
  }
  return dropped;
}

/** Among many images a large one is refused with the whole request: an older one goes, and for one of the newest all older images go. */
function overNumber(images: readonly MediaBlock[]): readonly MediaBlock[] {
  if (images.length <= FEW_IMAGES) return [];
  const surplus = (limit: number) => images.slice(0, inSteps(Math.max(0, images.length - limit), limit / 4));
  const beforeNewest = surplus(FEW_IMAGES);
  if (images.slice(beforeNewest.length).some(isLarge)) return beforeNewest;
  const tooMany = surplus(REQUEST_IMAGES);
  return [...tooMany, ...beforeNewest.slice(tooMany.length).filter(isLarge)];
}

const inSteps = (amount: number, step: number): number => Math.ceil(amount / step) * step;

/** Base64 characters in which the header of an image is looked for: photographs carry previews before it. */
const HEADER_CHARS = 512 * 1024;
const large = new WeakMap<MediaBlock, boolean>();
function isLarge(block: MediaBlock): boolean {
  const known = large.get(block);
  if (known !== undefined) return known;
  const { width, height } = sizeOf(block) ?? { width: 0, height: 0 };
  const found = Math.max(width, height) > MANY_IMAGES_EDGE;
  large.set(block, found);
  return found;
}

function sizeOf({ source }: MediaBlock) {
  if (source.type !== 'base64' || !isApiImageType(source.media_type)) return undefined;
  return imageDimensions(Buffer.from(source.data.slice(0, HEADER_CHARS), 'base64'), source.media_type);
}

const mediaOldestFirst = growing(({ role, content }: MessageParam): readonly MediaBlock[] => {
  if (role !== 'user' || typeof content === 'string') return [];
  return content.flatMap((block) => {
    const parts = block.type === 'tool_result' && Array.isArray(block.content) ? block.content : [block];
    return parts.flatMap((part) => ((part.type === 'image' || part.type === 'document') && part.source.type === 'base64' ? [part] : []));
  });
});

function mapChanged<Item>(items: readonly Item[], change: (item: Item) => Item): { readonly content: Item[]; readonly changed: boolean } {
  const content = items.map(change);
  return { content, changed: content.some((item, index) => item !== items[index]) };
}

function base64Size(block: MediaBlock): number {
  return block.source.type === 'base64' ? block.source.data.length : 0;
}

function placeholder(block: MediaBlock, dir: string): TextBlockParam {
  const name = mediaFileName(block);
  const type = block.source.type === 'base64' ? block.source.media_type : block.type;
  const where = name === undefined ? '' : `; its file is ${path.join(dir, name)}`;
  return {
    type: 'text',
    text: `[older ${block.type} left out of this request (${type}, ${formatBytes(Math.floor((base64Size(block) * 3) / 4))})${where}]`,
  };
}
