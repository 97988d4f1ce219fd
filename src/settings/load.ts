import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { readRule, ruleFromText } from '../permissions/grammar.js';
import type { PermissionRule, RuleScope } from '../permissions/types.js';
import { errorCode } from '../tool/errors.js';
import { checkSettings } from './check.js';
import { at, listOf, parseDocument } from './jsonc.js';
import { chooseMode } from './mode.js';
import { configDirIn } from './place.js';
import { ENV_NAME } from './schema.js';
import { needsTrust, type Source } from './source.js';
import type { LoadedSettings, LoadSettingsOptions, SettingsFile, SettingsHookGroup, SettingsProblem } from './types.js';

/** Where an administrator puts settings that nobody overrides (Claude Code docs, settings). */
export function managedSettingsFile(platform: NodeJS.Platform = process.platform): string {
  if (platform === 'darwin') return '/Library/Application Support/ClaudeCode/managed-settings.json';
  return platform === 'win32' ? 'C:\\Program Files\\ClaudeCode\\managed-settings.json' : '/etc/claude-code/managed-settings.json';
}

/** The settings files that a person's answer may be saved to. */
export const settingsFilesOf = (configDir: string, cwd: string): Record<'userSettings' | 'projectSettings' | 'localSettings', string> => ({
  userSettings: join(configDir, 'settings.json'),
  projectSettings: join(cwd, '.claude', 'settings.json'),
  localSettings: join(cwd, '.claude', 'settings.local.json'),
});

/**
 * Reads all settings of a session. Never throws: what cannot be read or means nothing is a problem with file, line, path and
 * reason, and everything else stays in force. Rules of all scopes join; of a single value the strongest scope's counts:
 * managed, flags and `--settings`, local, project, user (Claude Code docs, settings).
 */
export function loadSettings(options: LoadSettingsOptions): LoadedSettings {
  const problems: SettingsProblem[] = [];
  const sources = readSources(options, problems);
  for (const source of sources) problems.push(...checkSettings(source));

  const managedRulesOnly = sources.some(
    ({ scope, document }) => scope === 'managed' && document.value.allowManagedPermissionRulesOnly === true,
  );
  const rules = sources.flatMap((source) => {
    if (managedRulesOnly && source.scope !== 'managed') return [];
    return rulesOf(source, options, problems);
  });
  const strongest = [...sources].reverse();
  const bypassDisabled = sources.some(({ document }) => at(document.value.permissions, 'disableBypassPermissionsMode') === 'disable');
  const autoDisabled = sources.some(
    ({ document: { value } }) => value.disableAutoMode === 'disable' || at(value.permissions, 'disableAutoMode') === 'disable',
  );
  const merged = sources.reduce<JsonObject>((weaker, { document }) => merge(weaker, document.value), {});
  return {
    rules,
    mode: chooseMode(strongest, { bypassDisabled, autoDisabled, trusted: options.trusted === true }, problems),
    bypassDisabled,
    autoDisabled,
    configDir: configDirOf(options),
    outsideReadsBlocked: sources.some(({ document }) => at(document.value.permissions, 'blockReadsOutsideWorkingDirectories') === true),
    additionalDirectories: directoriesOf(sources, options, problems),
    hooks: sources.flatMap(hooksOf),
    disableAllHooks: strongest.map(({ document }) => document.value.disableAllHooks).find((value) => typeof value === 'boolean') === true,
    allowManagedHooksOnly: sources.some(({ scope, document }) => scope === 'managed' && document.value.allowManagedHooksOnly === true),
    env: envOf(merged),
    merged,
    files: sources.map(
      ({ scope, file, document }): SettingsFile => ({ scope, ...(file === undefined ? {} : { file }), settings: document.value }),
    ),
    problems,
    warnings: problems.map(describeProblem),
  };
}

/** `error: /p/.claude/settings.json:4: permissions.deny[0]: …`. */
export function describeProblem({ severity, file, scope, line, path, message }: SettingsProblem): string {
  const place = file === undefined ? scope : `${file}${line === undefined ? '' : `:${line}`}`;
  return [severity, place, path, message].filter((part) => part !== '').join(': ');
}

const configDirOf = ({ home, configDir }: LoadSettingsOptions): string => configDir ?? configDirIn(home);

/** What of settings bounds a permission engine beside its rules: whoever makes one needs all of it. */
export const boundsOf = ({ additionalDirectories, outsideReadsBlocked, configDir }: LoadedSettings) => ({
  additionalDirectories,
  outsideReadsBlocked,
  configDir,
});

/** Weakest first. A file that does not exist is no source, unless it was named. */
function readSources(options: LoadSettingsOptions, problems: SettingsProblem[]): Source[] {
  const { cwd, flags, settings } = options;
  const places = settingsFilesOf(configDirOf(options), cwd);
  const sources: Source[] = [];
  const addFile = (scope: RuleScope, file: string, root: string, named: boolean): void => {
    const text = readText(file);
    if (typeof text === 'string') sources.push({ scope, file, root, document: parseDocument(text) });
    else if (named || text.missing === false)
      problems.push({ severity: 'error', scope, file, path: '', message: `The file cannot be read (${text.code})` });
  };
  const addValue = (scope: RuleScope, value: JsonObject): void => {
    sources.push({ scope, root: cwd, document: { value, errors: [], lineOf: () => 1 } });
  };
  if (options.files !== false) {
    addFile('userSettings', places.userSettings, dirname(places.userSettings), false);
    if (options.projectFile === undefined) addFile('projectSettings', places.projectSettings, cwd, false);
    else addFile('projectSettings', resolve(cwd, options.projectFile), cwd, true);
    addFile('localSettings', places.localSettings, cwd, false);
  }
  if (settings !== undefined) addValue('option', settings);
  if (options.settingsFile !== undefined) {
    const file = resolve(cwd, options.settingsFile);
    addFile('flagSettings', file, dirname(file), true);
  }
  if (flags !== undefined) addValue('cliArg', { permissions: { ...flags } });
  if (options.managedFile !== undefined) addFile('managed', options.managedFile, dirname(options.managedFile), false);
  return sources;
}

function readText(file: string): string | { readonly missing: boolean; readonly code: string } {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = errorCode(error) ?? 'unreadable';
    return { missing: code === 'ENOENT' || code === 'ENOTDIR', code };
  }
}

function rulesOf(source: Source, options: LoadSettingsOptions, problems: SettingsProblem[]): PermissionRule[] {
  const { scope, file, root, document } = source;
  const origin = file === undefined ? { scope, root } : { scope, root, file };
  const rules: PermissionRule[] = [];
  const note = (path: string, line: number, message: string): void => {
    problems.push({ severity: 'warning', scope, ...(file === undefined ? {} : { file, line }), path, message });
  };
  for (const behavior of ['deny', 'ask', 'allow'] as const) {
    const list = listOf(document.value.permissions, behavior);
    if (list.length === 0) continue;
    if (behavior === 'allow' && document.errors.length > 0) continue;
    if (behavior === 'allow' && needsTrust(source) && options.trusted !== true) {
      note(
        'permissions.allow',
        document.lineOf(['permissions', 'allow']),
        'The allow rules of a project that is not trusted are ignored; trust the project to use them',
      );
      continue;
    }
    for (const [index, text] of list.entries()) {
      if (typeof text !== 'string') continue;
      const line = document.lineOf(['permissions', behavior, index]);
      const rule = ruleFromText(text, behavior, file === undefined ? origin : { ...origin, line });
      if ('problem' in rule) continue;
      rules.push(rule);
      const { warnings } = readRule(rule, {
        home: options.home,
        ...(options.toolNames === undefined ? {} : { toolNames: options.toolNames }),
      });
      for (const warning of warnings) note(`permissions.${behavior}[${index}]`, line, warning);
    }
  }
  return rules;
}

function directoriesOf(sources: readonly Source[], options: LoadSettingsOptions, problems: SettingsProblem[]): string[] {
  const directories = new Set<string>();
  for (const source of sources) {
    const { scope, file, document } = source;
    const list = listOf(document.value.permissions, 'additionalDirectories');
    if (list.length === 0) continue;
    if (needsTrust(source) && options.trusted !== true) {
      problems.push({
        severity: 'warning',
        scope,
        ...(file === undefined ? {} : { file, line: document.lineOf(['permissions', 'additionalDirectories']) }),
        path: 'permissions.additionalDirectories',
        message: 'The additional directories of a project that is not trusted are ignored; trust the project to use them',
      });
      continue;
    }
    for (const directory of list) if (typeof directory === 'string') directories.add(resolveDirectory(directory, options));
  }
  directories.delete(options.cwd);
  return [...directories];
}

/** A directory in settings: `~/x` below home, `//x` and `/x` absolute, else below the working directory. */
export function resolveDirectory(directory: string, { home, cwd }: { readonly home: string; readonly cwd: string }): string {
  if (directory === '~' || directory.startsWith('~/')) return resolve(home, `.${directory.slice(1)}`);
  return resolve(cwd, directory);
}

function hooksOf({ scope, file, document }: Source): SettingsHookGroup[] {
  const { hooks } = document.value;
  if (!isJsonObject(hooks)) return [];
  return Object.entries(hooks).flatMap(([event, groups]) => {
    if (!Array.isArray(groups)) return [];
    return groups.map((group: JsonValue, index) => ({
      event,
      group,
      scope,
      ...(file === undefined ? {} : { file, line: document.lineOf(['hooks', event, index]) }),
    }));
  });
}

function envOf(merged: JsonObject): Record<string, string> {
  if (!isJsonObject(merged.env)) return {};
  return Object.fromEntries(
    Object.entries(merged.env).filter((entry): entry is [string, string] => typeof entry[1] === 'string' && ENV_NAME.test(entry[0])),
  );
}

function merge(weaker: JsonObject, stronger: JsonObject): JsonObject {
  const result: Record<string, JsonValue> = { ...weaker };
  for (const [key, value] of Object.entries(stronger)) {
    const below = Object.hasOwn(result, key) ? result[key] : undefined;
    if (Array.isArray(below) && Array.isArray(value)) result[key] = [...below, ...value];
    else if (isJsonObject(below) && isJsonObject(value)) result[key] = merge(below, value);
    else Object.defineProperty(result, key, { value, enumerable: true, writable: true, configurable: true });
  }
  return result;
}
