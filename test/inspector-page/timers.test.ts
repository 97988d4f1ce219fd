import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { createActor, setup } from 'xstate';
import { DebugGate, inspectFlow } from '../../src/inspect/index.js';
import { simulatedClock, text, toolUse } from '../../src/testing/index.js';
import { scene, testTool } from '../support/sessions.js';
import { on } from './support/onPage.js';
import { openFlow, openSession } from './support/open.js';
import { pageContext } from './support/pageContext.js';
import { activeStates, caughtUp } from './support/read.js';

const context = await pageContext();

async function pauseOn(page: Page): Promise<void> {
  await page.locator('body').press('F8');
  await page.getByRole('button', { name: /^Resume/ }).waitFor();
}
async function resumeOn(page: Page): Promise<void> {
  await page.locator('body').press('F8');
  await page.getByRole('button', { name: /^Pause/ }).waitFor();
}

const kettle = setup({ types: { events: {} as { type: 'ON' } | { type: 'LOOK' } } }).createMachine({
  id: 'kettle',
  initial: 'cold',
  states: { cold: { on: { ON: 'heating' } }, heating: { after: { 1000: 'boiling' }, on: { LOOK: {} } }, boiling: {} },
});

describe('a timer while the flow is paused from the page', () => {
  test('of a machine stands still, and fires after what was left of it', async () => {
    const time = simulatedClock();
    const gate = new DebugGate({ clock: time });
    const actor = createActor(gate.instrument(kettle), { id: 'kettle', clock: gate.clock });
    const system = inspectFlow(actor, { name: 'kettle', gate, redaction: { env: {}, salt: 'fixed' } });
    actor.start();
    actor.send({ type: 'ON' });
    await on(openFlow(context, system), async ({ page }) => {
      await page.locator('[data-state="kettle.heating"][data-active=true]').waitFor();
      time.advance(400);
      await pauseOn(page);
      time.advance(60_000);
      actor.send({ type: 'LOOK' });
      await page.getByRole('button', { name: '1 held' }).click();
      expect(await page.getByRole('dialog', { name: '1 held event' }).textContent()).toContain('1 timer stands still');
      await page.keyboard.press('Escape');
      expect(await activeStates(page)).toEqual(['kettle', 'kettle.heating']);
      await resumeOn(page);
      time.advance(599);
      await caughtUp(page, system.log);
      expect(await activeStates(page)).toEqual(['kettle', 'kettle.heating']);
      time.advance(1);
      await page.locator('[data-state="kettle.boiling"][data-active=true]').waitFor();
    });
    actor.stop();
  });

  test('of a running tool stands still too: nobody loses a call by looking at it', async () => {
    const time = simulatedClock();
    const gate = new DebugGate({ clock: time });
    let running: () => void = () => undefined;
    const isRunning = new Promise<void>((resolve) => {
      running = resolve;
    });
    const slow = testTool({
      name: 'Slow',
      timeoutMs: 1000,
      call: (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          running();
          signal.addEventListener('abort', () => reject(new Error('cut')));
        }),
    });
    const { session, results } = await scene([[toolUse('Slow', {})], [text('done')]], {
      tools: [slow],
      permissions: { allow: ['Slow'] },
      gate,
    });
    await on(openSession(context, session), async ({ page, attached }) => {
      const { done } = session.send('go');
      await isRunning;
      await page.locator('[data-state="toolCall.executing.calling.running"][data-active=true]').waitFor();
      time.advance(400);
      await pauseOn(page);
      time.advance(60_000);
      await caughtUp(page, attached.system.log);
      expect(await page.locator('[data-gate=call]').getAttribute('data-status')).toBe('open');
      await resumeOn(page);
      time.advance(599);
      await caughtUp(page, attached.system.log);
      expect(await page.locator('[data-gate=call]').getAttribute('data-status')).toBe('open');
      time.advance(1);
      await done;
      expect([...results().values()]).toEqual([{ isError: true, text: expect.stringContaining('timed out') }]);
    });
  });
});
