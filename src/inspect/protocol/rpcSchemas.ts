import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import type { ServerMethod } from './rpc.js';

/** Schemas of everything a page may send. birpc checks nothing by itself. */

const seq = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const shortText = z.string().max(1024);
const jsonObject = z.custom<JsonObject>(isJsonObject, 'a JSON object');
const nothing = z.tuple([]);

const breakpointBase = { id: shortText, enabled: z.boolean(), origin: z.enum(['code', 'page']), actor: shortText.optional() };
const breakpointSchema = z.discriminatedUnion('on', [
  z.strictObject({ ...breakpointBase, on: z.literal('state'), state: shortText, when: z.enum(['before', 'after']) }),
  z.strictObject({ ...breakpointBase, on: z.literal('event'), event: shortText }),
  z.strictObject({ ...breakpointBase, on: z.literal('tool'), tool: shortText }),
  z.strictObject({ ...breakpointBase, on: z.literal('verdict'), behavior: z.enum(['allow', 'ask', 'deny']) }),
  z.strictObject({ ...breakpointBase, on: z.literal('error') }),
]);

/** Arguments of each method, as the tuple birpc carries. */
export const argumentSchemas = {
  hello: z.tuple([z.strictObject({ client: shortText })]),
  subscribe: z.tuple([z.strictObject({ fromSeq: seq })]),
  listEvents: z.tuple([z.strictObject({ fromSeq: seq, toSeq: seq })]),
  body: z.tuple([z.strictObject({ hash: shortText, offset: seq })]),
  graphs: nothing,
  pause: nothing,
  resume: nothing,
  step: z.tuple([z.strictObject({ actor: shortText.optional() })]),
  runToEnd: z.tuple([z.strictObject({ actor: shortText })]),
  setBreakpoints: z.tuple([z.strictObject({ breakpoints: z.array(breakpointSchema).max(200) })]),
  answer: z.tuple([
    z.strictObject({
      id: shortText,
      inputDigest: shortText,
      behavior: z.enum(['allow', 'deny']),
      updatedInput: jsonObject.optional(),
      answers: z
        .array(z.strictObject({ options: z.array(z.number().int().min(0).max(100)).max(100), other: z.string().max(10_000) }))
        .max(100)
        .optional(),
      remember: z.array(z.number().int().min(0).max(100)).max(20).optional(),
      message: z.string().max(10_000).optional(),
      interrupt: z.boolean().optional(),
    }),
  ]),
  restart: z.tuple([z.strictObject({ seq, words: z.string().trim().min(1).max(100_000) })]),
  export: z.tuple([
    z.strictObject({
      kind: z.enum(['recording', 'html', 'vitest', 'nodeTest', 'chromeTrace', 'mermaid', 'scxml']),
      range: z.strictObject({ fromSeq: seq, toSeq: seq }).optional(),
      actor: shortText.optional(),
      layouts: z.record(shortText, z.custom<JsonValue>(isJsonObject, 'a JSON object')).optional(),
      allowFindings: z.boolean().optional(),
    }),
  ]),
  exportPart: z.tuple([z.strictObject({ id: shortText, offset: seq })]),
} as const satisfies Record<ServerMethod, z.ZodType>;

/** The envelope of birpc's frames. Anything else is dropped before birpc sees it. */
export const frameSchema = z.discriminatedUnion('t', [
  z.object({
    t: z.literal('q'),
    m: z.string().max(64),
    a: z.array(z.unknown()).max(8),
    i: z.string().max(64).optional(),
    o: z.boolean().optional(),
  }),
  z.object({ t: z.literal('s'), i: z.string().max(64), r: z.unknown().optional(), e: z.unknown().optional() }),
]);
