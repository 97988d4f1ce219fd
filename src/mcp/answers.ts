import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';

const json = z.custom<JsonValue>((value) => value !== undefined);
const object = z.custom<JsonObject>(isJsonObject, 'expected an object');

/** Servers that are no use of an SDK leave the list out of `content`: a call that has taken effect must not read as failed for that. */
const content = z.preprocess((value) => {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value;
  return typeof value === 'string' ? [{ type: 'text', text: value }] : [value];
}, z.array(json));

/** Languages that cannot leave a field out write null. A failure that is told in the wrong type is still a failure. */
const failed = z
  .unknown()
  .optional()
  .transform((value) => value === true || (typeof value === 'string' && value.trim().toLowerCase() === 'true'));

/**
 * The answer to `tools/call`. Content blocks are read one by one later: a kind that is not known must not cost the rest.
 * `structuredContent` may be any JSON value (MCP specification 2026-07-28); null beside content says nothing.
 */
export const callAnswerSchema = z
  .object({
    content,
    structuredContent: json.optional(),
    isError: failed,
    /** What servers of the protocol's first revision (2024-10-07) answer with. */
    toolResult: json.optional(),
    resultType: z.unknown().optional(),
    _meta: object.optional().catch(undefined),
  })
  .transform(({ content: blocks, structuredContent, isError, toolResult, resultType, _meta }) => {
    const hasBlocks = blocks.length > 0;
    const structured = structuredContent === undefined && !hasBlocks ? (toolResult ?? undefined) : structuredContent;
    return {
      content: blocks,
      ...(structured === undefined || (structured === null && hasBlocks) ? {} : { structuredContent: structured }),
      ...(isError ? { isError } : {}),
      ...(_meta === undefined ? {} : { _meta }),
      ...(resultType === 'input_required' ? { needsInput: true } : {}),
    };
  });
export type CallAnswer = z.infer<typeof callAnswerSchema>;

/** The answer to `resources/read`. */
export const resourceAnswerSchema = z.looseObject({ contents: content });
export type ResourceAnswer = z.infer<typeof resourceAnswerSchema>;
