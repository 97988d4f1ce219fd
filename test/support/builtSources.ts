import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { transformWithOxc } from 'vite';
import { cache, putInPlace, root, stateOf } from './builtPackage.js';

const PLACES = ['machines', 'src'];

/**
 * The sources as JavaScript, in the layout of the package, so that a process need not translate them each time it starts. Made once for
 * each state of the sources, in well under a second: types are left to the compiler. The page is the one in `dist`, if there is one when it is asked for.
 */
export async function builtSources(): Promise<string> {
  const directory = join(cache, `sources-${stateOf([...PLACES, 'package.json'])}`);
  if (existsSync(directory)) return directory;
  const draft = `${directory}.${process.pid}`;
  for (const file of PLACES.flatMap(filesIn)) {
    const { code } = await transformWithOxc(readFileSync(file, 'utf8'), file, { target: 'node20', sourcemap: false });
    const out = join(draft, 'dist', relative(root, file).replace(/\.ts$/, '.js'));
    mkdirSync(dirname(out), { recursive: true });
    writeFileSync(out, code);
  }
  cpSync(join(root, 'package.json'), join(draft, 'package.json'));
  for (const place of ['dist/inspector', 'examples']) symlinkSync(join(root, place), join(draft, place));
  putInPlace(draft, directory);
  return directory;
}

/** The command line of the sources, for `node`. */
export const builtCli = async (): Promise<string> => join(await builtSources(), 'dist/src/cli/main.js');

const filesIn = (place: string): readonly string[] =>
  readdirSync(join(root, place), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
