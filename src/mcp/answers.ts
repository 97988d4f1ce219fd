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

/**
 * The answer to `tools/call`. Content blocks are read one by one later: a kind that is not known must not cost the rest.
 * `structuredContent` may be any JSON value (MCP specification 2026-07-28).
 */
export const callAnswerSchema = z.looseObject({
  content,
  structuredContent: json.optional(),
  isError: z.boolean().optional(),
  _meta: object.optional().catch(undefined),
});
export type CallAnswer = z.infer<typeof callAnswerSchema>;

/** The answer to `resources/read`. */
export const resourceAnswerSchema = z.looseObject({ contents: z.array(json).default([]) });
export type ResourceAnswer = z.infer<typeof resourceAnswerSchema>;
