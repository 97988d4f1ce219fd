import { isJsonObject, type JsonValue } from '../json.js';
import { formerToolNames } from '../permissions/toolNames.js';
import type { RuleScope } from '../permissions/types.js';
import type { ConfiguredHook, HookCallbacks, HookConfig, HookHandler, HookIssue, HookOrigin, HookSource } from './config-types.js';
import { eventTraits, IDLE_EVENTS, isHookEvent, isToolEvent, nearestEvent } from './events.js';
import { handlerName, identityOf } from './identity.js';
import { compileMatcher } from './matcher.js';
import { matcherDoubt } from './matcher-doubt.js';
import { parseHandler } from './parse-handler.js';
import { COMMENT_KEYS, MATCHER_KEYS } from './schema.js';
import type { HookEvent } from './types.js';

/** From the weakest to the strongest: where two hooks rewrite the same thing, the later one's value is used. */
const SCOPE_ORDER: readonly RuleScope[] = [
  'userSettings',
  'projectSettings',
  'localSettings',
  'flagSettings',
  'cliArg',
  'session',
  'option',
  'managed',
];

/**
 * Reads the hook keys of all settings files and the hooks given in code. Never throws: a handler that cannot be used is
 * left out with an `error` issue that names file, path and reason; everything else stays active.
 *
 * - `disableAllHooks` (the strongest scope that sets it decides) switches off the hooks of settings files; managed hooks
 *   and hooks in code only when managed settings say so.
 * - `allowManagedHooksOnly` (managed settings only) leaves managed hooks and hooks in code.
 * - `allowedHttpHookUrls` and `httpHookAllowedEnvVars` of all files are joined.
 */
export function loadHooks(sources: readonly HookSource[], callbacks: HookCallbacks = {}): HookConfig {
  const issues: HookIssue[] = [];
  const ordered = [...sources].sort((a, b) => SCOPE_ORDER.indexOf(a.scope) - SCOPE_ORDER.indexOf(b.scope));
  const readable = ordered.flatMap((source) => {
    if (isJsonObject(source.settings)) return [{ ...source, settings: source.settings }];
    issues.push({
      severity: 'error',
      ...fileOf(source),
      path: '',
      message: 'The settings are not a JSON object; their hooks are ignored.',
    });
    return [];
  });

  let disabledBy: RuleScope | undefined;
  let managedOnly = false;
  const urls: string[] = [];
  const envVars: string[] = [];
  let hasUrls = false;
  let hasEnvVars = false;
  for (const source of readable) {
    const report = (path: string, message: string) => issues.push({ severity: 'error', ...fileOf(source), path, message });
    const disable = flag(source.settings.disableAllHooks, 'disableAllHooks', report);
    if (disable !== undefined) disabledBy = disable ? source.scope : undefined;
    const only = flag(source.settings.allowManagedHooksOnly, 'allowManagedHooksOnly', report);
    if (only && source.scope === 'managed') managedOnly = true;
    const sourceUrls = strings(source.settings.allowedHttpHookUrls, 'allowedHttpHookUrls', report);
    hasUrls ||= sourceUrls !== undefined;
    urls.push(...(sourceUrls ?? []));
    const sourceEnvVars = strings(source.settings.httpHookAllowedEnvVars, 'httpHookAllowedEnvVars', report);
    hasEnvVars ||= sourceEnvVars !== undefined;
    envVars.push(...(sourceEnvVars ?? []));
  }

  const declared = [...readable.flatMap((source) => parseSource(source, issues)), ...parseCallbacks(callbacks, issues)];
  const rank = (hook: ConfiguredHook) => SCOPE_ORDER.indexOf(hook.origin.scope);
  const hooks = declared
    .sort((a, b) => rank(a) - rank(b))
    .filter((hook) => {
      const trusted = hook.origin.scope === 'managed' || hook.handler.type === 'function';
      if (disabledBy === 'managed') return false;
      return trusted || (disabledBy === undefined && !managedOnly);
    });
  return {
    hooks,
    issues,
    ...(hasUrls ? { allowedHttpHookUrls: urls } : {}),
    ...(hasEnvVars ? { httpHookAllowedEnvVars: envVars } : {}),
  };
}

function parseSource(source: HookSource & { readonly settings: { readonly hooks?: JsonValue } }, issues: HookIssue[]): ConfiguredHook[] {
  const table = source.settings.hooks;
  if (table === undefined) return [];
  const report = (severity: HookIssue['severity'], path: string, message: string) =>
    issues.push({ severity, ...fileOf(source), path, message });
  if (!isJsonObject(table)) {
    report(
      'error',
      'hooks',
      'Expected an object of events, like {"PreToolUse": [{"matcher": "Bash", "hooks": [...]}]}; no hook of this file is active.',
    );
    return [];
  }
  const hooks: ConfiguredHook[] = [];
  for (const [event, groups] of Object.entries(table)) {
    const path = `hooks.${event}`;
    if (!isHookEvent(event)) {
      reportForeignEvent(event, path, report);
      continue;
    }
    if (!Array.isArray(groups)) {
      report('error', path, 'Expected an array of {"matcher"?, "hooks": [...]}; these hooks are not active.');
      continue;
    }
    groups.forEach((group: JsonValue, index) => {
      hooks.push(...parseGroup(event, group, `${path}[${index}]`, source, report));
    });
  }
  return hooks;
}

type Report = (severity: HookIssue['severity'], path: string, message: string) => void;

function parseGroup(event: HookEvent, group: JsonValue, path: string, source: HookSource, report: Report): ConfiguredHook[] {
  if (!isJsonObject(group)) {
    report('error', path, 'Expected an object {"matcher"?, "hooks": [...]}; this entry is not active.');
    return [];
  }
  for (const key of Object.keys(group).filter((key) => !MATCHER_KEYS.has(key) && !COMMENT_KEYS.has(key))) {
    report('warning', `${path}.${key}`, `Unknown field "${key}" is ignored; an entry has "matcher" and "hooks".`);
  }
  // Null is how some languages write "not given".
  const matcher = group.matcher ?? undefined;
  if (matcher !== undefined && typeof matcher !== 'string') {
    report('error', `${path}.matcher`, 'Expected a string; this entry is not active.');
    return [];
  }
  const matches = matcherFor(event, matcher, `${path}.matcher`, report);
  if (matches === undefined) return [];
  if (!Array.isArray(group.hooks)) {
    report('error', `${path}.hooks`, 'Expected an array of handlers; this entry is not active.');
    return [];
  }
  return group.hooks.flatMap((raw: JsonValue, index) => {
    const place = `${path}.hooks[${index}]`;
    const handler = parseHandler(event, raw, place, report);
    if (handler === undefined) return [];
    const origin: HookOrigin = { scope: source.scope, ...fileOf(source), path: place };
    return [
      {
        event,
        name: handlerName(handler),
        ...(matcher === undefined ? {} : { matcher }),
        matches,
        handler,
        origin,
        identity: identityOf(handler),
      },
    ];
  });
}

function parseCallbacks(callbacks: HookCallbacks, issues: HookIssue[]): ConfiguredHook[] {
  const report: Report = (severity, path, message) => issues.push({ severity, path, message });
  const hooks: ConfiguredHook[] = [];
  for (const [event, groups] of Object.entries(callbacks)) {
    if (!isHookEvent(event)) {
      reportForeignEvent(event, `hooks.${event}`, report);
      continue;
    }
    for (const [index, group] of (groups ?? []).entries()) {
      const path = `hooks.${event}[${index}]`;
      const matches = matcherFor(event, group.matcher, `${path}.matcher`, report);
      if (matches === undefined) continue;
      const { timeout, onFailure, matcher } = group;
      if (timeout !== undefined && !(timeout > 0))
        report('warning', `${path}.timeout`, 'Must be more than 0 seconds; the default is used.');
      const functions: unknown = group.hooks;
      if (!Array.isArray(functions)) {
        report('error', `${path}.hooks`, 'Expected an array of functions; this entry is not active.');
        continue;
      }
      group.hooks.forEach((callback, place) => {
        if (typeof callback !== 'function') {
          report('error', `${path}.hooks[${place}]`, 'Expected a function; this handler is not active. Commands belong into settings.');
          return;
        }
        const handler: HookHandler = {
          type: 'function',
          callback,
          ...(timeout !== undefined && timeout > 0 ? { timeout } : {}),
          ...(onFailure === undefined ? {} : { onFailure }),
        };
        const origin: HookOrigin = { scope: 'option', path: `${path}.hooks[${place}]` };
        hooks.push({ event, name: callback.name || 'callback', ...(matcher === undefined ? {} : { matcher }), matches, handler, origin });
      });
    }
  }
  return hooks;
}

function matcherFor(event: HookEvent, matcher: string | undefined, path: string, report: Report): ConfiguredHook['matches'] | undefined {
  if (eventTraits(event).subject === null) {
    if (matcher !== undefined && matcher !== '' && matcher !== '*')
      report('note', path, `${event} has no matcher; the hook runs every time.`);
    return () => true;
  }
  const compiled = compileMatcher(matcher, isToolEvent(event) ? formerToolNames : undefined);
  if (compiled.ok) {
    const doubt = isToolEvent(event) && matcher !== undefined ? matcherDoubt(matcher, compiled.matches) : undefined;
    if (doubt !== undefined) report('warning', path, doubt);
    return compiled.matches;
  }
  report('error', path, `Not a valid regular expression (${compiled.reason}); this entry is not active.`);
  return undefined;
}

function reportForeignEvent(event: string, path: string, report: Report): void {
  if (IDLE_EVENTS.includes(event)) {
    report('note', path, `"${event}" is a documented event that Sixgates does not fire; its hooks never run here.`);
    return;
  }
  const near = nearestEvent(event);
  report('warning', path, `Unknown event "${event}"; its hooks never run.${near === undefined ? '' : ` Did you mean "${near}"?`}`);
}

function flag(value: JsonValue | undefined, path: string, report: (path: string, message: string) => void): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value;
  report(path, 'Expected true or false; the field is ignored.');
  return undefined;
}

/** A list that cannot be read counts as empty: a restriction must not vanish through a typing error. */
function strings(value: JsonValue | undefined, path: string, report: (path: string, message: string) => void): string[] | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.every((entry): entry is string => typeof entry === 'string')) return value;
  report(path, 'Expected an array of strings; it counts as an empty list, so nothing is allowed by it.');
  return [];
}

function fileOf(source: { readonly file?: string }): { readonly file?: string } {
  return source.file === undefined ? {} : { file: source.file };
}
