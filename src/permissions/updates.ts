import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { editSettingsFile, type SettingsEdit } from '../settings/edit.js';
import { at, parseDocument } from '../settings/jsonc.js';
import { resolveDirectory, settingsFilesOf } from '../settings/load.js';
import { parseMode } from '../settings/mode.js';
import { configDirIn } from '../settings/place.js';
import { messageOf } from '../tool/errors.js';
import { formatRule, parseRuleText, ruleFromText } from './grammar.js';
import type { PermissionDestination, PermissionMode, PermissionRule, PermissionRuleValue, PermissionUpdate } from './types.js';

/** What updates change. */
export interface PermissionStore {
  /** All rules in force. */
  readonly rules: readonly PermissionRule[];
  /** The mode that holds. */
  readonly mode: PermissionMode;
  /** Directories beside the working directory, absolute. */
  readonly additionalDirectories: readonly string[];
  /** Whether the mode may be switched to bypassPermissions. */
  readonly bypassAvailable: boolean;
}

/** What applying updates came to. */
export interface UpdateResult {
  /** What holds now. */
  readonly store: PermissionStore;
  /** The updates that took effect, in canonical form. */
  readonly applied: readonly PermissionUpdate[];
  /** Why an update was dropped, or not saved. The others stand. */
  readonly warnings: readonly string[];
}

export interface UpdateContext {
  readonly cwd: string;
  readonly home: string;
  /** Directory of the user's settings. Default `<home>/.claude`. */
  readonly configDir?: string;
  /** A fresh name, for the file that takes a settings file's place. */
  readonly newId: () => string;
}

const destination = z.enum(['userSettings', 'projectSettings', 'localSettings', 'session', 'cliArg']);
const ruleValue = z.object({ toolName: z.string().min(1), ruleContent: z.string().optional() });
const directories = z.array(z.string().min(1));
const updateSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.enum(['addRules', 'replaceRules', 'removeRules']),
    rules: z.array(ruleValue),
    behavior: z.enum(['allow', 'deny', 'ask']),
    destination,
  }),
  z.object({ type: z.literal('setMode'), mode: z.string(), destination }),
  z.object({ type: z.enum(['addDirectories', 'removeDirectories']), directories, destination }),
]);
type ParsedUpdate = z.infer<typeof updateSchema>;

/** Reads updates from outside: those that are well-formed, and a warning for each that is not. */
export function parsePermissionUpdates(given: unknown): {
  readonly updates: readonly PermissionUpdate[];
  readonly warnings: readonly string[];
} {
  if (given === undefined || given === null) return { updates: [], warnings: [] };
  if (!Array.isArray(given)) return { updates: [], warnings: ['Permission updates are not a list; none was applied'] };
  const updates: PermissionUpdate[] = [];
  const warnings: string[] = [];
  for (const [index, one] of given.entries()) {
    const parsed = updateSchema.safeParse(one);
    const update = parsed.success ? usable(parsed.data) : (parsed.error.issues[0]?.message ?? 'it is malformed');
    if (typeof update === 'string') warnings.push(`Permission update ${index} was dropped: ${update}`);
    else updates.push(update);
  }
  return { updates, warnings };
}

/**
 * Applies permission updates (the Agent SDK's shape): in memory always, and in the settings file where the destination is
 * one. Whatever cannot be understood is dropped with a warning; a file that cannot be written leaves the change in memory.
 */
export function applyPermissionUpdates(given: unknown, store: PermissionStore, context: UpdateContext): UpdateResult {
  const { updates, warnings: malformed } = parsePermissionUpdates(given);
  const warnings = [...malformed];
  const applied: PermissionUpdate[] = [];
  let current = store;
  for (const update of updates) {
    if (update.type === 'setMode' && update.mode === 'bypassPermissions' && !current.bypassAvailable) {
      warnings.push('Mode bypassPermissions was not enabled when the session started; the mode stays as it is');
      continue;
    }
    const unsaved = save(update, context);
    if (unsaved !== null) warnings.push(`A permission update holds for this session only: ${unsaved}`);
    current = applyInMemory(update, current, context);
    applied.push(update);
  }
  return { store: current, applied, warnings };
}

/** The update in canonical form, or why it is none. */
function usable(update: ParsedUpdate): PermissionUpdate | string {
  switch (update.type) {
    case 'setMode': {
      const mode = parseMode(update.mode);
      if (mode === undefined) return `there is no mode "${update.mode}"`;
      return { type: 'setMode', mode, destination: update.destination };
    }
    case 'addDirectories':
    case 'removeDirectories':
      return update;
    default: {
      const rules = update.rules.map(
        ({ toolName, ruleContent }): PermissionRuleValue => (ruleContent === undefined ? { toolName } : { toolName, ruleContent }),
      );
      const broken = rules.map(formatRule).find((text) => !parseRuleText(text).ok);
      if (broken !== undefined) return `"${broken}" is not a rule`;
      return { ...update, rules };
    }
  }
}

const fileOf = (target: PermissionDestination, { home, configDir = configDirIn(home), cwd }: UpdateContext): string | undefined =>
  target === 'session' || target === 'cliArg' ? undefined : settingsFilesOf(configDir, cwd)[target];

function save(update: PermissionUpdate, context: UpdateContext): string | null {
  const file = fileOf(update.destination, context);
  if (file === undefined) return null;
  try {
    editSettingsFile(file, [editFor(update)], context.newId());
    return null;
  } catch (error) {
    return `${file} was not changed: ${messageOf(error)}`;
  }
}

function editFor(update: PermissionUpdate): SettingsEdit {
  switch (update.type) {
    case 'setMode':
      return { kind: 'set', path: ['permissions', 'defaultMode'], value: update.mode };
    case 'addDirectories':
      return { kind: 'add', path: ['permissions', 'additionalDirectories'], items: update.directories };
    case 'removeDirectories':
      return { kind: 'remove', path: ['permissions', 'additionalDirectories'], items: update.directories };
    case 'addRules':
      return { kind: 'add', path: ['permissions', update.behavior], items: update.rules.map(formatRule) };
    case 'removeRules':
      return { kind: 'remove', path: ['permissions', update.behavior], items: update.rules.map(formatRule) };
    case 'replaceRules':
      return { kind: 'set', path: ['permissions', update.behavior], value: update.rules.map(formatRule) };
  }
}

function applyInMemory(update: PermissionUpdate, store: PermissionStore, context: UpdateContext): PermissionStore {
  switch (update.type) {
    case 'setMode':
      return { ...store, mode: update.mode };
    case 'addDirectories': {
      const added = update.directories.map((directory) => resolveDirectory(directory, context));
      return { ...store, additionalDirectories: [...new Set([...store.additionalDirectories, ...added])] };
    }
    case 'removeDirectories': {
      const removed = new Set(update.directories.map((directory) => resolveDirectory(directory, context)));
      return { ...store, additionalDirectories: store.additionalDirectories.filter((directory) => !removed.has(directory)) };
    }
    case 'addRules':
    case 'replaceRules':
    case 'removeRules': {
      const texts = new Set(update.rules.map(formatRule));
      const ofThisList = (rule: PermissionRule): boolean => rule.scope === update.destination && rule.behavior === update.behavior;
      const kept = store.rules.filter((rule) => !ofThisList(rule) || !(update.type === 'replaceRules' || texts.has(formatRule(rule))));
      return update.type === 'removeRules'
        ? { ...store, rules: kept }
        : { ...store, rules: [...kept, ...newRules([...texts], update, context)] };
    }
  }
}

function newRules(
  texts: readonly string[],
  { behavior, destination: scope }: Extract<PermissionUpdate, { readonly rules: unknown }>,
  context: UpdateContext,
): PermissionRule[] {
  const file = fileOf(scope, context);
  const root = scope === 'userSettings' && file !== undefined ? dirname(file) : context.cwd;
  const lineOf = file === undefined ? undefined : linesIn(file, behavior);
  return texts.flatMap((text) => {
    const line = lineOf?.(text);
    const rule = ruleFromText(text, behavior, {
      scope,
      root,
      ...(file === undefined ? {} : { file }),
      ...(line === undefined ? {} : { line }),
    });
    return 'problem' in rule ? [] : [rule];
  });
}

/** Where each rule of a list stands in a file that was just written. */
function linesIn(file: string, behavior: string): (text: string) => number | undefined {
  try {
    const document = parseDocument(readFileSync(file, 'utf8'));
    const list = at(document.value.permissions, behavior);
    return (text) => {
      const index = Array.isArray(list) ? list.indexOf(text) : -1;
      return index === -1 ? undefined : document.lineOf(['permissions', behavior, index]);
    };
  } catch {
    return () => undefined;
  }
}
