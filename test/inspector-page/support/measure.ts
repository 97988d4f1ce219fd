import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** A measurement that must stay within its limit once in three times: what else the machine does at the moment is not the page's doing. */
export async function within(limit: number, measure: () => Promise<number>): Promise<void> {
  const measured: number[] = [];
  for (let tries = 0; tries < 3; tries++) {
    const value = await measure();
    if (value <= limit) return;
    measured.push(value);
  }
  expect(measured, `each above the limit of ${limit}`).toEqual([]);
}

/** From now on, milliseconds of the longest task of the page's main thread; 0 while none took 50. */
export async function watchTasks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const tasks: number[] = [];
    Object.assign(window, { tasks });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) tasks.push(entry.duration);
    }).observe({ type: 'longtask' });
  });
  return () =>
    page.evaluate(async () => {
      // Entries are handed over after the task that they speak of.
      await new Promise((done) => setTimeout(done, 100));
      return 'tasks' in window && Array.isArray(window.tasks) ? Math.max(0, ...window.tasks.map(Number)) : Number.NaN;
    });
}

/** The 95th of a hundred waits between two frames, over three seconds of the page's time. */
export const slowFrames = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    const gaps: number[] = [];
    const start = performance.now();
    for (let last = start; last - start < 3000; ) {
      await new Promise((done) => requestAnimationFrame(done));
      const now = performance.now();
      gaps.push(now - last);
      last = now;
    }
    gaps.sort((a, b) => a - b);
    return gaps[Math.floor(gaps.length * 0.95)] ?? Number.NaN;
  });

/** Milliseconds, in the page, from the next key press to the moment a selector matches. Ask for it before the key is pressed. */
export async function fromKeyTo(page: Page, selector: string): Promise<() => Promise<number>> {
  await page.evaluate((wanted) => {
    const taken = new Promise<number>((resolve) => {
      window.addEventListener(
        'keydown',
        () => {
          const since = performance.now();
          const look = (): void => {
            if (document.querySelector(wanted)) resolve(performance.now() - since);
            else requestAnimationFrame(look);
          };
          look();
        },
        { once: true, capture: true },
      );
    });
    Object.assign(window, { taken });
  }, selector);
  return () => page.evaluate(async () => ('taken' in window ? Number(await window.taken) : Number.NaN));
}
