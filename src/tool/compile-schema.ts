import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject } from '../json.js';
import { inCurrentDialect } from './dialect.js';
import { messageOf, ToolSchemaError } from './errors.js';
import { withTargets } from './references.js';

const compiled = new WeakMap<JsonObject, ValidateFunction>();

/**
 * A pattern as its author may have meant it: not everyone writes JavaScript's. One that is not valid with the `u` flag may be without;
 * one that no JavaScript engine reads (`(?i)`, `\Z`) checks nothing here, and the tool checks for itself.
 */
const readPattern = Object.assign(
  (pattern: string, flags: string) => {
    for (const tried of [flags, '']) {
      try {
        return new RegExp(pattern, tried);
      } catch {
        // The next way, or none.
      }
    }
    return { test: () => true, toString: () => pattern };
  },
  { code: 'new RegExp' },
);

// `verbose` gives the value of an issue; formats are annotations, as 2020-12 has them.
const AJV_OPTIONS = {
  strict: false,
  allErrors: true,
  verbose: true,
  validateFormats: false,
  logger: false,
  addUsedSchema: false,
  code: { regExp: readPattern },
} as const;
const DIALECTS = { '2020-12': () => new Ajv2020(AJV_OPTIONS), 'draft-07': () => new Ajv(AJV_OPTIONS) } as const;
type Dialect = keyof typeof DIALECTS;

/** Making a validator costs far more than compiling a schema with it, and a server may bring hundreds of tools. */
const shared = new Map<Dialect, Ajv>();

/** A schema that names itself or parts of itself must not be visible to another's references: it gets a validator of its own. */
const NAMES_ITSELF = /"\$(id|anchor|dynamicAnchor|recursiveAnchor)"/;

function validatorOf(dialect: Dialect): Ajv {
  const ajv = shared.get(dialect) ?? DIALECTS[dialect]();
  shared.set(dialect, ajv);
  return ajv;
}

function compileIn(dialect: Dialect, schema: JsonObject): ValidateFunction {
  if (NAMES_ITSELF.test(JSON.stringify(schema))) return DIALECTS[dialect]().compile(schema);
  const ajv = validatorOf(dialect);
  try {
    return ajv.compile(schema);
  } finally {
    // Kept by the caller, as long as its tool lives.
    ajv.removeSchema(schema);
  }
}

/** What keeps a schema from being valid by 2020-12, as the API asks it to be; undefined when nothing does. */
export function schemaProblem(schema: JsonObject): string | undefined {
  const ajv = validatorOf('2020-12');
  return ajv.validateSchema(schema) === true ? undefined : ajv.errorsText(ajv.errors?.slice(0, 3), { dataVar: 'schema' });
}

/** Compiles a JSON Schema: by 2020-12 (what MCP uses when a schema does not say), else by draft-07, else in today's words. */
export function compileSchema(schema: JsonObject): ValidateFunction {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const { $schema, $id: _id, ...rest } = schema;
  const isOld = typeof $schema === 'string' && /draft-0[467]/.test($schema);
  const ways = [
    ...(isOld ? [] : [() => compileIn('2020-12', rest)]),
    () => compileIn('draft-07', rest),
    () => compileIn('2020-12', withTargets(inCurrentDialect(rest), rest)),
  ];
  let reason = '';
  for (const compile of ways) {
    try {
      const validate = compile();
      compiled.set(schema, validate);
      return validate;
    } catch (error) {
      reason ||= messageOf(error);
    }
  }
  throw new ToolSchemaError(`its JSON Schema does not compile: ${reason}`);
}
