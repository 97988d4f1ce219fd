import { z } from 'zod';
import type { PromptHandler } from '../config-types.js';
import type { RawOutcome } from '../effects.js';
import { bounded, type HandlerCall } from '../handler.js';
import { clip } from '../limits.js';

const JUDGEMENT = z.object({ ok: z.boolean(), reason: z.string().nullish(), impossible: z.boolean().nullish() });
const FORMAT =
  'Answer with one JSON object and nothing else: {"ok": true} if the condition is met, else {"ok": false, "reason": "why"}. Add "impossible": true if it can never be met.';

/** Asks a model to judge the event. */
export function runPrompt(call: HandlerCall<PromptHandler>): Promise<RawOutcome> {
  const { handler, ports, payload } = call;
  const port = ports.model;
  if (port === undefined) return Promise.resolve({ kind: 'failed', message: 'This session has no model for prompt hooks.' });
  const json = JSON.stringify(payload);
  const asked = handler.prompt.includes('$ARGUMENTS')
    ? handler.prompt.replaceAll('$ARGUMENTS', () => json)
    : `${handler.prompt}\n\n${json}`;
  return bounded(call, async (signal) => {
    const answer = await port.complete(`${asked}\n\n${FORMAT}`, {
      ...(handler.model === undefined ? {} : { model: handler.model }),
      signal,
    });
    const judgement = readJudgement(answer);
    if (judgement === undefined) {
      return {
        kind: 'failed',
        message: `The model did not answer {"ok": true | false, "reason"?}: ${clip(answer.trim(), 200)}`,
        output: answer,
      };
    }
    return { kind: 'judgement', ok: judgement.ok, reason: judgement.reason ?? undefined, impossible: judgement.impossible === true };
  });
}

function readJudgement(answer: string): z.infer<typeof JUDGEMENT> | undefined {
  const text = answer
    .trim()
    .replace(/^```(?:json)?\s*/, '')
    .replace(/\s*```$/, '');
  try {
    return JUDGEMENT.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
