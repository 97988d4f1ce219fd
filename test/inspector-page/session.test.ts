import { describe, expect, test } from 'vitest';
import { DebugGate } from '../../src/inspect/index.js';
import { text, toolUse } from '../../src/testing/index.js';
import { scene, testTool } from '../support/sessions.js';
import { on } from './support/onPage.js';
import { openSession } from './support/open.js';
import { pageContext } from './support/pageContext.js';
import { caughtUp } from './support/read.js';

const question = (asked: string, multiSelect = false) => ({
  question: asked,
  header: 'Way',
  options: [
    { label: 'Left', description: 'along the river' },
    { label: 'Right', description: 'over the hill' },
  ],
  multiSelect,
});
const questions = [question('Which way?'), question('What to take?', true), question('And then?')];

/** The whole way: a session against a scripted API server, its inspector, and the page in a browser. */
const context = await pageContext();

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
    await on(openSession(context, session), async ({ page, complaints, attached }) => {
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
    });
  });

  test('puts its questions on the page: choices, several choices and words of one’s own are one answer', async () => {
    const { session, results, of } = await scene([[toolUse('AskUserQuestion', { questions })], [text('done')]], {
      builtInTools: ['AskUserQuestion'],
      interactive: true,
    });
    await on(openSession(context, session), async ({ page, complaints }) => {
      const { done } = session.send('go');
      const card = page.locator('#approval');
      await card.waitFor();
      expect(await page.locator('[aria-live=assertive]').textContent()).toContain('1 approval waiting: AskUserQuestion');
      const answer = page.getByRole('button', { name: /^Answer/ });
      expect(await answer.isDisabled()).toBe(true);
      const first = page.getByRole('group', { name: 'Which way?' });
      await first.getByRole('radio', { name: 'Right over the hill' }).check();
      await first.getByRole('radio', { name: 'Left along the river' }).check();
      expect(await first.getByRole('radio', { name: 'Right over the hill' }).isChecked()).toBe(false);
      await page.getByRole('checkbox', { name: 'Right over the hill' }).check();
      await page.getByRole('checkbox', { name: 'Left along the river' }).check();
      await page.getByLabel('In your own words: What to take?').fill('a map');
      expect(await answer.isDisabled()).toBe(true);
      await page.getByLabel('In your own words: And then?').fill('\u202Eback');
      await card.focus();
      await page.keyboard.press('y');
      await done;
      expect([...results().values()]).toEqual([
        { isError: false, text: 'Which way?\n→ Left\n\nWhat to take?\n→ Left, Right, a map\n\nAnd then?\n→ \u202Eback' },
      ]);
      expect(of('question.asked')).toEqual([]);
      expect(complaints).toEqual([]);
    });
  });

  test('puts a question there too that the terminal let through, and takes it away when it is answered in the terminal', async () => {
    const { session, results } = await scene(
      [
        [toolUse('AskUserQuestion', { questions: questions.slice(0, 1) })],
        [toolUse('AskUserQuestion', { questions: questions.slice(0, 1) })],
        [text('done')],
      ],
      {
        builtInTools: ['AskUserQuestion'],
        interactive: true,
        onUpdate: (update) => {
          if (update.type !== 'permission.requested') return;
          const { callId, inputDigest } = update.prompt;
          queueMicrotask(() => session.answer(callId, inputDigest, { behavior: 'allow', source: { type: 'person', surface: 'terminal' } }));
        },
      },
    );
    await on(openSession(context, session), async ({ page }) => {
      const { done } = session.send('go');
      await page.getByRole('radio', { name: 'Left along the river' }).check();
      await page.locator('[data-gate=call][data-status=asking]').waitFor();
      await page.getByRole('button', { name: /^Answer/ }).click();
      await expect.poll(() => results().size).toBe(1);
      await expect.poll(() => session.openQuestions.map(({ callId }) => callId)).toEqual(['toolu_2_1']);
      await page.getByRole('radio', { name: 'Left along the river' }).waitFor();
      session.answerQuestion('toolu_2_1', { 'Which way?': 'Right' });
      await done;
      await page.locator('#approval').waitFor({ state: 'detached' });
      await page.getByText('was allowed by an answer elsewhere').waitFor();
      expect([...results().values()].map((result) => result.text)).toEqual(['Which way?\n→ Left', 'Which way?\n→ Right']);
    });
  });
});
