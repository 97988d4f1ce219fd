import type { HookResult } from '../../hooks/types.js';
import type { JsonObject } from '../../json.js';
import type { HookSaying } from './types.js';

/** Hook sayings for assumed outcomes; a rewrite puts the same input in its place, which sends it through the gates again. */
export function assumedHook(
  outcome: 'silent' | 'allow' | 'ask' | 'deny' | 'rewrite' | 'rewriteAndAllow' | 'stop',
  input: JsonObject,
): HookSaying {
  const hookName = 'a PreToolUse hook';
  const base: HookResult = { runs: [], verdict: { behavior: 'passthrough' }, additionalContext: [], systemMessages: [], notices: [] };
  const verdict = (behavior: 'allow' | 'ask' | 'deny') => ({ behavior, hookName, reason: `${hookName} says ${behavior}` });
  const type = `hook.${outcome}`;
  switch (outcome) {
    case 'silent':
      return { type, say: 'the hook decides nothing', result: base };
    case 'allow':
    case 'ask':
    case 'deny':
      return { type, say: `the hook says ${outcome}`, result: { ...base, verdict: verdict(outcome) } };
    case 'rewrite':
      return { type, say: 'the hook rewrites the input', result: { ...base, updatedInput: { value: input, hookName } } };
    case 'rewriteAndAllow':
      return {
        type,
        say: 'the hook rewrites the input and allows it',
        result: { ...base, verdict: verdict('allow'), updatedInput: { value: input, hookName } },
      };
    case 'stop':
      return { type, say: 'the hook ends the query', result: { ...base, stop: { reason: 'explored stop', hookName } } };
  }
}
