import type { Admission } from '../../../machines/query.js';
import type { TurnOutput } from '../../../machines/turn.js';
import type { HookResult } from '../../hooks/types.js';
import { deliverPrompt, promptText } from '../delivery.js';
import { asyncPort, syncPort } from '../port.js';
import type { Services } from '../services.js';

interface QueryPortInput {
  readonly queryId: string;
}

/** UserPromptSubmit: what the hooks add goes with the prompt; a block ends the query before the model is asked. */
export const runPromptHooks = asyncPort<QueryPortInput, HookResult>(async ({ queryId }, { services, signal }) => {
  const result = await services.runHooks(
    { id: `hook:UserPromptSubmit:${queryId}`, event: 'UserPromptSubmit', payload: { prompt: promptText(services.opened ?? []) } },
    signal,
  );
  const { stop, block } = result;
  if (stop ?? block) services.opened = undefined;
  else services.promptContext = result.additionalContext;
  return result;
});

/** Puts the prompt into the conversation once no hook can block it any more; then budget and context window, before every request. */
export const admitTurn = syncPort<QueryPortInput & { readonly turns: number }, Admission>((_, services) => {
  const { limits, usage, contextTokens, opened, conversation } = services;
  if (opened) {
    deliverPrompt(opened, services);
    for (const text of services.promptContext) conversation.addAttachment({ type: 'reminder', text });
    services.opened = undefined;
    services.promptContext = [];
  }
  const spent = usage.inputTokens + usage.outputTokens + usage.cacheCreationTokens;
  if (limits.maxBudgetTokens !== undefined && spent >= limits.maxBudgetTokens) {
    return { kind: 'stop', end: 'budgetExhausted', reason: `the budget of ${limits.maxBudgetTokens} tokens is used up (${spent})` };
  }
  if (limits.compactAtTokens !== undefined && contextTokens >= limits.compactAtTokens) return { kind: 'compact' };
  return { kind: 'proceed' };
});

export const compact = asyncPort<QueryPortInput, null>(async (_, { services, signal }) => {
  await services.summarize(signal);
  return null;
});

export const runStopHooks = asyncPort<QueryPortInput & { readonly rounds: number; readonly output: TurnOutput | null }, HookResult>(
  ({ queryId, rounds }, { services, signal }) =>
    services.runHooks(
      {
        id: `hook:${stopEvent(services)}:${queryId}:${rounds}`,
        event: stopEvent(services),
        payload: { stop_hook_active: rounds > 0, last_assistant_message: services.conversation.answerText },
      },
      signal,
    ),
);

/** A subagent's end is a SubagentStop. */
export const stopEvent = ({ agentName }: Services) => (agentName === undefined ? 'Stop' : 'SubagentStop');

/** A Stop hook's words, where the model reads them next. */
export function recordStopReason(hook: HookResult, services: Services): void {
  const texts = [...(hook.block ? [hook.block.reason] : []), ...hook.additionalContext];
  for (const text of texts) services.conversation.addAttachment({ type: 'reminder', text });
}
