import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installChromium } from '../inspector-page/support/chromium.js';

/** Runs once, before all tests; what it returns runs after them. */
export function setup(): () => void {
  installChromium();
  // What tests leave in the system's temporary directory goes with it, however they end.
  const place = mkdtempSync(join(tmpdir(), 'sixgates-tests-'));
  process.env.TMPDIR = place;
  return () => rmSync(place, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
