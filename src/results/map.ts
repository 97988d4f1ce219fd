import { isJsonObject } from '../json.js';
import type { ContentBlockParam, DocumentBlockParam, ImageBlockParam, TextBlockParam, ToolResultContent } from '../messages/types.js';
import { messageOf } from '../tool/errors.js';
import type { AnyTool, MappedToolResult } from '../tool/types.js';
import { checkDocument, checkImage } from './images.js';
import { formatBytes, looksBinary, NO_OUTPUT, OUTPUT_FOLLOWS, sanitizeText } from './text.js';

/** A result that may enter a transcript: never empty, its text clean, its images proven. */
export interface CleanResult {
  readonly content: ToolResultContent;
  readonly isError: boolean;
  /** Images that may not stand inside an error result; they belong behind all results of the message. */
  readonly images: readonly ImageBlockParam[];
}

/**
 * Maps a tool's output to the content of its `tool_result`. Total: a mapper that throws yields an error result, an output that
 * is empty in any way yields the placeholder, a broken image or document yields a note in its place.
 */
export function mapResult(tool: AnyTool, output: unknown): CleanResult {
  const mapped = tryToMap(tool, output);
  if (mapped.ok) return mapped.clean;
  const content = `${tool.name} ran, but its output could not be turned into a result: ${mapped.reason}`;
  return cleanResult({ content, isError: true }, tool.name);
}

/** The same for a value that only stands in for the tool's output: where its mapper makes nothing of it, the reason. */
export function tryToMap(
  tool: AnyTool,
  output: unknown,
): { readonly ok: true; readonly clean: CleanResult } | { readonly ok: false; readonly reason: string } {
  try {
    // A mapper without types may also return what is no result at all: cleaning finds out.
    return { ok: true, clean: cleanResult(tool.mapToolResultToToolResultBlockParam(output), tool.name) };
  } catch (error) {
    return { ok: false, reason: messageOf(error) };
  }
}

/** The same for a result that no tool's mapper made: the text of a failure, a result that a hook replaced. */
export function cleanResult(mapped: MappedToolResult, toolName?: string): CleanResult {
  const isError = mapped.isError === true;
  const extra = (mapped.images ?? []).map((block) => checkImage(block));
  const notes = extra.flatMap((check) => (check.ok ? [] : [textBlock(check.note)]));
  const images = extra.flatMap((check) => (check.ok ? [check.block] : []));
  const { content } = mapped;
  if ((content === undefined || typeof content === 'string') && notes.length === 0) {
    const text = cleanText(content ?? '', toolName);
    return { content: text.trim() === '' ? NO_OUTPUT : text, isError, images };
  }
  const given = typeof content === 'string' ? [textBlock(content)] : (content ?? []);
  const blocks = [...given, ...notes].flatMap((block) => cleanBlock(block, toolName));
  if (!isError) return { content: blocks.length === 0 ? NO_OUTPUT : blocks, isError, images };
  // The API takes only text in an error result.
  const text = blocks.flatMap(wordsOf);
  const moved = blocks.filter((block) => block.type === 'image');
  const behind = [...moved, ...images];
  const empty = behind.length === 0 ? NO_OUTPUT : OUTPUT_FOLLOWS;
  return { content: text.length === 0 ? empty : text, isError, images: behind };
}

/** What a block says, for an error result; images follow behind the results. */
function wordsOf(block: ResultBlock): TextBlockParam[] {
  const text = textOf(block);
  if (text !== undefined) return block.type === 'text' ? [block] : [textBlock(text)];
  if (block.type === 'image' || block.type === 'tool_reference') return [];
  return [textBlock(`[content of type ${JSON.stringify(typeOf(block))} left out: an error holds text only]`)];
}

/** The text that a block consists of, whatever its form; undefined for one that is more than text. */
export function textOf(block: ContentBlockParam | ResultBlock): string | undefined {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'document':
      return block.source.type === 'text' ? block.source.data : undefined;
    case 'search_result':
      return [`${block.title} (${block.source})`, ...block.content.map(({ text }) => text)].join('\n');
    default:
      return undefined;
  }
}

type ResultBlock = Exclude<ToolResultContent, string>[number];

function cleanBlock(block: ResultBlock, toolName: string | undefined): ResultBlock[] {
  switch (block.type) {
    case 'text': {
      const text = cleanText(typeof block.text === 'string' ? block.text : '', toolName);
      return text.trim() === '' ? [] : [{ ...block, text }];
    }
    case 'image':
      return [provenOrNote(checkImage(block))];
    case 'document':
      return [provenOrNote(checkDocument(block))];
    case 'search_result':
      return [cleanSearchResult(block, toolName)];
    case 'tool_reference':
      return [block];
    default:
      // Types are the compiler's; what a tool without them returns must not make the API refuse every later request.
      return RESULT_PARTS.has(typeOf(block)) ? [block] : [textBlock(`[content of type ${JSON.stringify(typeOf(block))} left out]`)];
  }
}

/** A search result without title, source or text is refused with the whole request. */
function cleanSearchResult(block: Extract<ResultBlock, { type: 'search_result' }>, toolName: string | undefined): ResultBlock {
  const { title, source, content }: { title: unknown; source: unknown; content: unknown } = block;
  const parts = (Array.isArray(content) ? content : []).flatMap((part: unknown) => {
    const text = isJsonObject(part) && typeof part.text === 'string' ? cleanText(part.text, toolName) : '';
    return text.trim() === '' ? [] : [textBlock(text)];
  });
  if (typeof title !== 'string' || typeof source !== 'string' || parts.length === 0) {
    return textBlock(`[search result left out: it has no ${parts.length === 0 ? 'text' : 'title and source'}]`);
  }
  return { ...block, title: sanitizeText(title), source: sanitizeText(source), content: parts };
}

/** What else the API takes inside a result (Claude API docs, "Handle tool calls"). */
const RESULT_PARTS: ReadonlySet<unknown> = new Set(['browser_state']);
const typeOf = (block: unknown): unknown => (isJsonObject(block) ? block.type : undefined);

function provenOrNote<Block extends ImageBlockParam | DocumentBlockParam>(
  check: { readonly ok: true; readonly block: Block } | { readonly ok: false; readonly note: string },
): Block | TextBlockParam {
  return check.ok ? check.block : textBlock(check.note);
}

function cleanText(text: string, toolName: string | undefined): string {
  if (looksBinary(text)) return `(binary output of ${formatBytes(Buffer.byteLength(text))}, not shown)`;
  return sanitizeText(text, toolName);
}

function textBlock(text: string): TextBlockParam {
  return { type: 'text', text };
}

/** Size of a result in characters, as the limits count it: its text. Images have a budget of their own. */
export function textSize(content: ToolResultContent | readonly ContentBlockParam[]): number {
  if (typeof content === 'string') return content.length;
  let size = 0;
  for (const block of content) size += textOf(block)?.length ?? 0;
  return size;
}
