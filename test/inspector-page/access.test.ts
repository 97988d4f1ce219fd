import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { InspectedSystem } from '../../src/inspect/index.js';
import { violations } from './support/axe.js';
import { strangeFlow, toldFlow } from './support/flows.js';
import { focused } from './support/keyboard.js';
import { on, story } from './support/onPage.js';
import { openFlow, watchedPage } from './support/open.js';
import { pageContext } from './support/pageContext.js';
import { caughtUp } from './support/read.js';

const context = await pageContext();

describe('accessibility, by WCAG 2.2 AA rules in light and dark', () => {
  test('of the empty page', async () => {
    const system = toldFlow('empty');
    await on(openFlow(context, system), async ({ page }) => {
      await page.getByText('No actor has started yet').waitFor();
      expect(await violations(page)).toEqual([]);
    });
  });

  test('of a live flow with a question, its events, its help and a breakpoint', { timeout: 60_000 }, async () => {
    const { system, gate } = await story();
    await on(openFlow(context, system), async ({ page }) => {
      await caughtUp(page, system.log);
      await page.locator('#approval').waitFor();
      expect(await violations(page)).toEqual([]);
      await page.locator('[data-call]', { hasText: 'git status' }).click();
      await page.getByRole('tab', { name: 'Events' }).click();
      await page.getByRole('tab', { name: 'Input' }).click();
      await page.getByRole('button', { name: 'More answers' }).click();
      await page.locator('[data-state="toolCall.executing"]').focus();
      await page.keyboard.press('b');
      await page.keyboard.press('Enter');
      gate.pause('test');
      await page.getByRole('button', { name: /^Resume/ }).waitFor();
      await page.getByRole('button', { name: 'Breakpoints' }).click();
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('tab', { name: 'Sequence' }).click();
      await page.getByRole('tab', { name: 'Context diff' }).click();
      expect(await violations(page)).toEqual([]);
      await page.locator('body').press('?');
      await page.getByRole('dialog', { name: 'Keys and help' }).waitFor();
      expect(await violations(page)).toEqual([]);
    });
  });
});

describe('accessibility of what one fills in', () => {
  const choices = [
    { label: 'Once per invoice', description: 'sum first' },
    { label: 'Once per line', description: 'as it is' },
  ];
  const questions = [
    { question: 'How to round?', header: 'Rounding', options: choices, multiSelect: false },
    { question: 'Which reports may change?', header: 'Reports', options: choices, multiSelect: true },
  ];

  test('questions with choices, a breakpoint of one actor, and what a copy is told', { timeout: 60_000 }, async () => {
    const { system } = await story();
    const restartAt = async () => ({ code: 'unsupported', message: 'Before this step no answer was settled.' }) as const;
    await on(openFlow(context, system, { server: { restartAt } }), async ({ page }) => {
      await caughtUp(page, system.log);
      const [first] = system.desk.pending;
      if (first) system.desk.answer({ id: first.id, inputDigest: first.inputDigest, behavior: 'deny' });
      system.desk.open(
        { id: 'ask:q', toolUseId: 'q', toolName: 'AskUserQuestion', title: 'Question', input: { questions }, inputDigest: 'd', questions },
        () => undefined,
      );
      await page.getByRole('radio', { name: 'Once per line as it is' }).check();
      await page.locator('[data-call]', { hasText: 'git status' }).click();
      await page.locator('[data-state="toolCall.executing"]').press('Enter');
      await page.keyboard.press('ArrowLeft');
      await page.getByRole('button', { name: 'Restart from here…' }).click();
      expect(await page.getByLabel('What the copy is told').evaluate((input) => input === document.activeElement)).toBe(true);
      await page.getByRole('button', { name: 'Breakpoints' }).click();
      expect(await violations(page)).toEqual([]);
    });
  });
});

describe('the keyboard', () => {
  test('reaches everything, and focus is seen where it is', async () => {
    const { system } = await story();
    await on(openFlow(context, system), async ({ page }) => {
      await caughtUp(page, system.log);
      await page.locator('body').press('/');
      await page.keyboard.type('is:denied');
      await page.keyboard.press('Escape');
      expect(await page.locator('#filter').inputValue()).toBe('');
      await page.keyboard.press('g');
      await page.keyboard.press('l');
      await page.keyboard.press('Home');
      expect(await page.locator('[data-call][aria-selected=true]').getAttribute('data-call')).toBe('toolu_001');
      await page.keyboard.press('j');
      expect(await page.locator('[data-call][aria-selected=true]').getAttribute('data-call')).toBe('toolu_002');
      await page.keyboard.press('e');
      await page.locator('[data-verdict]').waitFor();
      await page.keyboard.press('g');
      await page.keyboard.press('a');
      await page.keyboard.press('Home');
      expect(await page.locator('[role=treeitem][aria-selected=true]').getAttribute('data-actor')).toBe('session');
      await page.keyboard.press('ArrowLeft');
      expect(await page.locator('[data-actor]').count()).toBe(1);
      await page.keyboard.press('ArrowRight');
      expect(await page.locator('[data-actor]').count()).toBeGreaterThan(3);
      await page.keyboard.press('g');
      await page.keyboard.press('c');
      expect(await page.evaluate(() => document.activeElement?.getAttribute('data-state'))).toMatch(/^session/);
      const seen = new Set<string>();
      for (let i = 0; i < 40; i++) {
        await page.keyboard.press('Tab');
        const { what, visible } = await focused(page);
        seen.add(what);
        expect({ what, visible }).toEqual({ what, visible: true });
      }
      expect(seen.size).toBeGreaterThan(15);
    });
  });

  test('says that an approval waits, in a live region', async () => {
    const { system } = await story();
    await on(openFlow(context, system), async ({ page }) => {
      await page.locator('#approval').waitFor();
      expect(await page.locator('[aria-live=assertive]').textContent()).toContain('1 approval waiting: Bash');
      expect(await page.title()).toMatch(/^\(1\) /);
    });
  });

  test('has no single-letter keys when they are switched off', async () => {
    const { system } = await story();
    await on(openFlow(context, system), async ({ page }) => {
      await caughtUp(page, system.log);
      await page.locator('body').press('?');
      await page.getByLabel('Single letters act as keys').uncheck();
      await page.keyboard.press('Escape');
      await page.locator('body').press('/');
      expect(await page.locator('#filter').evaluate((input) => input === document.activeElement)).toBe(false);
      await page.getByRole('button', { name: 'Keys and help' }).click();
      await page.getByLabel('Single letters act as keys').check();
    });
  });
});

describe('a one-file HTML export', () => {
  const saveHtml = (system: InspectedSystem, file: string): Promise<void> =>
    on(openFlow(context, system), async ({ page }) => {
      await caughtUp(page, system.log);
      await page.getByRole('button', { name: 'Export' }).click();
      await page.getByLabel('One-file HTML').check();
      await page.getByRole('button', { name: 'Preview' }).click();
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Save' }).click();
      const download = await saved;
      expect(download.suggestedFilename()).toMatch(/\.html$/);
      await download.saveAs(file);
    });

  test('carries the positions of a machine of one’s own, which it could not work out by itself', async () => {
    const { actor, system } = strangeFlow();
    actor.send({ type: 'NEXT' });
    const dir = mkdtempSync(join(tmpdir(), 'sixgates-html-'));
    try {
      await saveHtml(system, join(dir, 'flow.html'));
      const { page, complaints, requests } = await watchedPage(context);
      await page.goto(`file://${join(dir, 'flow.html')}`);
      await page.locator('[data-chart=strange] [data-state="strange.left.s1"][data-active=true]').waitFor();
      expect(await page.locator('[data-chart=strange] [data-state]').count()).toBe(24);
      expect(requests.filter((url) => !url.startsWith('data:'))).toHaveLength(1);
      expect(complaints).toEqual([]);
      await page.close();
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  test('opens from the disk with one request, the same counts, chart and log, and is as accessible', { timeout: 60_000 }, async () => {
    const { system } = await story();
    const dir = mkdtempSync(join(tmpdir(), 'sixgates-html-'));
    try {
      await saveHtml(system, join(dir, 'flow.html'));
      const { page, complaints, requests } = await watchedPage(context);
      await page.goto(`file://${join(dir, 'flow.html')}`);
      await page.locator('[data-link=recording]').waitFor();
      await caughtUp(page, system.log);
      expect(requests.filter((url) => !url.startsWith('data:'))).toHaveLength(1);
      expect(await page.locator('[data-calls]').getAttribute('data-calls')).toBe('18');
      await page.locator('[data-call]', { hasText: 'rm -rf' }).click();
      await page.locator('[data-verdict=deny]').waitFor();
      await page.locator('[data-chart=toolCall] [data-active=true]').first().waitFor();
      await page.getByRole('tab', { name: 'Input' }).click();
      await page.getByText('"rm -rf node_modules/.cache && npm test"').waitFor();
      expect(await violations(page)).toEqual([]);
      expect(complaints).toEqual([]);
      await page.close();
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
