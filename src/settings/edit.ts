import { chmodSync, existsSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { applyEdits, type FormattingOptions, findNodeAtLocation, getNodeValue, modify, type ParseError, parseTree } from 'jsonc-parser';
import { isJsonObject, type JsonValue } from '../json.js';
import { makeDirectorySync } from '../makeDirectory.js';

/** One change to a settings file: items added to or taken from a list, a list or value put in place of another. */
export type SettingsEdit =
  | { readonly kind: 'add' | 'remove'; readonly path: readonly string[]; readonly items: readonly string[] }
  | { readonly kind: 'set'; readonly path: readonly string[]; readonly value: JsonValue };

/** Applies edits to the text of a settings file; everything else in it, comments and layout included, stays as it is. */
function editSettingsText(text: string, edits: readonly SettingsEdit[]): string {
  const errors: ParseError[] = [];
  const source = text.trim() === '' ? '{}\n' : text;
  const root = parseTree(source, errors, { allowTrailingComma: true });
  if (errors.length > 0 || root === undefined || !isJsonObject(getNodeValue(root))) throw new Error('it is not valid JSON; mend it first');
  return edits.reduce((current, edit) => applyOne(current, edit, layoutOf(source)), source);
}

function applyOne(text: string, edit: SettingsEdit, formattingOptions: FormattingOptions): string {
  if (edit.kind === 'set') return applyEdits(text, modify(text, [...edit.path], edit.value, { formattingOptions }));
  const present = listAt(text, edit.path);
  if (edit.kind === 'add') {
    const missing = edit.items.filter((item) => !present.includes(item));
    if (missing.length === 0) return text;
    if (present.length === 0) return applyEdits(text, modify(text, [...edit.path], missing, { formattingOptions }));
    return missing.reduce(
      (current, item, index) =>
        applyEdits(current, modify(current, [...edit.path, present.length + index], item, { formattingOptions, isArrayInsertion: true })),
      text,
    );
  }
  const doomed = present.flatMap((item, index) => (edit.items.some((wanted) => wanted === item) ? [index] : [])).reverse();
  return doomed.reduce(
    (current, index) => applyEdits(current, modify(current, [...edit.path, index], undefined, { formattingOptions })),
    text,
  );
}

function listAt(text: string, path: readonly string[]): unknown[] {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const node = root === undefined ? undefined : findNodeAtLocation(root, [...path]);
  const value: unknown = node === undefined ? undefined : getNodeValue(node);
  return Array.isArray(value) ? value : [];
}

function layoutOf(text: string): FormattingOptions {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
  return {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
}

/**
 * Edits a settings file in one step: a new file beside it takes its place, with its mode, so that a reader sees the old
 * content or the new one. A link stays a link. Throws when the file cannot be read, parsed or written; it is then unchanged.
 */
export function editSettingsFile(file: string, edits: readonly SettingsEdit[], id: string): void {
  const exists = existsSync(file);
  const real = exists ? realpathSync(file) : file;
  const edited = editSettingsText(exists ? readFileSync(real, 'utf8') : '', edits);
  makeDirectorySync(dirname(real));
  const temporary = join(dirname(real), `.${basename(real)}.${id}.tmp`);
  try {
    writeFileSync(temporary, edited, { flag: 'wx', mode: 0o600 });
    chmodSync(temporary, exists ? statSync(real).mode & 0o7777 : 0o644);
    renameSync(temporary, real);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
