// Builds the package: the library with tsc, and the inspector page with Vite.
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const run = (bin, args) => execFileSync(process.execPath, [join(root, 'node_modules', bin), ...args], { cwd: root, stdio: 'inherit' });

rmSync(join(root, 'dist'), { recursive: true, force: true });
run('typescript/bin/tsc', ['-p', 'tsconfig.build.json']);
if (existsSync(join(root, 'visualizations/inspector/vite.config.ts'))) {
  run('vite/bin/vite.js', ['build', '--config', 'visualizations/inspector/vite.config.ts', '--logLevel', 'warn']);
}
