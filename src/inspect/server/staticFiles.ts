import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, relative, sep } from 'node:path';

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

const { resolve } = createRequire(import.meta.url);

/**
 * Where the built page is. A package finds itself by name, so this holds for the code as it is built, in a program's bundle, and in a
 * checkout. Compiled to another place it has no page, which the server then says.
 */
export function defaultPageDir(): string {
  try {
    return join(dirname(resolve('sixgates/package.json')), 'dist/inspector');
  } catch {
    return '';
  }
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
    const file = resolve('elkjs/lib/elk-worker.min.js');
    files.set(LAYOUT_ENGINE, { type: 'text/javascript; charset=utf-8', bytes: readFileSync(file) });
  } catch {
    // The page tells the person that asks for such a drawing.
  }
  return files;
}
