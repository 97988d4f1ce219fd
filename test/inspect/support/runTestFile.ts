import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs a node:test file in a process of its own. It lies under node_modules, so that `xstate` resolves and no tool takes it for a source. */
export function runTestFile(source: string): { readonly ok: boolean; readonly output: string } {
  const directory = mkdtempSync(join(repository, 'node_modules', '.flow-test-'));
  const file = join(directory, 'flow.test.mjs');
  writeFileSync(file, source);
  try {
    const output = execFileSync(process.execPath, ['--import', 'tsx', '--test', file], {
      cwd: repository,
      encoding: 'utf8',
      stdio: 'pipe',
    });
    return { ok: true, output };
  } catch (error) {
    return { ok: false, output: error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error) };
  } finally {
    rmSync(directory, { recursive: true });
  }
}
