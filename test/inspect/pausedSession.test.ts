import { afterEach, expect, it } from 'vitest';
import { DebugGate, inspectFlow } from '../../src/inspect/index.js';
import { text, toolUse } from '../../src/testing/index.js';
import { scene, testTool } from '../support/sessions.js';

let detach: (() => void) | undefined;
afterEach(() => detach?.());

it('stops a session before its tool is called, and goes on when told to', async () => {
  let called = 0;
  const gate = new DebugGate({
    breakpoints: [{ id: 'b1', enabled: true, origin: 'code', on: 'state', state: 'toolCall.executing.calling', when: 'before' }],
  });
  const made = await scene([[toolUse('Count', {})], [text('done')]], {
    tools: [testTool({ name: 'Count', call: async () => ({ data: ++called }) })],
    permissions: { allow: ['Count'] },
    gate,
  });
  const flow = inspectFlow(made.session);
  detach = flow.detach;
  const paused = new Promise<void>((resolve) => gate.onChange(() => gate.state.paused && resolve()));
  const sending = made.session.send('go');
  await paused;
  expect(called).toBe(0);
  expect(made.statesOf('toolu_1_1').at(-1)).toBe('executing.deciding');
  gate.resume();
  expect((await sending.done).text).toBe('done');
  expect(called).toBe(1);
});
