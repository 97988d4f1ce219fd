import type { Page } from 'playwright-core';
import type { FlowLog } from '../../../src/inspect/index.js';

/** Waits until the page has taken everything that is in the log, and has drawn it. */
export async function caughtUp(page: Page, log: FlowLog): Promise<void> {
  await page.locator(`[data-last-seq="${log.lastSeq}"]`).waitFor({ timeout: 20_000 });
}

/** Ids of the states that are drawn as active, sorted. */
export async function activeStates(page: Page): Promise<readonly string[]> {
  const ids = await page
    .locator('[data-chart] [data-active=true]')
    .evaluateAll((elements) => elements.map((element) => element.getAttribute('data-state') ?? ''));
  return ids.sort();
}

export async function selectActor(page: Page, id: string): Promise<void> {
  await page.locator(`[data-actor="${id}"]`).click();
}
