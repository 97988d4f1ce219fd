import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';

const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/snap/bin/chromium'];

/** A Chromium to test with: `CHROMIUM_PATH`, else one that is installed. The test run installs one beforehand where it can. */
function findChromium(): string {
  const given = process.env.CHROMIUM_PATH;
  if (given) {
    if (existsSync(given)) return given;
    throw new Error(`CHROMIUM_PATH names ${given}, which does not exist.`);
  }
  const found = CANDIDATES.find((path) => existsSync(path));
  if (found) return found;
  throw new Error(
    'The tests of the inspector page need Chromium. Install it (Debian, Ubuntu: `apt-get install chromium`) or set CHROMIUM_PATH to a Chromium or Chrome.',
  );
}

/** Installs Chromium once, before any test, where that is possible: on Debian as root. Elsewhere the tests that need it say how to get it. */
export function installChromium(): void {
  if (process.env.CHROMIUM_PATH || CANDIDATES.some((path) => existsSync(path)) || process.getuid?.() !== 0) return;
  try {
    for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'chromium']]) {
      execFileSync('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], { stdio: 'ignore', timeout: 600_000 });
    }
  } catch {
    // The tests that need it fail with the way out.
  }
}

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--enable-precise-memory-info',
];

/** A browser with an empty profile. One serves a whole file of tests. */
export async function launch(): Promise<{ readonly context: BrowserContext; close(): Promise<void> }> {
  const profile = mkdtempSync(join(tmpdir(), 'sixgates-page-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: findChromium(),
    headless: true,
    args: FLAGS,
    viewport: { width: 1280, height: 800 },
  });
  return {
    context,
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
