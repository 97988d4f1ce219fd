import type { ErrorObject } from 'ajv';
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../json.js';
import { coercionErrors } from './coercion.js';
import { compileSchema } from './compile-schema.js';
import { ToolSchemaError } from './errors.js';
import type { AnyTool } from './types.js';

/** One thing wrong with an input, whichever validator found it. */
export interface InputIssue {
  readonly path: readonly PropertyKey[];
  readonly kind: 'type' | 'missing' | 'unknownKeys' | 'other';
  /** What was expected, in JSON Schema's words; for `type` only. */
  readonly expected?: readonly string[];
  /** For `unknownKeys`. */
  readonly keys?: readonly string[];
  /** Of a union none of whose forms fits: what is wrong by each of them. */
  readonly forms?: readonly (readonly InputIssue[])[];
  readonly message: string;
}

export type InputCheck = { readonly ok: true; readonly output: unknown } | { readonly ok: false; readonly issues: readonly InputIssue[] };
export type InputChecker = (value: JsonObject) => InputCheck;

/** The validator of a tool's input: its JSON Schema where it brings one (MCP tools), and its zod schema. */
export function inputChecker(tool: AnyTool): InputChecker {
  const zodSchema: z.ZodType = tool.inputSchema;
  const zodCheck: InputChecker = (value) => {
    const forced = coercionErrors(zodSchema, value).map(fromAjv);
    const parsed = parse(zodSchema, value);
    if (parsed.success && forced.length === 0) return { ok: true, output: parsed.data };
    return { ok: false, issues: [...forced, ...(parsed.error?.issues ?? []).flatMap((issue) => fromZod(issue, value))] };
  };
  if (tool.inputJSONSchema === undefined) return zodCheck;
  const validate = compileSchema(tool.inputJSONSchema);
  return (value) => (validate(value) ? zodCheck(value) : { ok: false, issues: (validate.errors ?? []).map(fromAjv) });
}

/** Gate 2 waits for nothing: what has to wait belongs into the tool's `validateInput`. */
function parse(schema: z.ZodType, value: unknown) {
  try {
    return schema.safeParse(value);
  } catch (error) {
    if (!(error instanceof z.core.$ZodAsyncError)) throw error;
    throw new ToolSchemaError('the input schema has an asynchronous refinement or transform; put it into `validateInput`', {
      cause: error,
    });
  }
}

function fromZod(issue: z.core.$ZodIssue, value: unknown, base: readonly PropertyKey[] = []): InputIssue[] {
  const path = [...base, ...issue.path];
  switch (issue.code) {
    case 'invalid_type': {
      const received = valueAt(value, path);
      if (received === undefined) return [{ path, kind: 'missing', expected: [issue.expected], message: `expected ${issue.expected}` }];
      return [{ path, kind: 'type', expected: [issue.expected], message: `expected ${issue.expected}, received ${typeName(received)}` }];
    }
    case 'unrecognized_keys':
      return [{ path, kind: 'unknownKeys', keys: issue.keys, message: issue.message }];
    case 'invalid_union':
      return fromUnion(issue, value, path);
    case 'invalid_value': {
      const kind = valueAt(value, path) === undefined ? 'missing' : 'other';
      const options = issue.values.map((option) => JSON.stringify(option) ?? String(option)).join(', ');
      return [{ path, kind, message: `expected ${issue.values.length === 1 ? options : `one of ${options}`}` }];
    }
    default:
      return [{ path, kind: 'other', message: issue.message }];
  }
}

/** A union's branches each have their say; together their type issues at the union's own place are one issue. */
function fromUnion(issue: z.core.$ZodIssueInvalidUnion, value: unknown, path: readonly PropertyKey[]): InputIssue[] {
  const forms = issue.errors.map((branch) => branch.flatMap((inner) => fromZod(inner, value, path)));
  // Where a constant tells the forms apart, the one that has it was meant.
  const [meant, ...others] = forms.filter((_, index) => !issue.errors[index]?.some((inner) => inner.code === 'invalid_value'));
  if (meant !== undefined && others.length === 0 && forms.length > 1) {
    if (meant.every((inner) => inner.path.length > path.length || inner.kind === 'unknownKeys')) return meant;
  }
  const nested = forms.flat();
  const here = nested.filter((inner) => (inner.kind === 'type' || inner.kind === 'missing') && inner.path.length === path.length);
  const expected = [...new Set(here.flatMap((inner) => inner.expected ?? []))];
  if (expected.length > 0 && here.length === nested.length) {
    const received = valueAt(value, path);
    const message = `expected ${expected.join(' or ')}`;
    if (received === undefined) return [{ path, kind: 'missing', expected, message }];
    return [{ path, kind: 'type', expected, message: `${message}, received ${typeName(received)}` }];
  }
  const reasons = [...new Set(nested.map((inner) => describe(inner, path.length)))];
  const message = reasons.length === 0 ? issue.message : `none of the allowed forms fits: ${reasons.join('; ')}`;
  return [{ path, kind: 'other', forms, message }];
}

function describe(issue: InputIssue, skip: number): string {
  const place = pathText(issue.path.slice(skip));
  return place === '' ? issue.message : `${place}: ${issue.message}`;
}

function fromAjv(error: ErrorObject): InputIssue {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  const params: Record<string, unknown> = error.params;
  const message = error.message ?? 'is not valid';
  if (error.keyword === 'required') {
    return { path: [...path, String(params.missingProperty)], kind: 'missing', message: 'required' };
  }
  if (error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties') {
    return { path, kind: 'unknownKeys', keys: [String(params.additionalProperty ?? params.unevaluatedProperty)], message };
  }
  if (error.keyword === 'type') {
    const type = params.type;
    const expected = Array.isArray(type) ? type.map(String) : String(type).split(',');
    return { path, kind: 'type', expected, message: `expected ${expected.join(' or ')}, received ${typeName(error.data)}` };
  }
  if (error.keyword === 'enum' && Array.isArray(params.allowedValues)) {
    return { path, kind: 'other', message: `expected one of ${params.allowedValues.map((value) => JSON.stringify(value)).join(', ')}` };
  }
  if (error.keyword === 'const') return { path, kind: 'other', message: `expected ${JSON.stringify(params.allowedValue)}` };
  return { path, kind: 'other', message };
}

/** The value at a path, own properties only. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value;
  for (const step of path) {
    if (Array.isArray(current)) current = current[Number(step)];
    else if (isJsonObject(current) && Object.hasOwn(current, step)) current = current[String(step)];
    else return undefined;
  }
  return current;
}

export function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** `todos[0].status`; empty for the root. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? String(step) : `${text}.${String(step)}`),
    '',
  );
}
