import type { Admission } from '../../../machines/query.js';
import type { TurnOutput } from '../../../machines/turn.js';
import type { HookResult } from '../../hooks/types.js';
import { CONTINUE } from '../../messages/assemble.js';
import { messageOf } from '../../tool/errors.js';
import { deliverPrompt, promptText, returnUndelivered } from '../delivery.js';
import { asyncPort } from '../port.js';
import type { Services } from '../services.js';
import { overBudget } from '../spend.js';

interface QueryPortInput {
  readonly queryId: string;
}

/** UserPromptSubmit: what the hooks add goes with the prompt; a block ends the query before the model is asked. */
export const runPromptHooks = asyncPort<QueryPortInput, HookResult>(async ({ queryId }, { services, signal }) => {
  // A query that notifications have started has no prompt to judge.
  if (!services.opened?.some((item) => item.kind === 'prompt')) return NOTHING_SAID;
  const result = await services.runHooks(
    { id: `hook:UserPromptSubmit:${queryId}`, event: 'UserPromptSubmit', payload: { prompt: promptText(services.opened ?? []) } },
    signal,
  );
  const { stop, block } = result;
  if (stop ?? block) returnUndelivered(services);
  else services.promptContext = [...services.promptContext, ...result.additionalContext];
  return result;
});

/** Puts the prompt into the conversation once no hook can block it any more; then budget and context window, before every request. */
export function admitTurn(services: Services): Admission {
  const { limits, spend, contextTokens, opened, conversation } = services;
  if (opened) {
    services.opened = undefined;
    deliverPrompt(opened, services);
    for (const text of services.promptContext) conversation.addAttachment({ type: 'reminder', text });
    services.promptContext = [];
  }
  // Calls that are taken up again have their results first.
  if (conversation.needsAWord && services.resumption === undefined) conversation.addMark(CONTINUE);
  const reason = overBudget(spend, limits);
  if (reason !== undefined) return { kind: 'stop', end: 'budgetExhausted', reason };
  const { compactAtTokens } = limits;
  const isLarge = compactAtTokens !== undefined && contextTokens >= compactAtTokens;
  if (isLarge && services.failedCompactions < MAX_FAILED_COMPACTIONS) return { kind: 'compact' };
  return { kind: 'proceed' };
}

export const compact = asyncPort<QueryPortInput, null>(async (_, { services, signal }) => {
  try {
    await services.summarize('auto', signal);
    services.failedCompactions = 0;
  } catch (error) {
    services.failedCompactions++;
    services.update({ type: 'notice', level: 'warning', message: `${messageOf(error)} The conversation goes on in full.` });
  }
  return null;
});

/** A summary that fails again and again costs a request each turn; the window is then left to the model to report. */
const MAX_FAILED_COMPACTIONS = 3;
const NOTHING_SAID: HookResult = { runs: [], verdict: { behavior: 'passthrough' }, additionalContext: [], systemMessages: [], notices: [] };

export const runStopHooks = asyncPort<QueryPortInput & { readonly rounds: number; readonly output: TurnOutput | null }, HookResult>(
  ({ queryId, rounds }, { services, signal }) =>
    services.runHooks(
      {
        id: `hook:${stopEvent(services)}:${queryId}:${rounds}`,
        event: stopEvent(services),
        ...(services.agent === undefined ? {} : { subject: services.agent.type }),
        payload: {
          stop_hook_active: rounds > 0,
          last_assistant_message: services.conversation.answerText,
          background_tasks: services.tasks.list().map(({ id, kind, title, status }) => ({ id, kind, title, status })),
          ...(services.agent === undefined
            ? {}
            : {
                agent_id: services.agent.id,
                agent_type: services.agent.type,
                agent_transcript_path: services.agent.transcriptPath,
              }),
        },
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
