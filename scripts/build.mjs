/**
 * Builds the package: declarations with tsc, the library's code with Rolldown, and the inspector page with Vite.
 *
 *   npm run build                    # into dist
 *   node scripts/build.mjs DIR       # into DIR, which is emptied first
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const out = resolve(process.argv[2] ?? join(root, 'dist'));
const { exports, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/**
 * The library's chunks, lowest first: each imports from those before it only. A folder that is not named here goes where its importers
 * are. A few files start faster than hundreds, and are a sixth smaller to download.
 */
const LAYERS = {
  machines: ['machines'],
  tools: ['src/tool', 'src/tools', 'src/results', 'src/tasks'],
  messages: ['src/messages', 'src/model', 'src/hooks'],
  permissions: ['src/permissions', 'src/settings'],
  session: ['src/session', 'src/mcp'],
  inspect: ['src/inspect'],
};

/** Indentation is a fiftieth of the download, and every line stays where it is without it. No text loses a tab: no line of ours begins with one. */
const withoutIndentation = {
  name: 'without-indentation',
  transform(code, id) {
    if (/^\t/m.test(code)) this.error(`${id} has a line that begins with a tab: write \\t, or two spaces.`);
  },
  renderChunk: (code) => code.replace(/^\t+/gm, ''),
};

rmSync(out, { recursive: true, force: true });
run('typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', out, '--emitDeclarationOnly');
removeUnreachableDeclarations();
await bundleLibrary();
// What npm does when it installs the package: `npx sixgates` works in a checkout that was built again, too.
for (const path of Object.values(bin)) chmodSync(join(out, path.replace('dist/', '')), 0o755);
run('vite/bin/vite.js', 'build', '-c', 'visualizations/inspector/vite.config.ts', '--outDir', join(out, 'inspector'), '--logLevel', 'warn');

/** `exports` lets nobody import another file than the entries, so declarations that these do not lead to are of no use to anyone. */
function removeUnreachableDeclarations() {
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

/** Entries stand where `exports` has them, what they share in `chunks`. Nothing is minified, so that a stack trace can be read. */
async function bundleLibrary() {
  const entries = [...Object.values(exports).flatMap((entry) => entry.default ?? []), ...Object.values(bin)];
  const names = entries.map((path) => /dist\/(.+)\.js$/.exec(path)[1]);
  const bundle = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, join(root, `${name}.ts`)])),
    platform: 'node',
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
    resolve: { extensionAlias: { '.js': ['.ts'] } },
    tsconfig: join(root, 'tsconfig.build.json'),
    plugins: [withoutIndentation],
  });
  await bundle.write({
    dir: out,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    // The docs stand in the declarations, where editors look.
    comments: false,
    minify: false,
    codeSplitting: {
      groups: Object.entries(LAYERS).map(([name, folders], index, { length }) => ({
        name,
        test: (id) => folders.some((folder) => id.startsWith(join(root, folder, '/'))),
        priority: length - index,
      })),
    },
  });
}

function run(program, ...args) {
  const { status } = spawnSync(process.execPath, [join(root, 'node_modules', program), ...args], { cwd: root, stdio: 'inherit' });
  // The program has said what is wrong.
  if (status !== 0) process.exit(status ?? 1);
}
