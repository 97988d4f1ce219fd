import type { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue, withoutNulls } from '../json.js';
import type { HookHandler, HookIssue } from './config-types.js';
import { eventTraits, isToolEvent } from './events.js';
import { COMMENT_KEYS, HANDLER_SCHEMAS, HANDLER_TYPES, issuesOf, LIMIT_KEYS } from './schema.js';
import type { HookEvent } from './types.js';

type Report = (severity: HookIssue['severity'], path: string, message: string) => void;
type FileHandler = Exclude<HookHandler, { readonly type: 'function' }>;

/** `Bash(rm *)|Bash(mv *)`: as one rule it would match nothing, and the guard would be off. */
export const SEVERAL_RULES = /\)\s*(?:[|,;]+|\bor\b)\s*[A-Za-z_]\w*(?:\(|$)/;

/** Reads one handler of a settings file; undefined when it cannot be used, with the reason reported. */
export function parseHandler(event: HookEvent, raw: JsonValue, path: string, report: Report): FileHandler | undefined {
  if (!isJsonObject(raw)) {
    report('error', path, 'Expected an object like {"type": "command", "command": "./check.sh"}; this handler is not active.');
    return undefined;
  }
  const handler = parseByType(raw, path, report);
  if (handler === undefined) return undefined;
  if (handler.if !== undefined && !isToolEvent(event)) {
    report('warning', `${path}.if`, `"if" has meaning on tool events only; on ${event} this handler never runs. Remove "if" to run it.`);
    return undefined;
  }
  if (handler.if !== undefined && SEVERAL_RULES.test(handler.if))
    report(
      'warning',
      `${path}.if`,
      '"if" takes one rule, and several cannot be judged: the hook runs on every call. Write one handler for each rule.',
    );
  if (event === 'SessionStart' && (handler.type === 'http' || handler.type === 'prompt')) {
    report('error', `${path}.type`, 'SessionStart accepts "command" and "mcp_tool" handlers only; this handler is not active.');
    return undefined;
  }
  if (handler.type === 'prompt' && !eventTraits(event).promptHandlers) {
    report('error', `${path}.type`, `${event} accepts no "prompt" handler; this handler is not active.`);
    return undefined;
  }
  if (handler.onFailure === 'block' && ignoresOnFailure(event, handler)) {
    report(
      'note',
      `${path}.onFailure`,
      `"onFailure" has no effect on ${event} hooks that ${handler.type === 'command' && isAsync(handler) ? 'run in the background' : 'cannot refuse anything'}.`,
    );
  }
  return handler;
}

function parseByType(raw: { readonly [key: string]: JsonValue }, path: string, report: Report): FileHandler | undefined {
  switch (raw.type) {
    case 'command':
      return checked(HANDLER_SCHEMAS.command, raw, path, report);
    case 'http':
      return checked(HANDLER_SCHEMAS.http, raw, path, report);
    case 'mcp_tool':
      return checked(HANDLER_SCHEMAS.mcp_tool, raw, path, report);
    case 'prompt':
      return checked(HANDLER_SCHEMAS.prompt, raw, path, report);
    case 'agent':
      report(
        'warning',
        `${path}.type`,
        'Handlers of type "agent" do not run here; use "prompt", "command" or a function. This handler is not active.',
      );
      return undefined;
    default:
      report(
        'error',
        `${path}.type`,
        `Expected one of ${HANDLER_TYPES.map((type) => `"${type}"`).join(', ')}; this handler is not active.`,
      );
      return undefined;
  }
}

function checked<Schema extends z.ZodObject>(schema: Schema, given: JsonObject, path: string, report: Report): z.infer<Schema> | undefined {
  const raw = withoutNulls(given);
  for (const key of Object.keys(raw).filter((key) => !Object.hasOwn(schema.shape, key) && !COMMENT_KEYS.has(key))) {
    report(
      'warning',
      `${path}.${key}`,
      `Unknown field "${key}" is ignored; the handler is active. Known: ${Object.keys(schema.shape).join(', ')}.`,
    );
  }
  const first = schema.safeParse(raw);
  if (first.success) return first.data;
  // A guard that cannot be read whole is still a guard: what is wrong with its time limit must not switch it off.
  const odd = issuesOf(first.error).filter(({ path: field }) => LIMIT_KEYS.has(field.slice(1)));
  for (const issue of odd) report('warning', `${path}${issue.path}`, `${issue.message}; the field is ignored, the handler is active.`);
  const limits = new Set(odd.map(({ path: field }) => field.slice(1)));
  const parsed = schema.safeParse(Object.fromEntries(Object.entries(raw).filter(([key]) => !limits.has(key))));
  if (parsed.success) return parsed.data;
  for (const issue of issuesOf(parsed.error)) report('error', `${path}${issue.path}`, `${issue.message}; this handler is not active.`);
  return undefined;
}

function ignoresOnFailure(event: HookEvent, handler: FileHandler): boolean {
  return (
    (handler.type === 'command' && isAsync(handler)) ||
    event === 'Stop' ||
    event === 'SubagentStop' ||
    eventTraits(event).blocking === 'none'
  );
}

function isAsync(handler: { readonly async?: boolean; readonly asyncRewake?: boolean }): boolean {
  return handler.async === true || handler.asyncRewake === true;
}
