import { findNodeAtLocation, getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';

export type JsonPath = readonly (string | number)[];

/** JSON with comments and trailing commas, with the line of everything in it. */
export interface JsonDocument {
  readonly value: JsonObject;
  /** Syntax errors; `value` holds what could be read all the same. */
  readonly errors: readonly { readonly line: number; readonly message: string }[];
  /** 1-based line of the value at a path, or of the nearest value above it. */
  lineOf(path: JsonPath): number;
}

export function parseDocument(text: string): JsonDocument {
  const found: ParseError[] = [];
  const source = text.replace(/^\uFEFF/, '');
  const root = parseTree(source, found, { allowTrailingComma: true, allowEmptyContent: true });
  const lines = lineStarts(source);
  const lineAt = (offset: number): number => {
    let low = 0;
    let high = lines.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((lines[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
  const value: unknown = root === undefined ? {} : getNodeValue(root);
  const errors = found.map(({ error, offset }) => ({ line: lineAt(offset), message: phrase(printParseErrorCode(error)) }));
  if (!isJsonObject(value)) errors.push({ line: 1, message: 'the file must hold one JSON object' });
  return {
    value: isJsonObject(value) ? value : {},
    errors,
    lineOf: (path) => lineAt(root === undefined ? 0 : nearest(root, path).offset),
  };
}

const phrase = (code: string): string =>
  code.replace(/([a-z])([A-Z])/g, (_, before: string, after: string) => `${before} ${after.toLowerCase()}`).toLowerCase();

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function nearest(root: Node, path: JsonPath): Node {
  for (let length = path.length; length > 0; length--) {
    const node = findNodeAtLocation(root, path.slice(0, length));
    // The key's line, where there is one: a value may begin a line further down.
    if (node !== undefined) return node.parent?.type === 'property' ? node.parent : node;
  }
  return root;
}

/** `permissions.deny[0]`. */
export const formatPath = (path: JsonPath): string =>
  path.reduce<string>((text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`), '');

export const at = (value: JsonValue | undefined, key: string): JsonValue | undefined => (isJsonObject(value) ? value[key] : undefined);

/** Empty where there is no list. */
export function listOf(value: JsonValue | undefined, key: string): readonly JsonValue[] {
  const list = at(value, key);
  return Array.isArray(list) ? list : [];
}
