import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Compiles library and bench to JavaScript, as users run it; what is measured never goes through a loader. The folder lies under
 * node_modules so that imports resolve. Returns the folder of the compiled bench.
 */
export function buildBench(root: string): string {
  const outDir = join(root, 'node_modules/.cache/sixgates-bench', String(process.pid));
  mkdirSync(outDir, { recursive: true });
  writeFileSync(join(outDir, 'package.json'), '{ "type": "module" }\n');
  writeFileSync(
    join(outDir, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.build.json'),
      // Types are the type checker's business: nothing of them is measured.
      compilerOptions: { rootDir: root, outDir, declaration: false, noCheck: true, typeRoots: [join(root, 'node_modules/@types')] },
      // What the bench imports comes along.
      include: [join(root, 'test/bench/**/*.ts')],
      exclude: [],
    }),
  );
  const benchDir = join(outDir, 'test/bench');
  try {
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', outDir], { stdio: 'inherit' });
  } catch (error) {
    removeBuild(benchDir);
    throw error;
  }
  return benchDir;
}

export function removeBuild(benchDir: string): void {
  rmSync(join(benchDir, '../..'), { recursive: true, force: true });
}

/** Installs the AI SDK and LangGraph from their own lock file, once. */
export function installPeers(root: string): void {
  const dir = join(root, 'test/bench/peers');
  if (existsSync(join(dir, 'node_modules'))) return;
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: dir, stdio: 'inherit' });
}
