import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { DebugGate, FlowIndex } from '../../src/inspect/index.js';
import { text, toolUse } from '../../src/testing/index.js';
import { scene, testTool } from '../support/sessions.js';
import { on } from './support/onPage.js';
import { openSession } from './support/open.js';
import { pageContext } from './support/pageContext.js';
import { activeStates, caughtUp, selectActor } from './support/read.js';

const context = await pageContext();

const agent = (prompt: string) => toolUse('Agent', { description: 'a task', prompt, subagent_type: 'general-purpose' });
const rows = (page: Page): Promise<readonly string[]> =>
  page
    .locator('#actors [role=treeitem][data-actor]')
    .evaluateAll((all) => all.map((row) => `${row.getAttribute('aria-level')} ${row.querySelector('.name')?.textContent}`));

describe('a real subagent', () => {
  test('is a session below its call: with turns, calls, states, questions and a place for pauses', async () => {
    const gate = new DebugGate();
    const { session, results } = await scene(
      (_, n) => {
        if (n === 1) return [agent('look around')];
        if (n === 2) return [toolUse('Push', { command: 'inner' })];
        return [text(n === 3 ? 'Seen.' : 'Done.')];
      },
      {
        builtInTools: ['Agent'],
        tools: [testTool({ name: 'Push' })],
        permissions: { ask: ['Push'] },
        interactive: true,
        gate,
      },
    );
    await on(openSession(context, session), async ({ page, complaints, attached }) => {
      const { log } = attached.system;
      const { done } = session.send('go');
      const card = page.locator('#approval');
      await card.waitFor();
      expect(await card.textContent()).toContain('Pushof general-purpose');
      await caughtUp(page, log);
      // The question’s call is followed, so the tree is open down to it, with what waits marked on every level above.
      await expect
        .poll(() => rows(page))
        .toEqual([
          '1 session',
          '2 query 1',
          '3 turn 1',
          '4 executor',
          '5 Agent',
          '6 permission',
          '6 agent general-purpose',
          '7 query 1',
          '8 turn 1',
          '9 executor',
          '10 Push',
        ]);
      await expect.poll(() => page.locator('#actors .badge.ask').count()).toBe(10);
      expect(await page.locator('[data-calls]').getAttribute('data-calls')).toBe('2');
      await page.locator('[data-gate=permission][data-status=asking]').waitFor();

      // Its machines are drawn and breakpoints hold it like any other.
      const push = await page.locator('#actors [data-actor$="/call-0"]', { hasText: 'Push' }).getAttribute('data-actor');
      if (push === null) throw new Error('the call of the agent is not in the tree');
      await selectActor(page, push);
      await page.locator('[data-chart=toolCall] [data-state="toolCall.executing.deciding.judging"][data-active=true]').waitFor();
      await page.locator('[data-state="toolCall.executing.calling"]').focus();
      await page.keyboard.press('b');
      await expect.poll(() => gate.breakpoints.length).toBe(1);
      await card.focus();
      await page.keyboard.press('y');
      await page.getByText('Stopped at a breakpoint').waitFor();
      expect(gate.state.why).toMatchObject({ actor: push });
      // Run the call that started the agent to its end: what is below it goes on, in its own system too.
      await page.getByRole('button', { name: 'Breakpoints' }).click();
      await page.getByRole('checkbox', { name: 'before entering toolCall.executing.calling' }).uncheck();
      await page.keyboard.press('Escape');
      await selectActor(page, push.slice(0, push.indexOf('/general-purpose')));
      await page.keyboard.press('Shift+F10');
      await expect.poll(() => log.events(0).filter((event) => event.type === 'result').length).toBe(2);
      await page.keyboard.press('F8');
      await done;
      expect([...results().values()]).toEqual([{ isError: false, text: 'Seen.' }]);

      // Its session has ended, which its chart shows, and its calls are found by its name.
      await caughtUp(page, log);
      const inner = push.slice(0, push.lastIndexOf('/query'));
      await selectActor(page, inner);
      const index = new FlowIndex();
      for (const event of log.events(0)) index.add(event);
      const end = index.at(inner, log.lastSeq);
      expect(end?.status).not.toBe('active');
      await expect.poll(() => activeStates(page)).toEqual([...(end?.configuration ?? [])].sort());
      await page.locator('#filter').fill('agent:general');
      await page.locator('#calls[aria-rowcount="1"]').waitFor();
      expect(complaints).toEqual([]);
    });
  });
});
