import { describe, expect, test } from 'vitest';
import type { RestartPoint } from '../../src/inspect/index.js';
import { forkSession } from '../../src/session/session.js';
import { text, toolUse } from '../../src/testing/index.js';
import { scene, tempDir, testTool } from '../support/sessions.js';
import { press, tabTo } from './support/keyboard.js';
import { on, story } from './support/onPage.js';
import { openFlow, openSession } from './support/open.js';
import { pageContext } from './support/pageContext.js';
import { caughtUp } from './support/read.js';

const context = await pageContext();

describe('restarting from a step', () => {
  test('goes on with a copy on a page of its own; nothing is run again, and the first flow stays as it is', async () => {
    let runs = 0;
    const tools = [testTool({ name: 'Echo', call: async ({ n }) => ({ data: `echo ${String(n)} ${++runs}` }) })];
    const options = { store: tempDir(), tools, permissions: { allow: ['Echo'] }, builtInTools: false };
    const { session, server, cwd } = await scene(
      [[toolUse('Echo', { n: 1 })], [toolUse('Echo', { n: 2 })], [text('done')], [text('in the copy')]],
      options,
    );
    const restart = (point: RestartPoint) =>
      forkSession({ ...point, ...options, cwd, settings: { home: cwd }, model: { baseURL: server.url, apiKey: 'test' } });
    await on(openSession(context, session, { restart }), async ({ page, complaints, attached }) => {
      await session.send('go').done;
      const { log } = attached.system;
      await caughtUp(page, log);
      const settled = log.events(0).find((event) => event.type === 'result' && event.toolUseId === 'toolu_1_1')?.seq ?? 0;
      const { lastSeq } = log;

      // Before anything was settled there is nothing to go on from, and the page says so.
      await tabTo(page, /^First event/);
      await press(page, 'Enter');
      await page.getByRole('button', { name: 'Restart from here…' }).press('Enter');
      await page.getByText('what tools have changed stays changed').waitFor();
      await press(page, 'Enter');
      await page.getByText('no answer was settled that a copy could go on from').waitFor();
      await press(page, 'Escape');

      await page.locator('#time').fill(String(settled));
      await page.getByRole('button', { name: 'Restart from here…' }).press('Enter');
      await page.getByLabel('What the copy is told').fill('Now the other way.');
      await press(page, 'Enter');
      const opened = context.waitForEvent('page');
      await page.getByRole('link', { name: 'Open its page' }).click();
      const copy = await opened;
      await copy.locator('[data-link=live]').waitFor();
      await copy.getByRole('heading', { level: 1 }).waitFor();
      expect(new URL(copy.url()).origin).not.toBe(new URL(page.url()).origin);
      await expect.poll(() => server.requests.length).toBe(4);
      const asked = JSON.stringify(server.requests[3]?.body.messages);
      for (const known of ['echo 1', 'Now the other way.']) expect(asked).toContain(known);
      for (const unknown of ['echo 2', 'done']) expect(asked).not.toContain(unknown);
      expect(runs).toBe(2);
      expect(log.lastSeq).toBe(lastSeq);
      expect(complaints).toEqual([]);
      await copy.close();
    });
  });

  test('is not offered where there is no session to copy', async () => {
    const { system } = await story();
    await on(openFlow(context, system), async ({ page }) => {
      await caughtUp(page, system.log);
      await page.keyboard.press('ArrowLeft');
      await page.getByText(/Viewing step/).waitFor();
      expect(await page.getByRole('button', { name: 'Restart from here…' }).count()).toBe(0);
    });
  });
});
