import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { closest } from './closest.js';
import { type InputChecker, type InputIssue, inputChecker, pathText, typeName, valueAt } from './input-issues.js';
import { knownKeysAt, toolInputJSONSchema } from './input-schema.js';
import type { AnyTool } from './types.js';

/** One change that was made to an input so that it fits the schema. Recorded, never silent. */
export interface InputRepair {
  /** Where, as `todos[0].status`. */
  readonly path: string;
  readonly kind: 'nullAsAbsent' | 'boolean' | 'number' | 'json' | 'hostKeyRemoved';
  readonly from: JsonValue;
}

export type ParsedToolInput =
  | { readonly ok: true; readonly input: object; readonly repairs: readonly InputRepair[] }
  | { readonly ok: false; readonly message: string };

/** Keys that hosts are known to add to a call's arguments. Removed, with a repair record, when the schema does not know them. */
const HOST_ARTEFACT_KEYS: readonly string[] = ['_meta'];

/**
 * Checks a model's input against a tool's schema.
 *
 * - `undefined`, `null` and `""` count as `{}`: a model that has nothing to say may say nothing.
 * - `null` for a field that may be left out counts as left out.
 * - For a boolean field the words `true` and `false` (trimmed, any case), and for a number field a plain decimal that
 *   survives a round trip, are taken at their word, unless the tool sets `strictInput`; so is a text that is the whole JSON of an array or
 *   object, for a field that takes that and no text. Nothing else is coerced, by `z.coerce.boolean()` and `z.coerce.number()` neither.
 * - A key that a closed schema does not know is an error that names the nearest known key; nothing is renamed or dropped.
 * - A key `__proto__` is refused at any depth.
 *
 * An input that came with an answer about the call is held to `answeredInputSchema` where the tool has one.
 *
 * The message of a failure is written for the model.
 */
export function parseToolInput(tool: AnyTool, value: unknown, from: 'model' | 'answer' = 'model'): ParsedToolInput {
  const given: unknown = value === undefined || value === null || value === '' ? {} : value;
  if (!isJsonObject(given)) {
    return { ok: false, message: `The input of ${tool.name} must be a JSON object, received ${typeName(given)}.` };
  }
  const refused = refuseShape(given, []);
  if (refused !== undefined) return failure(tool, [refused]);
  const { result, repairs } = repair(inputChecker(from === 'answer' ? answeredTool(tool) : tool), given, !tool.strictInput);
  if (!result.ok) return failure(tool, result.issues);
  if (typeof result.output !== 'object' || result.output === null) {
    return { ok: false, message: `The input of ${tool.name} must be a JSON object.` };
  }
  return { ok: true, input: result.output, repairs };
}

const answeredTool = (tool: AnyTool): AnyTool =>
  tool.answeredInputSchema === undefined ? tool : { ...tool, inputSchema: tool.answeredInputSchema };

/** Applies repairs one at a time; one is kept only if the issue it answers is gone and no new one stands in its place. */
function repair(check: InputChecker, given: JsonObject, textualForms: boolean) {
  let draft = given;
  let result = check(draft);
  const repairs: InputRepair[] = [];
  const hopeless = new Set<string>();
  for (let round = 0; !result.ok && round < MAX_REPAIRS; round++) {
    const next = firstUntried(result.issues, draft, textualForms, hopeless);
    if (next === undefined) break;
    const after = check(next.draft);
    if (after.ok || !after.issues.some((issue) => pathText(issue.path) === next.at)) {
      draft = next.draft;
      result = after;
      repairs.push(...next.repairs);
    } else {
      hopeless.add(next.key);
    }
  }
  return { result, repairs };
}

/** Bounds the loop for inputs with very many wrong fields. */
const MAX_REPAIRS = 200;

/** Each proposal copies the input, so none is made before those in front of it have turned out hopeless. */
function firstUntried(
  issues: readonly InputIssue[],
  draft: JsonObject,
  textualForms: boolean,
  hopeless: ReadonlySet<string>,
): Proposal | undefined {
  for (const issue of issues) {
    for (const candidate of proposals(issue, draft, textualForms)) if (!hopeless.has(candidate.key)) return candidate;
  }
  return undefined;
}

interface Proposal {
  readonly key: string;
  /** The place whose issue must be gone. */
  readonly at: string;
  readonly draft: JsonObject;
  readonly repairs: readonly InputRepair[];
}

/** The ways to mend an issue: at its own place, then by each form of a union. */
function* proposals(issue: InputIssue, draft: JsonObject, textualForms: boolean): Generator<Proposal> {
  yield* ownProposals(issue, draft, textualForms);
  for (const [index, form] of (issue.forms ?? []).entries()) {
    const mended = formProposal(issue, form, index, draft, textualForms);
    if (mended !== undefined) yield mended;
  }
}

function ownProposals(issue: InputIssue, draft: JsonObject, textualForms: boolean): Proposal[] {
  if (issue.kind === 'unknownKeys') {
    if (issue.path.length > 0) return [];
    return (issue.keys ?? []).filter((key) => HOST_ARTEFACT_KEYS.includes(key)).map((key) => proposal([key], 'hostKeyRemoved', draft));
  }
  const value = valueAt(draft, issue.path);
  const last = issue.path.at(-1);
  // Only a member of an object can be left out; an element of an array holds a place.
  if (value === null && typeof last === 'string') return [proposal(issue.path, 'nullAsAbsent', draft)];
  if (!textualForms || issue.kind !== 'type' || typeof value !== 'string') return [];
  const expected = issue.expected ?? [];
  if (expected.includes('boolean')) {
    const word = value.trim().toLowerCase();
    if (word === 'true' || word === 'false') return [proposal(issue.path, 'boolean', draft, word === 'true')];
  }
  if ((expected.includes('number') || expected.includes('integer') || expected.includes('int')) && isPlainDecimal(value)) {
    return [proposal(issue.path, 'number', draft, Number(value))];
  }
  const parsed = expected.some((type) => STRUCTURES.has(type)) ? structureIn(value) : undefined;
  return parsed === undefined || refuseShape(parsed, issue.path) !== undefined ? [] : [proposal(issue.path, 'json', draft, parsed)];
}

/** All that one form of a union finds wrong, mended at once: half of it would serve another form, or none. */
function formProposal(
  { path }: InputIssue,
  form: readonly InputIssue[],
  index: number,
  draft: JsonObject,
  textualForms: boolean,
): Proposal | undefined {
  let mended = draft;
  const repairs: InputRepair[] = [];
  for (const issue of form) {
    const [first] = proposals(issue, mended, textualForms);
    if (first === undefined) return undefined;
    mended = first.draft;
    repairs.push(...first.repairs);
  }
  const at = pathText(path);
  return { key: `form:${at}:${index}:${repairs.map(({ path: place }) => place).join()}`, at, draft: mended, repairs };
}

/** What JSON Schema and zod call a value that has parts. */
const STRUCTURES: ReadonlySet<string> = new Set(['array', 'tuple', 'object', 'record']);

/** The array or object that a text is the JSON of, from its first character to its last. */
function structureIn(text: string): JsonValue | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

function proposal(path: readonly PropertyKey[], kind: InputRepair['kind'], draft: JsonObject, replacement?: JsonValue): Proposal {
  const text = pathText(path);
  const from = valueAt(draft, path);
  return {
    key: `${kind}:${text}`,
    at: kind === 'hostKeyRemoved' ? '' : text,
    draft: withValue(draft, path, replacement),
    repairs: [{ path: text, kind, from: isJsonValue(from) ? from : null }],
  };
}

/** True for decimals that name one number exactly: no sign games, no exponent, no blanks, no lost digits. */
function isPlainDecimal(text: string): boolean {
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) && String(Number(text)) === text;
}

/** A copy with the value at `path` replaced, or removed when `replacement` is undefined. */
function withValue(root: JsonObject, path: readonly PropertyKey[], replacement: JsonValue | undefined): JsonObject {
  const copy: unknown = structuredClone(root);
  const parent = valueAt(copy, path.slice(0, -1));
  const last = path.at(-1);
  if (typeof parent === 'object' && parent !== null && last !== undefined) {
    if (replacement === undefined) Reflect.deleteProperty(parent, last);
    else Object.defineProperty(parent, last, { value: replacement, enumerable: true, configurable: true, writable: true });
  }
  return isJsonObject(copy) ? copy : root;
}

/** Shapes that no schema gets to see: prototype keys, and nesting that would exhaust the stack of a validator. */
function refuseShape(value: unknown, path: readonly PropertyKey[]): InputIssue | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (path.length > MAX_NESTING) return { path: [], kind: 'other', message: `the input is nested deeper than ${MAX_NESTING} levels` };
  if (Object.hasOwn(value, '__proto__')) return { path, kind: 'unknownKeys', keys: ['__proto__'], message: 'not allowed' };
  for (const [key, member] of Object.entries(value)) {
    const found = refuseShape(member, [...path, Array.isArray(value) ? Number(key) : key]);
    if (found !== undefined) return found;
  }
  return undefined;
}
const MAX_NESTING = 200;

function isJsonValue(value: unknown): value is JsonValue {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol' && typeof value !== 'bigint';
}

function failure(tool: AnyTool, issues: readonly InputIssue[]): { readonly ok: false; readonly message: string } {
  const lines = [...new Set(issues.flatMap((issue) => explain(tool, issue)))];
  const shown = lines.slice(0, MAX_SHOWN).map((line) => `- ${line}`);
  if (lines.length > MAX_SHOWN) shown.push(`- … and ${lines.length - MAX_SHOWN} more`);
  return { ok: false, message: `${tool.name} was not run: its input does not fit its schema.\n${shown.join('\n')}` };
}
const MAX_SHOWN = 20;

function explain(tool: AnyTool, issue: InputIssue): string[] {
  const place = pathText(issue.path);
  switch (issue.kind) {
    case 'missing':
      return [`\`${place}\` is required but was not given${issue.message === 'required' ? '' : `: ${issue.message}`}`];
    case 'unknownKeys': {
      const all = knownKeysAt(toolInputJSONSchema(tool), issue.path);
      return (issue.keys ?? []).map((key) => {
        const name = pathText([...issue.path, key]);
        const known = all.filter((candidate) => candidate !== key);
        if (known.length < all.length) return `parameter \`${name}\` does not go with the others`;
        const [nearest] = closest(key, known, 1);
        if (nearest !== undefined) return `unknown parameter \`${name}\`; did you mean \`${nearest}\`?`;
        return `unknown parameter \`${name}\`${known.length === 0 ? '' : `; known are ${known.map((candidate) => `\`${candidate}\``).join(', ')}`}`;
      });
    }
    case 'type':
    case 'other':
      return [place === '' ? issue.message : `\`${place}\`: ${issue.message}`];
  }
}
