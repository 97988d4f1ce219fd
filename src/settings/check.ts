import type { z } from 'zod';
import { loadHooks } from '../hooks/config.js';
import { isHookEvent } from '../hooks/events.js';
import { parseRuleText } from '../permissions/grammar.js';
import type { RuleScope } from '../permissions/types.js';
import { closest } from '../tool/closest.js';
import { at, formatPath, type JsonDocument, type JsonPath, listOf } from './jsonc.js';
import { KEYS_OF_CONSEQUENCE, KNOWN_KEYS, PERMISSION_KEYS, settingsSchema } from './schema.js';
import type { SettingsProblem } from './types.js';

export interface SourceOfSettings {
  readonly scope: RuleScope;
  readonly file?: string;
  readonly document: JsonDocument;
}

/** Everything that is wrong with one settings file, with file, path, line and reason. Never throws. */
export function checkSettings(source: SourceOfSettings): SettingsProblem[] {
  const { document, scope } = source;
  const origin = { scope, ...(source.file === undefined ? {} : { file: source.file }) };
  const problem = (severity: SettingsProblem['severity'], path: JsonPath, message: string): SettingsProblem => ({
    severity,
    ...origin,
    line: document.lineOf(path),
    path: formatPath(path),
    message,
  });
  const faults = new Map(document.errors.map((error) => [`${error.line} ${error.message}`, error]));
  const problems: SettingsProblem[] = [...faults.values()].map(({ line, message }) => ({
    severity: 'error',
    ...origin,
    line,
    path: '',
    message: `Not valid JSON: ${message}. What can be read of its deny and ask rules holds; its allow rules do not`,
  }));
  const parsed = settingsSchema.safeParse(document.value);
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues.flatMap(leaves)) problems.push(problem('error', path, `${message}; ignored`));
  }
  for (const behavior of ['allow', 'ask', 'deny'] as const) {
    for (const [index, text] of listOf(document.value.permissions, behavior).entries()) {
      const rule = typeof text === 'string' ? parseRuleText(text) : undefined;
      if (rule?.ok === false)
        problems.push(problem('error', ['permissions', behavior, index], `"${text}" is not a rule: ${rule.reason}; ignored`));
    }
  }
  for (const key of Object.keys(document.value)) {
    const place = placeOf(key);
    if (place !== undefined) {
      problems.push(problem('warning', [key], `"${key}" has no effect here; write it as ${place}`));
      continue;
    }
    const meant = KNOWN_KEYS.has(key) ? undefined : closest(key, KEYS_OF_CONSEQUENCE, 1)[0];
    if (meant !== undefined && meant.length - key.length < 3)
      problems.push(problem('warning', [key], `Unknown key "${key}" has no effect; did you mean ${meant}?`));
  }
  if (at(document.value.sandbox, 'enabled') === true) {
    const message = 'There is no sandbox here: commands run with your own rights, and only permission rules and hooks restrict them';
    problems.push(problem('warning', ['sandbox', 'enabled'], message));
  }
  for (const [index, directory] of listOf(document.value.permissions, 'additionalDirectories').entries()) {
    if (typeof directory !== 'string' || !/^\$\{?[A-Za-z_]/.test(directory)) continue;
    const message = `Variables stand for themselves in ${directory}; write ~/… for a directory below home, or the whole path`;
    problems.push(problem('warning', ['permissions', 'additionalDirectories', index], message));
  }
  if ('hooks' in document.value) {
    for (const issue of loadHooks([{ ...origin, settings: { hooks: document.value.hooks } }]).issues) {
      if (issue.severity === 'note') continue;
      problems.push({ ...problem(issue.severity, pathOf(issue.path), issue.message), path: issue.path });
    }
  }
  return problems;
}

const OTHER_NAMES: Readonly<Record<string, string>> = { allowedTools: 'permissions.allow', disallowedTools: 'permissions.deny' };

/** Where a key belongs that stands at the top of a file by mistake: a rule there would be lost without a word. */
function placeOf(key: string): string | undefined {
  if (KNOWN_KEYS.has(key)) return undefined;
  if (PERMISSION_KEYS.has(key)) return `permissions.${key}`;
  if (isHookEvent(key)) return `hooks.${key}`;
  return Object.hasOwn(OTHER_NAMES, key) ? OTHER_NAMES[key] : undefined;
}

type Issue = z.core.$ZodIssue;
interface Leaf {
  readonly path: (string | number)[];
  readonly message: string;
}

/** A union's complaint is that of the branch that came nearest. */
function leaves(issue: Issue): Leaf[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => {
      const meant = path.length === 1 && path[0] === 'permissions' ? permissionKey(key) : undefined;
      return { path: [...path, key], message: `Unknown key "${key}"${meant === undefined ? '' : `, did you mean ${meant}?`}` };
    });
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const nearest = [...issue.errors].sort((a, b) => depth(b) - depth(a) || a.length - b.length)[0] ?? [];
    return nearest.flatMap(leaves).map((leaf) => ({ path: [...path, ...leaf.path], message: leaf.message }));
  }
  return [{ path, message: issue.message }];
}

/** The key that was meant; a word that refuses is never taken for one that allows. */
function permissionKey(key: string): string | undefined {
  return /^(dis|den|block|forbid|refuse)/i.test(key) && !/mode$/i.test(key) ? 'deny' : closest(key, PERMISSION_KEYS, 1)[0];
}

const depth = (issues: readonly Issue[]): number => Math.max(0, ...issues.map((issue) => issue.path.length));

/** The reverse of `formatPath`, for paths that come as text. */
const pathOf = (text: string): JsonPath =>
  [...text.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, key, index]) => (index === undefined ? (key ?? '') : Number(index)));
