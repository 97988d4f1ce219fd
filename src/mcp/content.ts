import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import type { ImageBlockParam, TextBlockParam } from '../messages/types.js';
import { decodeBase64 } from '../results/images.js';
import { createResultStore } from '../results/index.js';
import { type ApiImageType, isApiImageType, sniffMediaType } from '../results/media.js';
import type { MappedToolResult } from '../tool/types.js';
import type { CallAnswer } from './answers.js';

/**
 * What an MCP tool returned, as hooks and observers see it: the server's answer with everything the model cannot be shown (audio,
 * binary resources) replaced by a text that names a file.
 */
export interface McpToolOutput {
  readonly content: readonly JsonValue[];
  readonly structuredContent?: JsonValue;
  readonly isError?: boolean;
  /** A word of the runtime about the output. */
  readonly note?: string;
  readonly _meta?: JsonObject;
}

export interface ContentPlace {
  /** Where binary content goes. */
  readonly dir: string;
  /** Begins the names of its files. */
  readonly prefix: string;
}

/** Saves what is binary. A file that cannot be written becomes a text that says so. */
export async function settleContent(content: readonly JsonValue[], place: ContentPlace): Promise<readonly JsonValue[]> {
  const store = createResultStore(place.dir);
  const save = async (data: string, mimeType: string, index: number, what: string): Promise<JsonObject> => {
    const bytes = Buffer.from(data, 'base64');
    const file = store.put(`${place.prefix}-${index + 1}.${extensionOf(mimeType)}`, bytes);
    const failed = await file.done;
    const text = failed === undefined ? `saved to ${file.path}` : `not saved: ${failed}`;
    return { type: 'text', text: `[${what} (${mimeType}, ${bytes.length} bytes) ${text}]` };
  };
  return Promise.all(
    content.map(async (block, index) => {
      if (!isJsonObject(block)) return block;
      const mimeType = textOf(block.mimeType) || 'application/octet-stream';
      if (block.type === 'audio') return save(textOf(block.data), mimeType, index, 'audio');
      if (block.type === 'image') {
        const type = imageType(block);
        return type === undefined ? save(textOf(block.data), mimeType, index, 'image') : { ...block, mimeType: type };
      }
      const resource = block.type === 'resource' ? block.resource : undefined;
      if (!isJsonObject(resource) || typeof resource.blob !== 'string') return block;
      const shown = imageType({ mimeType: resource.mimeType ?? '', data: resource.blob });
      if (shown !== undefined) return { type: 'image', data: resource.blob, mimeType: shown };
      const type = textOf(resource.mimeType) || 'application/octet-stream';
      return save(resource.blob, type, index, `resource ${textOf(resource.uri)}`);
    }),
  );
}

/** The media type of an image that the model can see, however a server spells it (`image/jpg`, upper case, parameters, none at all). */
function imageType({ mimeType, data }: JsonObject): ApiImageType | undefined {
  const declared = textOf(mimeType).split(';')[0]?.trim().toLowerCase() ?? '';
  const named = declared === 'image/jpg' ? 'image/jpeg' : declared;
  if (isApiImageType(named)) return named;
  if (declared !== '' && declared !== 'application/octet-stream' && declared !== 'image/*') return undefined;
  const sniffed = sniffMediaType(decodeBase64(textOf(data)) ?? new Uint8Array());
  return isApiImageType(sniffed) ? sniffed : undefined;
}

/** The output of a call from the server's answer. */
export async function toOutput(answer: CallAnswer, place: ContentPlace): Promise<McpToolOutput> {
  const { structuredContent, isError, _meta } = answer;
  return {
    content: await settleContent(answer.content, place),
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(isError === true ? { isError } : {}),
    ...(_meta === undefined ? {} : { _meta }),
  };
}

/**
 * The blocks for the model. `structuredContent` takes the place of text, which by the specification says the same in other words; an
 * error keeps its text. Takes any JSON, since a hook may have put something else in the output's place.
 */
export function mapMcpOutput(output: unknown): MappedToolResult {
  if (typeof output === 'string') return { content: output };
  if (Array.isArray(output)) return { content: output.flatMap(blockOf) };
  if (!isJsonObject(output)) return { content: output === undefined || output === null ? '' : JSON.stringify(output) };
  const { structuredContent, isError, note } = output;
  if (!Array.isArray(output.content)) return { content: JSON.stringify(output) };
  const content: readonly unknown[] = output.content;
  const notes = typeof note === 'string' ? [textBlock(`(${note})`)] : [];
  const blocks = [...content.flatMap(blockOf), ...notes];
  const hasWords = blocks.some((block) => block.type !== 'text' || block.text.trim() !== '');
  if (isError === true) {
    const words = hasWords || structuredContent === undefined ? blocks : [textBlock(JSON.stringify(structuredContent)), ...blocks];
    return { content: words, isError: true };
  }
  const isEmpty = isJsonObject(structuredContent) && Object.keys(structuredContent).length === 0;
  if (structuredContent === undefined || (isEmpty && hasWords)) return { content: blocks };
  const rest = blocks.filter((block) => block.type !== 'text');
  return { content: [textBlock(JSON.stringify(structuredContent)), ...rest, ...notes] };
}

/** The text of an output, for hooks that read a tool's words. */
export function textOfOutput(output: McpToolOutput): string {
  const { content } = mapMcpOutput(output);
  if (typeof content === 'string') return content;
  return (content ?? []).flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

function blockOf(block: unknown): (TextBlockParam | ImageBlockParam)[] {
  if (typeof block === 'string') return [textBlock(block)];
  if (!isJsonObject(block)) return [textBlock(JSON.stringify(block) ?? '')];
  switch (block.type) {
    case 'text':
      return [textBlock(typeof block.text === 'string' ? block.text : textOfValue(block.text))];
    case 'image': {
      const mediaType = textOf(block.mimeType);
      if (!isApiImageType(mediaType)) return [textBlock(`[image of type ${mediaType || 'unknown'}, not shown]`)];
      return [{ type: 'image', source: { type: 'base64', media_type: mediaType, data: textOf(block.data) } }];
    }
    case 'resource_link':
      return [textBlock(linkText(block))];
    case 'resource':
      return isJsonObject(block.resource) ? [textBlock(resourceText(block.resource))] : [];
    default:
      return [textBlock(JSON.stringify(block))];
  }
}

function linkText({ uri, name, title, mimeType, description }: JsonObject): string {
  const words = [textOf(title) || textOf(name), textOf(uri), mimeType === undefined ? '' : `(${textOf(mimeType)})`, textOf(description)];
  return `[resource link: ${words.filter(Boolean).join(' ')}]`;
}

function resourceText(resource: JsonObject): string {
  const head = `[resource ${textOf(resource.uri)}]`;
  return typeof resource.text === 'string' ? `${head}\n${resource.text}` : head;
}

const textBlock = (text: string): TextBlockParam => ({ type: 'text', text });
/** A server that puts something else where the text belongs still has something to say. */
const textOfValue = (value: JsonValue | undefined): string => (value === undefined || value === null ? '' : JSON.stringify(value));
const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

/** `audio/wav` → `wav`. */
function extensionOf(mimeType: string): string {
  const [, subtype = ''] = mimeType.split(/[/;]/);
  const plain = subtype.replace(/^x-/, '').replace(/\+.*$/, '');
  return /^[A-Za-z0-9.-]{1,20}$/.test(plain) && plain !== 'octet-stream' ? plain : 'bin';
}
