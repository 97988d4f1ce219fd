import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const source = join(root, 'visualizations/inspector');
const output = join(root, 'dist/inspector');

/** The built page, built again only when its source is newer. */
export async function buildPage(): Promise<string> {
  const built = join(output, 'index.html');
  const newest = Math.max(newestIn(source), newestIn(join(root, 'src/inspect/protocol')));
  if (!existsSync(built) || statSync(built).mtimeMs < newest) {
    await build({ configFile: join(source, 'vite.config.ts'), logLevel: 'error' });
  }
  return output;
}

function newestIn(dir: string): number {
  return Math.max(
    ...readdirSync(dir, { recursive: true, withFileTypes: true }).map((entry) =>
      entry.isFile() ? statSync(join(entry.parentPath, entry.name)).mtimeMs : 0,
    ),
  );
}
