import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import type { ParsedJson } from '../tool/call.js';
import { messageOf } from '../tool/errors.js';

/** Deeper input is refused: recursive readers (JSON.stringify among them) would overflow the stack on it. */
export const MAX_INPUT_DEPTH = 500;

/**
 * The one decision about a tool's input text, made at block end. Empty or blank text counts as `{}`: tools without arguments stream none.
 * Never throws.
 */
export function parseToolInput(rawInput: string): ParsedJson {
  if (rawInput.trim() === '') return { kind: 'object', value: {} };
  let value: JsonValue;
  try {
    value = JSON.parse(rawInput);
  } catch (error) {
    return { kind: 'invalid', reason: `the input is not valid JSON: ${messageOf(error)}` };
  }
  const accepted = acceptToolInput(value);
  const rounded = accepted.kind === 'object' ? findRoundedInteger(rawInput) : undefined;
  if (rounded === undefined) return accepted;
  return { kind: 'invalid', reason: `the number ${rounded} has more digits than a number can hold; send it as a string` };
}

/** A string, which is skipped, or a number without fraction and exponent. */
const STRING_OR_INTEGER = /"(?:[^"\\]|\\.)*"|-?\d+(?:[.eE][\d.eE+-]*)?/g;

/** An integer that the parsed value does not equal: run with it, a tool would act on another id than the one that was asked for. */
function findRoundedInteger(rawInput: string): string | undefined {
  if (!/\d{16}/.test(rawInput)) return undefined;
  for (const [token] of rawInput.matchAll(STRING_OR_INTEGER)) {
    if (!/^-?\d{16,}$/.test(token)) continue;
    const held = Number(token);
    // Other writers of JSON print a large float as its shortest decimal, which reads back to the same float.
    if (String(held) !== token && BigInt(held) !== BigInt(token)) return token;
  }
  return undefined;
}

/** Decides about input that arrived as a value, in the block's start event. Absent input counts as `{}`. */
export function acceptToolInput(value: unknown): ParsedJson {
  if (value === undefined) return { kind: 'object', value: {} };
  if (!isJsonObject(value)) return { kind: 'invalid', reason: `the input must be a JSON object, but it is ${nameOf(value)}` };
  const danger = findDanger(value);
  return danger === undefined ? { kind: 'object', value } : { kind: 'invalid', reason: danger };
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'string' ? 'a string' : `a ${typeof value}`;
}

/**
 * JSON.parse makes `__proto__` an ordinary own key, but one `Object.assign` or `target[key] = …` later it is a prototype. Such input is
 * refused as a whole: dropping the key would run something the model did not ask for. Iterative, because depth is what it guards against.
 */
function findDanger(root: JsonObject): string | undefined {
  const stack: { readonly value: JsonValue; readonly path: string; readonly depth: number }[] = [{ value: root, path: '', depth: 1 }];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    if (typeof top.value === 'number' && !Number.isFinite(top.value)) return `the number at ${top.path} is too large`;
    if (typeof top.value !== 'object' || top.value === null) continue;
    if (top.depth > MAX_INPUT_DEPTH) return `the input is nested deeper than ${MAX_INPUT_DEPTH} levels`;
    for (const [key, value] of Object.entries(top.value)) {
      const path = top.path === '' ? key : `${top.path}.${key}`;
      if (key === '__proto__') return `the input holds the key "__proto__" at ${path}, which is refused`;
      if (key === 'constructor' && isJsonObject(value) && Object.hasOwn(value, 'prototype')) {
        return `the input holds the key "constructor.prototype" at ${path}, which is refused`;
      }
      stack.push({ value, path, depth: top.depth + 1 });
    }
  }
  return undefined;
}
