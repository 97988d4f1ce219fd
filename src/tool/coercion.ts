import type { ErrorObject, ValidateFunction } from 'ajv';
import { z } from 'zod';
import { isJsonObject } from '../json.js';
import { compileSchema } from './compile-schema.js';
import { collectMade } from './zod-parts.js';

/** Types whose coercion takes what nobody meant: `Boolean("false")` is true, `Number("")` is 0. */
const FORCED: ReadonlySet<string> = new Set(['boolean', 'number']);

interface CoercedPlaces {
  readonly validate: ValidateFunction;
  /** What `$comment` says at a place that is coerced. */
  readonly marks: ReadonlySet<unknown>;
}
const known = new WeakMap<z.ZodType, CoercedPlaces | 'none'>();

/**
 * What is wrong with the values that `z.coerce.boolean()` and `z.coerce.number()` would make fit: the model was told a boolean or a
 * number, and everything else it may have written is repaired by the runtime's own exact rules or refused.
 */
export function coercionErrors(schema: z.ZodType, value: unknown): readonly ErrorObject[] {
  const places = known.get(schema) ?? placesIn(schema);
  known.set(schema, places);
  if (places === 'none' || places.validate(value)) return [];
  return (places.validate.errors ?? []).filter((error) => isForced(error, places.marks));
}

function isForced({ keyword, parentSchema, params }: ErrorObject, marks: CoercedPlaces['marks']): boolean {
  const parent: unknown = parentSchema;
  if (!isJsonObject(parent)) return false;
  if (keyword === 'type') return marks.has(parent.$comment);
  const missing = keyword === 'required' && isJsonObject(parent.properties) ? parent.properties[String(params.missingProperty)] : undefined;
  return isJsonObject(missing) && marks.has(missing.$comment);
}

function placesIn(schema: z.ZodType): CoercedPlaces | 'none' {
  const coerced = new Map<object, string>();
  const made = new Set<object>();
  const json: unknown = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const { def } = zodSchema._zod;
      collectMade(def, made);
      if (!('coerce' in def) || def.coerce !== true || !FORCED.has(def.type)) return;
      const mark = coerced.get(zodSchema) ?? `coerced ${coerced.size}`;
      coerced.set(zodSchema, mark);
      jsonSchema.$comment = mark;
    },
  });
  const marks = new Set<unknown>([...coerced].flatMap(([part, mark]) => (made.has(part) ? [] : [mark])));
  if (marks.size === 0) return 'none';
  const plain: unknown = JSON.parse(JSON.stringify(json));
  return isJsonObject(plain) ? { validate: compileSchema(plain), marks } : 'none';
}
