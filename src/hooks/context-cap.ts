import type { ConfiguredHook } from './config-types.js';
import { type HookEffects, hookLabel } from './effects.js';
import { failureSentence } from './handler.js';
import { CONTEXT_CAP_CHARS, clip } from './limits.js';
import type { HookPorts } from './runner-types.js';

const PREVIEW_CHARS = 2_000;

/** Context beyond 10,000 characters reaches the model as a file path and a preview, a reason that long as its head. */
export async function capContext(
  effects: HookEffects,
  hook: ConfiguredHook,
  id: string,
  persist: HookPorts['persistText'],
): Promise<HookEffects> {
  const capped = withShortReasons(effects);
  if (effects.context.every((text) => text.length <= CONTEXT_CAP_CHARS)) return capped;
  const notices = [...effects.notices];
  const context: string[] = [];
  for (const text of effects.context) {
    if (text.length <= CONTEXT_CAP_CHARS) {
      context.push(text);
      continue;
    }
    try {
      if (persist === undefined) throw new Error('the session keeps no such files');
      const path = await persist(text, id);
      context.push(`Context of ${hookLabel(hook)} (${text.length} characters) is in ${path}. It begins:\n${text.slice(0, PREVIEW_CHARS)}`);
    } catch (error) {
      context.push(`${text.slice(0, CONTEXT_CAP_CHARS)}\n[${text.length - CONTEXT_CAP_CHARS} more characters were left out]`);
      notices.push(
        `${hookLabel(hook)}: its context of ${text.length} characters was cut to ${CONTEXT_CAP_CHARS}: ${failureSentence(error)}`,
      );
    }
  }
  return { ...capped, context, notices };
}

/** A reason reaches the model too. It stays a sentence where it was one; of a flood its head is told. */
function withShortReasons(effects: HookEffects): HookEffects {
  const { decision, block, permission } = effects;
  const short = <T extends { readonly reason?: string }>(part: T): T =>
    part.reason === undefined ? part : { ...part, reason: clip(part.reason, CONTEXT_CAP_CHARS) };
  return {
    ...effects,
    ...(decision === undefined ? {} : { decision: short(decision) }),
    ...(block === undefined ? {} : { block: short(block) }),
    ...(permission?.behavior === 'deny' ? { permission: { ...permission, message: clip(permission.message, CONTEXT_CAP_CHARS) } } : {}),
  };
}
