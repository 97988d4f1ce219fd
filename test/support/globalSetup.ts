import { installChromium } from '../inspector-page/support/chromium.js';

/** Runs once, before all tests. */
export function setup(): void {
  installChromium();
}
