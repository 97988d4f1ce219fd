import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repairMessages } from '../../src/messages/repair.js';
import { readSession } from '../../src/session/stored.js';
import {
  block,
  cutOff,
  errorEvent,
  message,
  rawToolUse,
  type Step,
  stop,
  type Turn,
  text,
  thinking,
  toolUse,
} from '../../src/testing/index.js';
import { scene, tempDir, testTool } from '../support/sessions.js';

/* Whatever a model or a gateway answers, the API takes every request, and the transcript gives the history again. */

const ids = fc.constantFrom('c0', 'c1', 'c 2', 'c_2', 'toolu_x');
const step: fc.Arbitrary<readonly Step[]> = fc.oneof(
  fc.constantFrom('so', 'and so', '', '  ').map((words) => [text(words)]),
  fc.constantFrom('sig', '').map((signature) => [thinking('hm', { signature })]),
  fc.tuple(fc.constantFrom('F', 'G', 'Nope'), fc.nat(2), ids).map(([name, n, id]) => [toolUse(name, { n }, { id })]),
  fc.tuple(fc.constantFrom('{"a":', '[1]', 'null', ''), ids).map(([json, id]) => [rawToolUse('F', json, { id })]),
  fc.constantFrom('m', 'A', 'B', '').map((id) => [message({ id })]),
  fc.constant([block({ type: 'fallback', from: { model: 'a' }, to: { model: 'b' } })]),
  fc.constant([block({ type: 'hologram', x: 1 })]),
  fc.constant([
    block({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
    block({ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }),
  ]),
);
const ending: fc.Arbitrary<readonly Step[]> = fc.constantFrom<readonly Step[]>(
  [],
  [],
  [text('half', { open: true }), errorEvent()],
  [cutOff('end')],
  [rawToolUse('F', '{"a"', { open: true }), stop('max_tokens')],
  [stop('refusal')],
  [stop('end_turn')],
);
const answer: fc.Arbitrary<Turn> = fc
  .tuple(fc.array(step, { maxLength: 4 }), ending)
  .map(([steps, end]) => uniqueServerCalls([message({ id: 'm' }), ...steps.flat(), ...end]));

/** A server's calls have ids of their own: only one of them may stand in an answer here. */
function uniqueServerCalls(steps: readonly Step[]): Turn {
  let seen = 0;
  return steps.filter((one) => one.kind !== 'block' || !/server_tool_use|_tool_result/.test(String(one.block.type)) || ++seen <= 2);
}

describe('any answers, over several prompts and a restart', () => {
  it('are sent in requests that the API takes, and read back as they were sent', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 8 }), async (answers) => {
        const queue = [...answers];
        const place = { cwd: tempDir(), store: tempDir() };
        const options = {
          ...place,
          tools: [testTool({ name: 'F' }), testTool({ name: 'G', isConcurrencySafe: () => false })],
          permissions: { allow: ['F', 'G'] },
          model: { retry: { maxRetries: 1, baseMs: 1 } },
        };
        const script = () => queue.shift() ?? [text('end')];
        const readsBack = (session: { readonly id: string; readonly messages: Parameters<typeof repairMessages>[0] }) => {
          // What cannot be sent back at the end of an answer is taken off before the next request.
          const { messages } = repairMessages(session.messages, { trailing: 'keep' });
          expect(readSession(session.id, place).messages).toEqual(messages);
        };
        const first = await scene(script, options);
        for (const prompt of ['one', 'two']) {
          await first.session.send(prompt).done;
          readsBack(first.session);
        }
        await first.session.close();
        const second = await scene(script, { ...options, resume: first.session.id });
        await second.session.send('three').done;
        readsBack(second.session);
        await second.session.close();
        expect([...first.server.refusals, ...second.server.refusals]).toEqual([]);
      }),
      { numRuns: 20, seed: 20_261_130 },
    );
  });
});
