import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { strangeFlow } from './support/flows.js';
import { focused, press, tabTo } from './support/keyboard.js';
import { on, story } from './support/onPage.js';
import { openFlow } from './support/open.js';
import { pageContext } from './support/pageContext.js';
import { activeStates, caughtUp } from './support/read.js';

const context = await pageContext();

const selected = (page: Page, role: 'tab' | 'treeitem' | 'row', within: string): Promise<string | null> =>
  page.locator(`${within} [role=${role}][aria-selected=true]`).first().textContent();
const hasFocus = (page: Page, selector: string): Promise<boolean> =>
  page.locator(selector).evaluate((element) => element === document.activeElement || element.contains(document.activeElement));

describe('a whole tour without a mouse', () => {
  test('from the tree to the chart, the log, the details, a breakpoint, pause and step, an answer, filter, help and export', async () => {
    const { system, gate, root } = await story();
    await on(openFlow(context, system), async ({ page, complaints }) => {
      await caughtUp(page, system.log);
      const seen = async (): Promise<void> => {
        const { what, visible } = await focused(page);
        expect({ what, visible }).toEqual({ what, visible: true });
      };

      // The tree: down to the last call.
      await press(page, 'g', 'a', 'Home');
      await seen();
      expect(await selected(page, 'treeitem', '#actors')).toContain('session');
      const rows = await page.locator('#actors [role=treeitem]').count();
      await press(page, 'ArrowLeft');
      expect(await page.locator('#actors [role=treeitem]').count()).toBe(1);
      await press(page, 'ArrowRight');
      expect(await page.locator('#actors [role=treeitem]').count()).toBe(rows);
      await press(page, 'End', 'ArrowLeft');
      expect(await selected(page, 'treeitem', '#actors')).toBeTruthy();

      // The log, its tabs, and a row of it.
      await press(page, 'g', 'l');
      await seen();
      await tabTo(page, /^Calls/, 'Shift+Tab');
      for (const name of ['Events', 'Sequence', 'Errors', 'Calls']) {
        await press(page, 'ArrowRight');
        expect(await selected(page, 'tab', '.log')).toContain(name);
        await seen();
      }
      await press(page, 'g', 'l', 'End');
      expect(await page.locator('[data-call][aria-selected=true]').textContent()).toContain('git push');

      // The details of that call, tab by tab.
      await press(page, 'g', 'd');
      await seen();
      await tabTo(page, /^Why/, 'Shift+Tab');
      for (const name of ['Input', 'Output', 'Context diff', 'Raw', 'Why']) {
        await press(page, 'ArrowRight');
        expect(await selected(page, 'tab', '.details')).toContain(name);
        await seen();
      }

      // The chart of that call: a state, what it is for, and a breakpoint on it.
      await press(page, 'g', 'c');
      await seen();
      await tabTo(page, /^toolCall\.executing\.calling($|,)/);
      await press(page, 'Enter');
      await page.getByRole('group', { name: 'State toolCall.executing.calling' }).waitFor();
      await press(page, 'b');
      await expect.poll(() => gate.breakpoints.map((one) => one.on)).toEqual(['state']);
      await press(page, '+', '-', '0');

      // The breakpoint is off again by its menu; leaving the menu leads back to its button.
      await tabTo(page, /^Breakpoints/);
      await press(page, 'Enter');
      await page.getByRole('dialog', { name: 'Breakpoints' }).waitFor();
      await tabTo(page, /before entering toolCall\.executing\.calling/);
      await press(page, 'Space');
      await expect.poll(() => gate.breakpoints.map((one) => one.enabled)).toEqual([false]);
      await press(page, 'Escape');
      expect((await focused(page)).what).toContain('Breakpoints');

      // Pause, two events, step, resume.
      await press(page, 'g', 'a', 'Home', 'F8');
      await page.getByRole('button', { name: /^Resume/ }).waitFor();
      const before = await activeStates(page);
      root.send({ type: 'inbox.changed', waiting: 2, fromPerson: false });
      root.send({ type: 'question.opened', question: { callId: 'c', toolName: 'Bash', inputDigest: 'd' } });
      await page.getByRole('button', { name: '2 held' }).waitFor();
      expect(await activeStates(page)).toEqual(before);
      await press(page, 'F10');
      await expect.poll(() => gate.state.held.length).toBe(1);
      await press(page, 'F8');
      await expect.poll(() => gate.state).toMatchObject({ paused: false, held: [] });

      // Time: back, on, and live again.
      await tabTo(page, /^First event/);
      await press(page, 'Space');
      await page.getByText(/Viewing step/).waitFor();
      await press(page, 'ArrowRight');
      await tabTo(page, /^Live/);
      await press(page, 'Enter');
      await expect.poll(() => page.getByText(/Viewing step/).count()).toBe(0);
      await press(page, 'g', 't');
      await seen();
      await press(page, 'w', 'd', 's', 'a');

      // The question: its key, its input, and where focus goes when it is answered.
      await press(page, 'g', 'l', 'q');
      expect(await hasFocus(page, '#approval')).toBe(true);
      await seen();
      await tabTo(page, /^More answers/);
      await press(page, 'Enter');
      await tabTo(page, /With Allow: add allow Bash\(git push \*\) in this session only/);
      await press(page, 'Space', 'q', 'y');
      await page.locator('#approval').waitFor({ state: 'detached' });
      expect(system.desk.pending).toEqual([]);
      expect(await hasFocus(page, '#calls')).toBe(true);

      // Filter, help, export.
      await press(page, '/');
      await seen();
      await page.keyboard.type('is:denied');
      await page.locator('#calls[aria-rowcount="1"]').waitFor();
      await press(page, 'Escape');
      expect(await page.locator('#filter').inputValue()).toBe('');
      await press(page, 'g', 'l', '?');
      await page.getByRole('dialog', { name: 'Keys and help' }).waitFor();
      await seen();
      await press(page, 'Escape');
      expect(await hasFocus(page, '#calls')).toBe(true);
      await tabTo(page, /^Export$/);
      await press(page, 'Enter');
      await tabTo(page, /^Recording/);
      await press(page, 'ArrowDown', 'ArrowDown');
      await tabTo(page, /^Preview$/);
      await press(page, 'Enter');
      await page.getByRole('button', { name: 'Save' }).waitFor();
      await tabTo(page, /^Save$/);
      const saved = page.waitForEvent('download');
      await press(page, 'Enter');
      expect((await saved).suggestedFilename()).toMatch(/\.test\.(ts|js|mjs)$/);
      expect(complaints).toEqual([]);
    });
  });
});

describe('a question that comes while one works', () => {
  test('is announced at once, leaves focus where it is, and gives it back when it is settled', async () => {
    const { actor, system } = strangeFlow();
    actor.send({ type: 'NEXT' });
    await on(openFlow(context, system), async ({ page }) => {
      await caughtUp(page, system.log);
      const live = page.locator('[aria-live=assertive]');
      expect(await live.textContent()).toBe('');
      await press(page, '/');
      const settle = system.desk.open(
        { id: 'ask:1', toolUseId: '1', toolName: 'Bash', title: 'git push', input: { command: 'git push' }, inputDigest: 'd' },
        () => undefined,
      );
      await expect.poll(() => live.textContent()).toBe('1 approval waiting: Bash git push');
      expect(await hasFocus(page, '#filter')).toBe(true);
      await press(page, 'Escape', 'g', 'a', 'q');
      expect(await hasFocus(page, '#approval')).toBe(true);
      settle('terminal', 'allow');
      await page.locator('#approval').waitFor({ state: 'detached' });
      expect(await live.textContent()).toBe('');
      expect(await hasFocus(page, '#actors')).toBe(true);
    });
  });
});

describe('a question with choices', () => {
  test('is answered by keys alone, and not before every part of it is', async () => {
    const { system } = await story();
    const [waiting] = system.desk.pending;
    if (waiting) system.desk.answer({ id: waiting.id, inputDigest: waiting.inputDigest, behavior: 'deny' });
    const question = (text: string, multiSelect: boolean) => ({
      question: text,
      header: 'Rounding',
      options: ['Once', 'Twice', 'Never'].map((label) => ({ label, description: `${label.toLowerCase()} a day` })),
      multiSelect,
    });
    const questions = [question('How often?', false), question('When?', true)];
    const given: unknown[] = [];
    system.desk.open(
      { id: 'ask:q', toolUseId: 'q', toolName: 'AskUserQuestion', title: 'Question', input: { questions }, inputDigest: 'd', questions },
      (answer) => {
        given.push(answer.behavior === 'allow' ? answer.updatedInput?.answers : answer.behavior);
        return undefined;
      },
    );
    await on(openFlow(context, system), async ({ page }) => {
      await page.locator('#approval').waitFor();
      await press(page, 'q', 'y', 'Enter');
      await tabTo(page, /^Once once a day/);
      await press(page, 'Space', 'ArrowDown', 'Enter');
      expect(given).toEqual([]);
      await tabTo(page, /^In your own words: When\?/);
      await page.keyboard.type('at noon');
      await press(page, 'Enter');
      await page.locator('#approval').waitFor({ state: 'detached' });
      expect(given).toEqual([{ 'How often?': 'Twice', 'When?': 'at noon' }]);
    });
  });
});

describe('motion', () => {
  /** Runs in the page: what would move, and what moves now. */
  const moving = () => {
    const seconds = (list: string): number => Math.max(...list.split(',').map((one) => Number.parseFloat(one)));
    const timed = [...document.querySelectorAll('*')].filter((element) => {
      const { transitionDuration, animationDuration } = getComputedStyle(element);
      return seconds(transitionDuration) > 0 || seconds(animationDuration) > 0;
    });
    return {
      timed: timed.length,
      running: document.getAnimations().length,
      smooth: getComputedStyle(document.documentElement).scrollBehavior,
    };
  };

  test('is left out for whoever wants less of it; the camera is where it goes at once', async () => {
    const { actor, system } = strangeFlow();
    await on(openFlow(context, system), async ({ page }) => {
      const chart = page.locator('[data-chart=strange]');
      await chart.waitFor();
      await caughtUp(page, system.log);
      await page.emulateMedia({ reducedMotion: 'no-preference' });
      expect((await page.evaluate(moving)).timed).toBeGreaterThan(0);
      await page.emulateMedia({ reducedMotion: 'reduce' });
      expect(await page.evaluate(moving)).toEqual({ timed: 0, running: 0, smooth: 'auto' });
      await page.setViewportSize({ width: 1024, height: 640 });
      await chart.evaluate((element) => {
        const places: string[] = [];
        Object.assign(window, { places });
        new MutationObserver(() => places.push(element.getAttribute('viewBox') ?? '')).observe(element, { attributeFilter: ['viewBox'] });
      });
      // As far as a state that was out of view: each step may move the camera once, and never half way.
      for (let step = 1; step <= 10; step++) {
        actor.send({ type: 'NEXT' });
        await caughtUp(page, system.log);
        expect((await page.evaluate(moving)).running).toBe(0);
      }
      const places = await page.evaluate(() => ('places' in window && Array.isArray(window.places) ? window.places.map(String) : []));
      expect(places.length).toBeGreaterThan(0);
      expect(places.length).toBeLessThanOrEqual(10);
      expect(new Set(places).size).toBe(places.length);
      await page.setViewportSize({ width: 1280, height: 800 });
    });
  });
});
