import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildBench, installPeers, removeBuild } from './build.js';
import { readOptions, USAGE } from './options.js';
import { selectScenarios } from './scenarios/index.js';

/** Compiles everything, then runs the compiled bench. */
async function main(args: readonly string[]): Promise<number> {
  if (args[0] === 'restate') {
    const { benchRestate } = await import('./restate.js');
    await benchRestate(args.slice(1).map(Number));
    return 0;
  }
  const options = readOptions(args);
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  selectScenarios(options.scenarios);
  const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
  if (options.peers) installPeers(root);
  const benchDir = buildBench(root);
  try {
    const bench = spawn(process.execPath, ['--expose-gc', join(benchDir, 'run.js'), root, ...args], { stdio: 'inherit' });
    const [code] = await once(bench, 'exit');
    return typeof code === 'number' ? code : 1;
  } finally {
    removeBuild(benchDir);
  }
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  },
);
