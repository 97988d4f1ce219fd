import type { ToolResultBlockParam, ToolResultContent } from '../messages/types.js';
import { textOf, textSize } from './map.js';
import type { ResultStore } from './store.js';
import { formatBytes, formatCount, headWithin, tailWithin } from './text.js';

/** Bytes of a persisted output that the model sees at once. */
const PREVIEW_BYTES = 2048;
/** Characters that the fresh results of one user message may have together. */
export const MESSAGE_BUDGET_CHARS = 200_000;

export interface PersistedFile {
  readonly path: string;
  readonly chars: number;
  readonly bytes: number;
  /** Where the file holds less than the output: how much it holds, in bytes. */
  readonly keptBytes?: number;
}

/** What the model gets instead of an output that went to a file. `tail` is shown where the end matters most (failed commands). */
export function persistedOutput(file: PersistedFile, head: string, tail?: string): string {
  const cut = file.keptBytes === undefined ? '' : ` The file holds the first ${formatBytes(file.keptBytes)}.`;
  const chars = file.chars > 0 ? `${formatCount(file.chars)} characters, ` : '';
  const lines = [
    '<persisted-output>',
    `Output too large to show (${chars}${formatBytes(file.bytes)}). It was saved to: ${file.path}${cut}`,
    '',
    'Preview (first 2KB):',
    headWithin(head, PREVIEW_BYTES),
  ];
  if (tail !== undefined) lines.push('', 'End (last 2KB):', tailWithin(tail, PREVIEW_BYTES));
  lines.push('</persisted-output>');
  return lines.join('\n');
}

export interface SizedContent {
  readonly content: ToolResultContent;
  readonly persisted?: PersistedFile;
}

/** Persists a result's text when it is longer than `maxChars`; images and documents stay where they are. */
export async function persistIfLarge(
  callId: string,
  content: ToolResultContent,
  maxChars: number,
  store: ResultStore,
): Promise<SizedContent> {
  return isLarge(content, maxChars) ? persist(callId, content, store) : { content };
}

export const isLarge = (content: ToolResultContent, maxChars: number): boolean => textSize(content) > maxChars;

/**
 * Fits the results of one user message into `limit` characters together: the largest go to files, one after the other, until
 * the rest fits. Order and pairing stay; what was persisted before stays as it is.
 */
export async function fitMessageBudget(
  results: readonly ToolResultBlockParam[],
  store: ResultStore,
  limit = MESSAGE_BUDGET_CHARS,
): Promise<readonly ToolResultBlockParam[]> {
  const fitted = [...results];
  const sizes = fitted.map((result) => textSize(result.content ?? ''));
  let total = sizes.reduce((sum, size) => sum + size, 0);
  const largestFirst = [...fitted.keys()].sort((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0) || a - b);
  for (const index of largestFirst) {
    const result = fitted[index];
    const size = sizes[index] ?? 0;
    // A preview is no shorter than what it would replace.
    if (total <= limit || result === undefined || size <= PREVIEW_BYTES * 2) break;
    const { content } = await persist(result.tool_use_id, result.content ?? '', store);
    fitted[index] = { ...result, content };
    total += textSize(content) - size;
  }
  return fitted;
}

async function persist(callId: string, content: ToolResultContent, store: ResultStore): Promise<SizedContent> {
  const texts = typeof content === 'string' ? [content] : content.flatMap((block) => textOf(block) ?? []);
  const [only] = texts;
  const isPlain = texts.length === 1 && only !== undefined;
  const data = isPlain ? only : JSON.stringify(texts, null, 2);
  const whole = isPlain ? only : texts.join('\n');
  const file = store.put(`${callId}.${isPlain ? 'txt' : 'json'}`, data);
  const failed = await file.done;
  const persisted = { path: file.path, chars: whole.length, bytes: Buffer.byteLength(data) };
  const text = failed === undefined ? persistedOutput(persisted, whole) : shortened(whole, failed);
  const rest = typeof content === 'string' ? [] : content.filter((block) => textOf(block) === undefined);
  return {
    content: rest.length === 0 ? text : [{ type: 'text', text }, ...rest],
    ...(failed === undefined ? { persisted } : {}),
  };
}

/** A disk that is full must not cost the result: the model gets both ends of it. */
function shortened(text: string, reason: string): string {
  const head = headWithin(text, PREVIEW_BYTES * 4);
  const tail = tailWithin(text, PREVIEW_BYTES * 4);
  return `${head}\n\n[${formatCount(text.length - head.length - tail.length)} characters left out; they could not be saved: ${reason}]\n\n${tail}`;
}
