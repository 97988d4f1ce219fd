import { isJsonObject } from '../json.js';
import type { ConfiguredHook } from './config-types.js';
import { hookLabel } from './effects.js';
import { isToolEvent } from './events.js';
import { failureSentence } from './handler.js';
import { SEVERAL_RULES } from './parse-handler.js';
import type { HookPorts } from './runner-types.js';
import { HOOK_EVENTS, type HookEvent, type HookRequest } from './types.js';

/** Subjects are few (tool names, sources); a stream of made-up ones must not fill memory. */
const CACHE_LIMIT = 1_000;

/** Finds the handlers of an event. Answers are remembered by event and subject, so that asking costs next to nothing. */
export class HookSelection {
  private readonly byEvent = new Map<HookEvent, readonly ConfiguredHook[]>();
  private readonly cache = new Map<string, readonly ConfiguredHook[]>();
  private readonly spent = new Set<ConfiguredHook>();

  constructor(
    hooks: readonly ConfiguredHook[],
    private readonly matchesRule: HookPorts['matchesRule'],
  ) {
    for (const event of HOOK_EVENTS) {
      const own = hooks.filter((hook) => hook.event === event);
      if (own.length > 0) this.byEvent.set(event, own);
    }
  }

  isConfigured(event: HookEvent, subject: string | undefined): boolean {
    return this.matching(event, subject).some((hook) => !this.spent.has(hook));
  }

  /** The handlers to run now, in configuration order. Those that run only once are spent by being chosen. */
  choose(request: HookRequest): { readonly chosen: readonly ConfiguredHook[]; readonly notices: readonly string[] } {
    const notices: string[] = [];
    const chosen = this.matching(request.event, request.subject).filter(
      (hook) => !this.spent.has(hook) && this.conditionHolds(hook, request, notices),
    );
    for (const hook of chosen) if (hook.handler.once === true) this.spent.add(hook);
    return { chosen, notices };
  }

  private matching(event: HookEvent, subject: string | undefined): readonly ConfiguredHook[] {
    const own = this.byEvent.get(event);
    if (own === undefined) return [];
    const key = `${event} ${subject ?? ''}`;
    const known = this.cache.get(key);
    if (known !== undefined) return known;
    const found = foldCopies(own.filter((hook) => hook.matches(subject)));
    if (this.cache.size >= CACHE_LIMIT) this.cache.clear();
    this.cache.set(key, found);
    return found;
  }

  /** A condition that cannot be judged runs the hook: it may be a guard. */
  private conditionHolds(hook: ConfiguredHook, request: HookRequest, notices: string[]): boolean {
    const rule = hook.handler.if;
    if (rule === undefined) return true;
    const { tool_name: toolName, tool_input: input } = request.payload;
    if (!isToolEvent(request.event) || typeof toolName !== 'string') return false;
    // Said when the settings were read.
    if (SEVERAL_RULES.test(rule)) return true;
    if (this.matchesRule === undefined) {
      notices.push(`${hookLabel(hook)}: this session cannot judge "if": ${JSON.stringify(rule)}; the hook runs on every call.`);
      return true;
    }
    try {
      return this.matchesRule(rule, toolName, isJsonObject(input) ? input : {}) !== false;
    } catch (error) {
      notices.push(`${hookLabel(hook)}: "if": ${JSON.stringify(rule)} could not be judged (${failureSentence(error)}); the hook runs.`);
      return true;
    }
  }
}

/**
 * The same handler declared in several places runs once, at the place of the strongest declaration. If any of them must
 * succeed, it must; if any of them waits for the answer, it is waited for.
 */
function foldCopies(hooks: readonly ConfiguredHook[]): readonly ConfiguredHook[] {
  const copies = new Map<string, ConfiguredHook[]>();
  for (const hook of hooks) if (hook.identity !== undefined) copies.set(hook.identity, [...(copies.get(hook.identity) ?? []), hook]);
  return hooks.flatMap((hook) => {
    const same = hook.identity === undefined ? [hook] : (copies.get(hook.identity) ?? [hook]);
    if (same.at(-1) !== hook) return [];
    if (same.length === 1) return [hook];
    const handlers = same.map((copy) => copy.handler);
    const closed = handlers.some((handler) => handler.onFailure === 'block') ? { onFailure: 'block' as const } : {};
    const { handler } = hook;
    if (handler.type !== 'command') return [{ ...hook, handler: { ...handler, ...closed } }];
    const waits = handlers.some((copy) => copy.type === 'command' && copy.async !== true && copy.asyncRewake !== true);
    return [{ ...hook, handler: { ...handler, ...closed, ...(waits ? { async: false, asyncRewake: false } : {}) } }];
  });
}
