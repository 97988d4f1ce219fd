import type { BrowserContext } from 'playwright-core';
import { afterAll } from 'vitest';
import { buildPage } from './build.js';
import { launch } from './chromium.js';

/** The browser of a file of tests, closed after them; the page has been built by then. */
export async function pageContext(): Promise<BrowserContext> {
  await buildPage();
  const { context, close } = await launch();
  afterAll(close);
  return context;
}
