import axe from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * What breaks WCAG 2.2 A or AA on a page, in light and in dark. Injected over the debugging protocol, because the page's policy rightly
 * keeps foreign scripts out.
 */
export async function violations(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await session.send('Runtime.evaluate', { expression: axe.source });
    const { result } = await session.send('Runtime.evaluate', {
      expression: `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], resultTypes: ['violations'] })
        .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map((node) => node.html.slice(0, 160) + ' ' + (node.any[0]?.message ?? '')).join(' | ')))`,
      awaitPromise: true,
      returnByValue: true,
    });
    if (!Array.isArray(result.value)) throw new Error('axe did not run');
    found.push(...result.value.map((text: unknown) => `${colorScheme} ${String(text)}`));
  }
  return found;
}
