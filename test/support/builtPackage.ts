import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const root = fileURLToPath(new URL('../..', import.meta.url));
/** Inside node_modules, so that what is built finds its dependencies as it would in a program that installed it. */
export const cache = join(root, 'node_modules/.cache/sixgates');
/** Everything besides `dist` that `files` in package.json may name. */
const BESIDE = ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'THIRD_PARTY_NOTICES', 'examples'];

/**
 * A directory that holds the package as it would be published, built from the sources as they are now. Built once for each state of
 * the sources, however many tests ask; `dist` of the working tree is left alone.
 */
export async function builtPackage(): Promise<string> {
  const directory = join(
    cache,
    `package-${stateOf(['package.json', 'machines', 'src', 'visualizations/inspector', 'scripts/build.mjs', 'tsconfig.build.json'])}`,
  );
  if (!existsSync(directory)) await build(directory);
  // Texts change without a build.
  for (const name of BESIDE) if (existsSync(join(root, name))) cpSync(join(root, name), join(directory, name), { recursive: true });
  return directory;
}

async function build(directory: string): Promise<void> {
  const draft = `${directory}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  await run(process.execPath, [join(root, 'scripts/build.mjs'), join(draft, 'dist')], { cwd: root }).catch(
    ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => {
      rmSync(draft, { recursive: true });
      throw new Error(`The package cannot be built:\n${stdout}${stderr}`);
    },
  );
  putInPlace(draft, directory);
}

/** Moves what was built to where it is looked for, and removes what was built there an hour ago and more. */
export function putInPlace(draft: string, directory: string): void {
  try {
    renameSync(draft, directory);
  } catch (error) {
    // Another test file was faster.
    if (!existsSync(directory)) throw error;
    rmSync(draft, { recursive: true });
  }
  for (const name of readdirSync(cache)) {
    const old = join(cache, name);
    if (old !== directory && Date.now() - statSync(old).mtimeMs > 3_600_000) rmSync(old, { recursive: true, force: true });
  }
}

/** Tells one state of the sources from another by names, sizes and times. */
export function stateOf(places: readonly string[]): string {
  const hash = createHash('sha256');
  const add = (path: string): void => {
    const stat = statSync(path);
    if (!stat.isDirectory()) hash.update(`${path}\0${stat.size}\0${stat.mtimeMs}\n`);
    else for (const name of readdirSync(path).sort()) add(join(path, name));
  };
  for (const place of places) add(join(root, place));
  return hash.digest('hex').slice(0, 12);
}
