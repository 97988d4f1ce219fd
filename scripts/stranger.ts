/**
 * Goes a stranger's way, with the steps of README.md and no other: an empty folder, the packed tarball, the first example against a
 * scripted model, a recording, a test made of it, and that test.
 *
 *   npm run stranger                # packs dist as it is
 *   npm run stranger -- DIR         # packs the package that DIR holds
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The block of README.md in which a text stands. */
function readmeBlock(holding: string): string {
  const blocks = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/```ts\n([\s\S]*?)\n```/g)].map(([, code = '']) => code);
  const found = blocks.filter((code) => code.includes(holding));
  if (found[0] === undefined || found.length > 1) throw new Error(`${found.length} blocks of README.md hold ${JSON.stringify(holding)}.`);
  return found[0];
}

/** Throws where a step fails. Returns what the steps printed. */
export async function goTheStrangersWay(packageDirectory: string, tell: (step: string) => void = () => {}): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sixgates-stranger-'));
  const said: string[] = [];
  const env = { PATH: process.env.PATH, HOME: folder, npm_config_cache: npmCache(), NO_COLOR: '1' };
  const step = (program: string, ...args: readonly string[]): void => {
    const started = Date.now();
    const out = execFileSync(program, args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    said.push(out);
    tell(`${((Date.now() - started) / 1000).toFixed(1)} s  ${[program, ...args].join(' ')}`);
  };
  try {
    execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: packageDirectory, stdio: 'ignore' });
    step('npm', 'init', '-y');
    step('npm', 'pkg', 'set', 'type=module');
    step(
      'npm',
      'install',
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
      `./sixgates-${version(packageDirectory)}.tgz`,
      `zod@${zodVersion()}`,
    );
    writeFileSync(join(folder, 'agent.mjs'), readmeBlock('canUseTool: async (name) =>'));
    writeFileSync(join(folder, 'model.mjs'), readmeBlock('scriptedServer({ script'));
    writeFileSync(join(folder, 'record.mjs'), readmeBlock('regressionTest(recording'));
    step('node', 'model.mjs', 'agent.mjs');
    step('npx', 'sixgates', 'explain', 'Bash(git push origin main)');
    step('node', 'model.mjs', 'record.mjs');
    if (!existsSync(join(folder, 'weather.flow.jsonl.gz'))) throw new Error('Nothing was recorded.');
    tell(`the page answers: ${await openedPage(folder, env)}`);
    step('node', '--test', 'weather.test.mjs');
    return said.join('\n');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Opens the recording as the README says, without a browser, and reads the page. Resolves with its title. */
async function openedPage(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const args = ['node_modules/sixgates/dist/src/cli/main.js', 'inspect', 'weather.flow.jsonl.gz', '--no-open'];
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const [url] = /http:\S+/.exec(line) ?? [];
      if (url === undefined) continue;
      const page = await (await fetch(url)).text();
      const title = /<title>(.*?)<\/title>/.exec(page)?.[1];
      if (title === undefined || !page.includes('<script')) throw new Error('The inspector did not answer with its page.');
      // It comes out of a package of its own, which has to be installed with this one.
      const engine = await fetch(new URL('/elk-worker.min.js', url));
      if (!engine.ok) throw new Error('The inspector has no layout engine.');
      return title;
    }
    throw new Error('The inspector told no address.');
  } finally {
    child.kill('SIGINT');
    await gone;
  }
}

const npmCache = (): string => execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim();
const version = (directory: string): string =>
  /"version": "([^"]+)"/.exec(readFileSync(join(directory, 'package.json'), 'utf8'))?.[1] ?? '';
/** The one this project is tested with is in the cache of whoever installed it. */
const zodVersion = (): string => version(join(root, 'node_modules/zod'));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const said = await goTheStrangersWay(resolve(process.argv[2] ?? root), (line) => process.stdout.write(`${line}\n`));
  process.stdout.write(`\n${said}\n`);
}
