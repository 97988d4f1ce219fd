import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** What has focus: its accessible name, and whether a person sees that it has. */
export async function focused(page: Page): Promise<{ readonly what: string; readonly visible: boolean }> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (!element || element === document.body) return { what: '', visible: true };
    const about = (of: Element): string => of.getAttribute('aria-label') ?? (of.textContent ?? '').replace(/\s+/g, ' ').trim();
    const label = element instanceof HTMLInputElement || element instanceof HTMLSelectElement ? element.labels?.[0] : null;
    const what = element.getAttribute('aria-label') ?? (label ? about(label) : about(element));
    // A field inside a frame of its own shows focus on the frame; a state of the chart on its box.
    const target = element.querySelector(':scope > .box') ?? element.closest('.filter, .find') ?? element;
    const { outlineStyle, outlineWidth, strokeWidth } = getComputedStyle(target);
    const outlined = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1;
    return { what, visible: outlined || (target !== element && strokeWidth === '2.5px') };
  });
}

/** Goes on with Tab until something of that name has focus. Wherever focus stops on the way, it must be seen. */
export async function tabTo(page: Page, name: RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  const passed: string[] = [];
  for (let stops = 0; stops < 150; stops++) {
    await page.keyboard.press(key);
    const { what, visible } = await focused(page);
    expect({ what, visible }).toEqual({ what, visible: true });
    if (name.test(what)) return;
    passed.push(what.slice(0, 40));
  }
  throw new Error(`Tab never came to ${name}; it passed: ${passed.join(' · ')}`);
}

export async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}
