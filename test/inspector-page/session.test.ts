import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attachInspector, DebugGate } from '../../src/inspect/index.js';
import { text, toolUse } from '../../src/testing/index.js';
import { scene, testTool } from '../support/sessions.js';
import { buildPage } from './support/build.js';
import { launch } from './support/chromium.js';
import { watchedPage } from './support/open.js';
import { caughtUp } from './support/read.js';

/** The whole way: a session against a scripted API server, its inspector, and the page in a browser. */
let browser: Awaited<ReturnType<typeof launch>>;
let context: BrowserContext;
beforeAll(async () => {
  browser = await launch();
  context = browser.context;
});
afterAll(() => browser.close());

describe('a real session', () => {
  test('is answered, stopped at a breakpoint and stepped from the page', async () => {
    const gate = new DebugGate();
    const { session, results } = await scene(
      [[toolUse('Echo', { command: 'one' }), toolUse('Push', { command: 'two' })], [toolUse('Echo', { command: 'three' })], [text('done')]],
      {
        tools: [testTool({ name: 'Echo' }), testTool({ name: 'Push' })],
        permissions: { allow: ['Echo'], ask: ['Push'] },
        interactive: true,
        gate,
      },
    );
    const attached = await attachInspector(session, { pageDir: await buildPage(), redaction: { env: {}, salt: 'fixed' } });
    const { page, complaints } = await watchedPage(context);
    try {
      await page.goto(attached.url);
      const done = session.send('go').done;
      const card = page.locator('#approval');
      await card.waitFor();
      expect(await card.textContent()).toContain('Push');
      await page.locator('[data-gate=permission][data-status=asking]').waitFor();
      expect(await page.locator('[data-gate=call]').getAttribute('data-status')).toBe('ahead');
      // The next call of Echo stops before its side effect.
      await page.locator('[data-state="toolCall.executing.calling"]').focus();
      await page.keyboard.press('b');
      await expect.poll(() => gate.breakpoints.length).toBe(1);
      await card.focus();
      await page.keyboard.press('y');
      await page.getByText('Stopped at a breakpoint').waitFor();
      expect(results().size).toBe(0);
      await page.getByRole('button', { name: /^Breakpoints/ }).click();
      await page.getByRole('checkbox', { name: 'before entering toolCall.executing.calling' }).uncheck();
      await expect.poll(() => gate.breakpoints.every((one) => !one.enabled)).toBe(true);
      await page.keyboard.press('Escape');
      await page.locator('body').press('F8');
      await done;
      expect([...results().values()].map((result) => result.isError)).toEqual([false, false, false]);
      await caughtUp(page, attached.system.log);
      expect(await page.locator('[data-calls]').getAttribute('data-calls')).toBe('3');
      await page.locator('[data-call]', { hasText: 'Push' }).click();
      await expect.poll(() => page.locator('[data-gate=call]').getAttribute('data-status')).toBe('passed');
      await page.getByRole('tab', { name: 'Why' }).click();
      expect(await page.locator('[data-verdict=allow]').textContent()).toContain('after a question');
      await page.getByRole('tab', { name: 'Output' }).click();
      await page
        .getByText(/Push .*two/)
        .first()
        .waitFor();
      expect(complaints).toEqual([]);
    } finally {
      await page.close();
      await attached.close();
    }
  });
});
