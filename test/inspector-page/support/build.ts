import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const source = join(root, 'visualizations/inspector');
const output = join(root, 'dist/inspector');
const lock = join(root, 'node_modules/.sixgates-page-build');
const PATIENCE_MS = 60_000;

/** The built page, built again only when its source is newer. Test files that start together wait for one build. */
export async function buildPage(): Promise<string> {
  if (!existsSync(lock) && isCurrent()) return output;
  const release = await takeLock();
  try {
    if (!isCurrent()) {
      const vite = join(root, 'node_modules/vite/bin/vite.js');
      execFileSync(process.execPath, [vite, 'build', '--config', join(source, 'vite.config.ts'), '--logLevel', 'error'], { cwd: root });
    }
  } finally {
    release();
  }
  return output;
}

function isCurrent(): boolean {
  const built = join(output, 'index.html');
  if (!existsSync(built)) return false;
  return statSync(built).mtimeMs >= Math.max(newestIn(source), newestIn(join(root, 'src/inspect/protocol')));
}

async function takeLock(): Promise<() => void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      mkdirSync(lock);
      return () => rmSync(lock, { recursive: true, force: true });
    } catch {
      if (Date.now() > deadline) throw new Error(`Another build of the page seems to hang; if none runs, remove ${lock}.`);
      await new Promise((done) => setTimeout(done, 100));
    }
  }
}

function newestIn(dir: string): number {
  return Math.max(
    ...readdirSync(dir, { recursive: true, withFileTypes: true }).map((entry) =>
      entry.isFile() ? statSync(join(entry.parentPath, entry.name)).mtimeMs : 0,
    ),
  );
}
