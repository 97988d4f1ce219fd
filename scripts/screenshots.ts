/** Takes the pictures of the inspector page: `npx tsx scripts/screenshots.ts [name]`. Needs Chromium. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { launch } from '../test/inspector-page/support/chromium.js';
import { openFlow } from '../test/inspector-page/support/open.js';
import { simulate } from '../test/inspector-page/support/simulate.js';
import { bugfix } from '../test/inspector-page/support/story.js';

const SIZES = [
  { width: 1280, height: 800 },
  { width: 1920, height: 1080 },
];
/** What each picture shows, from the page with a question open. */
const SCENES: Readonly<Record<string, (page: Page, goOn: () => Promise<void>) => Promise<void>>> = {
  approval: async (page) => {
    await page.locator('#approval').waitFor();
  },
  denied: async (page) => {
    await page.locator('[data-call]', { hasText: 'rm -rf' }).click();
    await page.locator('[data-verdict=deny]').waitFor();
  },
  travel: async (page) => {
    await page.locator('[data-call]', { hasText: 'deploy.sh' }).click();
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Shift+ArrowLeft');
  },
  paused: async (page, goOn) => {
    await page.locator('[data-call]', { hasText: 'git commit' }).click();
    await page.locator('[data-state="toolCall.executing.calling"]').focus();
    await page.keyboard.press('b');
    await page.keyboard.press('Escape');
    await page.locator('#approval').focus();
    await page.keyboard.press('y');
    await page.locator('#approval').waitFor({ state: 'detached' });
    await goOn();
    await page.getByRole('button', { name: /^Resume/ }).waitFor();
  },
  help: async (page) => {
    await page.locator('body').press('?');
    await page.getByRole('dialog', { name: 'Keys and help' }).waitFor();
  },
  edit: async (page) => {
    await page.locator('#filter').fill('tool:edit');
    await page.locator('[data-call]').first().click();
    await page.locator('#filter').fill('');
    await page.getByRole('tab', { name: 'Input' }).click();
    await page.locator('.diff').waitFor();
  },
  sequence: async (page) => {
    await page.locator('[data-call]', { hasText: 'Find callers' }).click();
    await page.locator('[data-actor]', { hasText: 'executor' }).last().click();
    await page.getByRole('tab', { name: 'Sequence' }).click();
    await page.getByRole('tab', { name: 'Context diff' }).click();
  },
};

const only = process.argv[2];
const out = fileURLToPath(new URL('../visualizations/screenshots/', import.meta.url));
mkdirSync(out, { recursive: true });
const browser = await launch();
try {
  for (const [name, act] of Object.entries(SCENES)) {
    if (only !== undefined && only !== name) continue;
    for (const size of SIZES) {
      for (const theme of ['light', 'dark'] as const) {
        const { system, time } = await simulate(bugfix(null), { startedAt: Date.now() - 24_000 });
        await time.play();
        const opened = await openFlow(browser.context, system);
        const { page } = opened;
        await page.setViewportSize(size);
        await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
        await page.locator('[data-active=true]').first().waitFor();
        await act(page, () => time.play());
        await page.waitForTimeout(250);
        await page.screenshot({ path: join(out, `${name}-${size.width}-${theme}.png`) });
        if (opened.complaints.length > 0) console.error(name, opened.complaints);
        await opened.close();
      }
    }
  }
} finally {
  await browser.close();
}
