import type { ImageBlockParam, ToolResultBlockParam } from '../messages/types.js';
import type { AnyTool } from '../tool/types.js';
import { saveMedia } from './image-budget.js';
import { type CleanResult, mapResult, textSize } from './map.js';
import { isLarge, type PersistedFile, persistIfLarge } from './persist.js';
import type { ResultStore } from './store.js';

/** A finished result: what stands in the next user message for one call. */
export interface FinishedResult {
  readonly block: ToolResultBlockParam;
  /** Images to place behind all results of the message. */
  readonly images: readonly ImageBlockParam[];
  readonly persisted?: PersistedFile;
  /** Characters of text that go to the model. */
  readonly size: number;
}

/** Maps, cleans, saves images and persists: everything between a tool's output and its `tool_result`. */
export function finishResult(tool: AnyTool, callId: string, output: unknown, store: ResultStore): Promise<FinishedResult> {
  return finishClean(callId, mapResult(tool, output), tool.maxResultSizeChars, store);
}

/** The same from a result that is mapped already. */
export async function finishClean(callId: string, clean: CleanResult, maxChars: number, store: ResultStore): Promise<FinishedResult> {
  const { content, persisted } = await persistIfLarge(callId, clean.content, maxChars, store);
  await saveMedia([...mediaIn(content), ...clean.images], store);
  return { ...finished(callId, clean, content), ...(persisted === undefined ? {} : { persisted }) };
}

/** The same at once, where nothing has to go to a file; undefined where something has. */
export function finishAtOnce(callId: string, clean: CleanResult, maxChars: number): FinishedResult | undefined {
  const { content, images } = clean;
  if (isLarge(content, maxChars) || images.length > 0 || mediaIn(content).length > 0) return undefined;
  return finished(callId, clean, content);
}

const mediaIn = (content: CleanResult['content']) =>
  typeof content === 'string' ? [] : content.filter((block) => block.type === 'image' || block.type === 'document');

const finished = (callId: string, { isError, images }: CleanResult, content: CleanResult['content']): FinishedResult => ({
  block: { type: 'tool_result', tool_use_id: callId, content, ...(isError ? { is_error: true } : {}) },
  images,
  size: textSize(content),
});
