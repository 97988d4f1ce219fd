/**
 * Builds the package: the library with tsc, and the inspector page with Vite.
 *
 *   npm run build                    # into dist
 *   node scripts/build.mjs DIR       # into DIR, which is emptied first
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const out = resolve(process.argv[2] ?? join(root, 'dist'));
const run = (bin, ...args) => execFileSync(process.execPath, [join(root, 'node_modules', bin), ...args], { cwd: root, stdio: 'inherit' });
const tsc = (...args) => run('typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', out, ...args);

rmSync(out, { recursive: true, force: true });
// The docs stand in the declarations, where editors look. A second copy of them in the code would be a sixth of the download.
tsc('--emitDeclarationOnly');
tsc('--noCheck', '--declaration', 'false', '--removeComments');
removeUnreachableDeclarations();
run(
  'vite/bin/vite.js',
  'build',
  '--config',
  'visualizations/inspector/vite.config.ts',
  '--outDir',
  join(out, 'inspector'),
  '--logLevel',
  'warn',
);

/** `exports` lets nobody import another file than the entries, so declarations that these do not lead to are of no use to anyone. */
function removeUnreachableDeclarations() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const reached = new Set();
  const reach = (file) => {
    if (reached.has(file)) return;
    reached.add(file);
    const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
    for (const [, path] of text.matchAll(/\b(?:from|import)[\s(]*['"](\.[^'"]*)\.js['"]/g)) {
      reach(resolve(dirname(file), `${path}.d.ts`));
    }
  };
  for (const { types } of Object.values(exports)) if (types) reach(join(out, types.replace('./dist/', '')));
  for (const name of readdirSync(out, { recursive: true })) {
    const file = join(out, name);
    if (name.endsWith('.d.ts') && !reached.has(file)) rmSync(file);
  }
}
