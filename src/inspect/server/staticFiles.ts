import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};
const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Sixgates inspector</title>
<p>The inspector page is not in this installation. In a checkout, run <code>npm run build</code>; in a package, reinstall <code>sixgates</code>.</p></html>`;

export interface StaticFile {
  readonly type: string;
  readonly bytes: Buffer;
}

/** Where the built page is, seen from `dist/src/inspect/server` or from a checkout's `src/inspect/server`. */
export function defaultPageDir(): string {
  const built = fileURLToPath(new URL('../../../inspector', import.meta.url));
  return existsSync(join(built, 'index.html')) ? built : fileURLToPath(new URL('../../../dist/inspector', import.meta.url));
}

/** The page's files by URL path, read once: a request looks up a name and never touches the disk, so no path can lead out. */
export function loadPage(dir: string): ReadonlyMap<string, StaticFile> {
  const files = new Map<string, StaticFile>();
  if (existsSync(dir)) {
    for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
      const type = TYPES[extname(entry.name)];
      if (!entry.isFile() || type === undefined) continue;
      const file = join(entry.parentPath, entry.name);
      files.set(`/${relative(dir, file).split(sep).join('/')}`, { type, bytes: readFileSync(file) });
    }
  }
  const index = files.get('/index.html') ?? { type: 'text/html; charset=utf-8', bytes: Buffer.from(NOT_BUILT) };
  files.set('/', index);
  return files;
}

/** Where the page asks for the layout engine: beside itself. */
const LAYOUT_ENGINE = '/elk-worker.min.js';

/**
 * What the server hands out: the page, and the layout engine as its own package has it. The page asks for that only to draw a machine
 * whose positions it does not know; where the package was left out of an installation, such a machine is shown as a list of states.
 */
export function servedFiles(dir: string): ReadonlyMap<string, StaticFile> {
  const files = new Map(loadPage(dir));
  try {
    const file = createRequire(import.meta.url).resolve('elkjs/lib/elk-worker.min.js');
    files.set(LAYOUT_ENGINE, { type: 'text/javascript; charset=utf-8', bytes: readFileSync(file) });
  } catch {
    // The page tells the person that asks for such a drawing.
  }
  return files;
}
