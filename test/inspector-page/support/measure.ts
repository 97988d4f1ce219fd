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

/** Processor time of the page's main thread, in seconds: what others do on the machine does not count. */
export async function cpuMeter(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.POSITIVE_INFINITY;
  };
}

/** What the page's own objects take, after a collection. */
export async function megabytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize / 1048576;
}

/** How many elements are in the document. */
export const elements = (page: Page): Promise<number> => page.evaluate(() => document.querySelectorAll('*').length);
