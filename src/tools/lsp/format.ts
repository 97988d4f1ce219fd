import { z } from 'zod';
import type { JsonValue } from '../../json.js';
import { shownPath } from '../search/place.js';
import { filePathOf } from './server.js';

/** How results are shown: paths relative to a directory, and only files that may be read. */
export interface View {
  readonly cwd: string;
  readonly mayRead: (absolute: string) => boolean;
}

const rangeSchema = z.object({ start: z.object({ line: z.number(), character: z.number() }) });
const locationSchema = z.union([
  z.object({ uri: z.string(), range: rangeSchema }),
  z
    .object({ targetUri: z.string(), targetSelectionRange: rangeSchema })
    .transform((link) => ({ uri: link.targetUri, range: link.targetSelectionRange })),
]);
const itemSchema = z.object({ name: z.string(), uri: z.string(), selectionRange: rangeSchema });

/** `path:line:column` of each place. */
export function locationLines(result: JsonValue, view: View): string[] {
  const list = Array.isArray(result) ? result : result === null ? [] : [result];
  return list.flatMap((entry) => {
    const location = locationSchema.safeParse(entry);
    return location.success ? place(location.data.uri, location.data.range, view) : [];
  });
}

export function hoverText(result: JsonValue): string[] {
  const contents = z.object({ contents: z.unknown() }).safeParse(result);
  return contents.success ? marked(contents.data.contents) : [];
}

function marked(contents: unknown): string[] {
  if (typeof contents === 'string') return contents === '' ? [] : [contents];
  if (Array.isArray(contents)) return contents.flatMap(marked);
  const value = z.object({ value: z.string() }).safeParse(contents);
  return value.success && value.data.value !== '' ? [value.data.value] : [];
}

/** Symbols with their kind and line; those inside others are indented. */
export function symbolLines(result: JsonValue, view: View, depth = 0): string[] {
  const symbolSchema = z.object({
    name: z.string(),
    kind: z.number(),
    selectionRange: rangeSchema.optional(),
    location: z.unknown().optional(),
    children: z.array(z.unknown()).optional(),
  });
  return (Array.isArray(result) ? result : []).flatMap((entry: JsonValue) => {
    const symbol = symbolSchema.safeParse(entry);
    if (!symbol.success) return [];
    const { name, kind, selectionRange, location, children } = symbol.data;
    const known = locationSchema.safeParse(location);
    const where =
      selectionRange !== undefined
        ? [`line ${selectionRange.start.line + 1}`]
        : known.success
          ? place(known.data.uri, known.data.range, view)
          : [];
    if (where.length === 0) return [];
    const inner: JsonValue = JSON.parse(JSON.stringify(children ?? []));
    return [`${'  '.repeat(depth)}${KINDS[kind] ?? 'symbol'} ${name} (${where[0]})`, ...symbolLines(inner, view, depth + 1)];
  });
}

export function callLines(result: JsonValue, side: 'from' | 'to', view: View): string[] {
  return (Array.isArray(result) ? result : []).flatMap((entry: JsonValue) => {
    const call = z.object({ [side]: itemSchema }).safeParse(entry);
    const item = call.success ? call.data[side] : undefined;
    return item === undefined ? [] : place(item.uri, item.selectionRange, view).map((where) => `${item.name} (${where})`);
  });
}

export function diagnosticLines(result: JsonValue): string[] {
  const schema = z.object({ message: z.string(), severity: z.number().optional(), range: rangeSchema });
  return (Array.isArray(result) ? result : []).flatMap((entry: JsonValue) => {
    const diagnostic = schema.safeParse(entry);
    if (!diagnostic.success) return [];
    const { message, severity, range } = diagnostic.data;
    return [`${range.start.line + 1}:${range.start.character + 1} ${SEVERITIES[severity ?? 1] ?? 'error'}: ${message}`];
  });
}

function place(uri: string, range: z.output<typeof rangeSchema>, view: View): string[] {
  const file = filePathOf(uri);
  return file !== undefined && view.mayRead(file)
    ? [`${shownPath(file, view.cwd)}:${range.start.line + 1}:${range.start.character + 1}`]
    : [];
}

const SEVERITIES = ['', 'error', 'warning', 'information', 'hint'];
/** `SymbolKind` of the protocol. */
const KINDS =
  ' file module namespace package class method property field constructor enum interface function variable constant string number boolean array object key null enum-member struct event operator type-parameter'.split(
    ' ',
  );
