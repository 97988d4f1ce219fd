import type {
  ContentBlockParam,
  DocumentBlockParam,
  ImageBlockParam,
  MessageParam,
  TextBlockParam,
  ToolResultBlockParam,
} from './types.js';

export interface MediaBudget {
  /** Characters of base64 data that one request may carry. */
  readonly maxChars: number;
  /** Where the data was saved, so that it can be read again; asked with the call's id when it came from a call. */
  readonly savedAs?: (callId: string | undefined) => string | undefined;
}

type Media = ImageBlockParam | DocumentBlockParam;
interface Found {
  readonly block: Media;
  readonly size: number;
}

/**
 * Keeps a request under a byte budget by replacing the oldest images and documents with a placeholder; the newest stay, and no call or
 * result is touched otherwise. When the budget runs over, everything down to half of it goes at once: what is cleared stays cleared as
 * the conversation grows, and the prefix of the requests changes rarely.
 */
export function limitMedia(messages: readonly MessageParam[], { maxChars, savedAs }: MediaBudget): MessageParam[] {
  const cleared = chooseCleared(messages.flatMap(mediaOf), maxChars);
  if (cleared.size === 0) return [...messages];
  const replace = (block: Media, callId: string | undefined): TextBlockParam => {
    const path = savedAs?.(callId);
    return {
      type: 'text',
      text: `[Older ${block.type} left out to keep the request small${path === undefined ? '' : `; saved at ${path}`}]`,
    };
  };
  return messages.map((message) => {
    if (message.role !== 'user' || typeof message.content === 'string') return message;
    const content = message.content.map((block): ContentBlockParam => {
      if (isMedia(block)) return cleared.has(block) ? replace(block, undefined) : block;
      if (block.type !== 'tool_result' || !Array.isArray(block.content)) return block;
      const parts = block.content.map((part) => (isMedia(part) && cleared.has(part) ? replace(part, block.tool_use_id) : part));
      return { ...block, content: parts };
    });
    return { ...message, content };
  });
}

/** Replays the conversation: each overrun clears the oldest until half the budget is left. Later media never bring earlier ones back. */
function chooseCleared(media: readonly Found[], maxChars: number): ReadonlySet<Media> {
  const cleared = new Set<Media>();
  let held = 0;
  let oldest = 0;
  for (const [index, { size }] of media.entries()) {
    held += size;
    if (held <= maxChars) continue;
    // The newest is kept as long as it fits alone.
    for (; oldest <= index && held > maxChars / 2; oldest++) {
      const entry = media[oldest];
      if (entry === undefined || (oldest === index && entry.size <= maxChars)) break;
      cleared.add(entry.block);
      held -= entry.size;
    }
  }
  return cleared;
}

function mediaOf(message: MessageParam): Found[] {
  if (message.role !== 'user' || typeof message.content === 'string') return [];
  return message.content.flatMap((block) => {
    const parts: readonly (ContentBlockParam | ResultPart)[] =
      block.type === 'tool_result' && Array.isArray(block.content) ? block.content : [block];
    return parts.flatMap((part) => (isMedia(part) ? [{ block: part, size: sizeOf(part) }] : []));
  });
}

type ResultPart = Exclude<ToolResultBlockParam['content'], string | undefined>[number];

function isMedia(block: ContentBlockParam | ResultPart): block is Media {
  return block.type === 'image' || block.type === 'document';
}

function sizeOf({ source }: Media): number {
  return 'data' in source && typeof source.data === 'string' ? source.data.length : 0;
}
