import { describe, expect, it } from 'vitest';
import type { ExitCode } from '../../src/cli/failure.js';
import { answerOnce } from '../../src/cli/oneShot.js';
import { gate, text, toolUse } from '../../src/testing/index.js';
import { deferred, scene } from '../support/sessions.js';

const never = new Promise<ExitCode>(() => {});
const agent = { description: 'Look', prompt: 'look around', subagent_type: 'general-purpose', run_in_background: true };

describe('a one-shot prompt', () => {
  it('is answered with the last words and the exit code that says how it ended', async () => {
    const { session } = await scene([[text('Done.')]]);
    expect(await answerOnce(session, 'do it', never)).toEqual({ text: 'Done.', code: 0 });
  });

  it('waits for agents in the background and for what the model makes of their results', async () => {
    const working = gate();
    const { session, of } = await scene(
      (request) => {
        const asked = JSON.stringify(request.body.messages);
        if (!asked.includes('start an agent')) return [working, text('Nothing here.')];
        if (asked.includes('Background task')) return [text('The agent found nothing.')];
        return asked.includes('tool_result') ? [text('It works.')] : [toolUse('Agent', agent)];
      },
      { builtInTools: ['Agent', 'Read'], permissions: { allow: ['Agent'] } },
    );
    const answer = answerOnce(session, 'start an agent', never);
    await working.reached;
    working.open();
    expect(await answer).toEqual({ text: 'The agent found nothing.', code: 0 });
    expect(of('task.ended')).toHaveLength(1);
  });

  it('is left at once when the person leaves', async () => {
    const leaving = deferred<ExitCode>();
    const hanging = gate();
    const { session } = await scene([[hanging, text('too late')]]);
    const answer = answerOnce(session, 'do it', leaving.promise);
    await hanging.reached;
    leaving.resolve(143);
    expect(await answer).toEqual({ text: '', code: 143 });
    hanging.open();
  });
});
