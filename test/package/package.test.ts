import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { goTheStrangersWay } from '../../scripts/stranger.js';
import { builtPackage, root } from '../support/builtPackage.js';

const run = promisify(execFile);
const packed = z.tuple([
  z.object({ filename: z.string(), size: z.number(), files: z.array(z.object({ path: z.string(), size: z.number() })) }),
]);

const manifest = z.object({ exports: z.record(z.string(), z.union([z.string(), z.object({ types: z.string() })])) });

const versioned = z.object({ version: z.string() });

/** Lets a process go without the optional dependencies, as if they had not been installed. */
const hooks = `export async function resolve(name, context, next) {
  if (!/^(sharp|@restatedev)/.test(name)) return next(name, context);
  throw Object.assign(new Error('Cannot find package ' + name), { code: 'ERR_MODULE_NOT_FOUND' });
}`;
const dataUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
const withoutOptional = dataUrl(`import { register } from 'node:module'; register(${JSON.stringify(dataUrl(hooks))});`);

let directory: string;
let tarball: { readonly path: string; readonly size: number; readonly files: readonly { readonly path: string; readonly size: number }[] };
const temporary = mkdtempSync(join(tmpdir(), 'sixgates-pack-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

beforeAll(async () => {
  directory = await builtPackage();
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', temporary];
  const { stdout } = await run('npm', args, { cwd: directory, maxBuffer: 64 * 1024 * 1024 });
  const [{ filename, size, files }] = packed.parse(JSON.parse(stdout));
  tarball = { path: join(temporary, filename), size, files };
}, 300_000);

describe('the package', { timeout: 300_000 }, () => {
  it('holds what users need, and no more', () => {
    const other = tarball.files
      .map(({ path }) => path)
      .filter((path) => !/^dist\/((src|machines)\/.+\.d\.ts|(src|chunks)\/.+\.js)$/.test(path))
      .filter((path) => !/^dist\/inspector\/(index\.html|assets\/[\w.-]+)$/.test(path))
      .filter((path) => !path.startsWith('examples/demo-project/'));
    expect(other.sort()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'THIRD_PARTY_NOTICES', 'package.json']);
    const foreign = tarball.files.filter(({ path }) => /\.test\.|\.map$|\/test\/support|vitest\.config|node_modules/.test(path));
    expect(foreign.map(({ path }) => path).filter((path) => !path.startsWith('examples/demo-project/'))).toEqual([]);
  });

  it('keeps to its size: 700 KB packed, and no file above 400 KB', () => {
    expect(tarball.size).toBeLessThanOrEqual(700_000);
    expect(tarball.files.filter(({ size }) => size > 400_000)).toEqual([]);
  });

  it('leaves out declarations that no entry leads to, and none that one leads to', () => {
    const shipped = new Set(tarball.files.map(({ path }) => path).filter((path) => path.endsWith('.d.ts')));
    const { exports } = manifest.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
    const wanted = new Set(Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : [entry.types.replace('./', '')])));
    // A set takes in what is added while it is gone through.
    for (const file of wanted) {
      const text = readFileSync(join(directory, file), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
      for (const [, path] of text.matchAll(/['"](\.{1,2}\/[^'"\s]*)\.js['"]/g)) wanted.add(posix.join(posix.dirname(file), `${path}.d.ts`));
    }
    expect([...shipped].sort()).toEqual([...wanted].sort());
  });

  it('names in its notices whatever the page is made of, and the layout engine that it is handed', async () => {
    const mode = process.env.NODE_ENV;
    const built = await build({
      configFile: join(root, 'visualizations/inspector/vite.config.ts'),
      logLevel: 'error',
      build: { write: false },
    }).finally(() => {
      process.env.NODE_ENV = mode;
    });
    const chunks = [built].flat().flatMap((result) => ('output' in result ? result.output : []));
    const modules = chunks.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
    const names = new Set(modules.flatMap((id) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? []));
    expect([...names]).toContain('react');
    const version = (name: string): string =>
      versioned.parse(JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'))).version;
    const notices = readFileSync(join(root, 'THIRD_PARTY_NOTICES'), 'utf8');
    const noticed = [...notices.matchAll(/^={80}\n(\S+ \S+)$/gm)].map(([, name]) => name);
    expect(noticed.sort()).toEqual([...names, 'elkjs'].map((name) => `${name} ${version(name)}`).sort());
    expect(notices).toContain('Eclipse Public License');
  });

  it('is clean for publint', async () => {
    const { messages, pkg } = await publint({ pkgDir: directory, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  it('has types that are found from ES modules, by Node and by bundlers', async () => {
    const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(tarball.path))));
    if (!analysis.types) throw new Error('The package has no types.');
    // It is made for ES modules: `require` of it is Node's affair, and resolution before Node 16 knows no exports.
    const problems = analysis.problems.filter(
      (problem) => !('resolutionKind' in problem && (problem.resolutionKind === 'node10' || problem.resolutionKind === 'node16-cjs')),
    );
    expect(problems).toEqual([]);
  });

  it('opens every entry; without what is optional all but Restate’s, which names what it lacks', async () => {
    const entries = ['sixgates', 'sixgates/machines', 'sixgates/testing', 'sixgates/testing/node', 'sixgates/inspect', 'sixgates/restate'];
    // Each in a process of its own: whether files can be evaluated may depend on which comes first.
    const opened = (...flags: readonly string[]) =>
      Promise.all(
        entries.map(async (entry) => {
          const open = `console.log(await import('${entry}').then((all) => Object.keys(all).length > 0, (error) => error.message));`;
          const { stdout } = await run(process.execPath, [...flags, '--input-type=module', '-e', open], { cwd: directory });
          return `${entry} ${stdout.trim()}`;
        }),
      );
    expect(await opened()).toEqual(entries.map((entry) => `${entry} true`));
    const missing = await opened('--import', withoutOptional);
    expect(missing.slice(0, -1)).toEqual(entries.slice(0, -1).map((entry) => `${entry} true`));
    expect(missing.at(-1)).toContain('@restatedev/restate-sdk');
  });
});

it('has declarations without an error, from which a program gets the types it was promised', { timeout: 300_000 }, async () => {
  const program = join(directory, 'types');
  mkdirSync(join(program, 'node_modules'), { recursive: true });
  try {
    symlinkSync(directory, join(program, 'node_modules/sixgates'));
    cpSync(join(root, 'test/types/public.test.ts'), join(program, 'public.ts'));
    const compilerOptions = {
      ...{ target: 'ES2023', lib: ['ES2023'], module: 'NodeNext', moduleResolution: 'NodeNext', types: ['node'], noEmit: true },
      ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false, preserveSymlinks: false },
    };
    writeFileSync(join(program, 'package.json'), '{"type":"module"}');
    writeFileSync(join(program, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['public.ts'] }));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [tsc, '-p', program], { cwd: program }).catch((error: { readonly stdout?: string }) => ({
      stdout: error.stdout ?? String(error),
    }));
    // What other packages declare wrongly is not ours to say.
    expect(stdout.split('\n').filter((line) => /^(public\.ts|\.\.\/dist)/.test(line))).toEqual([]);
  } finally {
    rmSync(program, { recursive: true, force: true });
  }
});

it('takes a stranger from an empty folder to a passing test with the steps of the README', async () => {
  const said = await goTheStrangersWay(directory);
  expect(said).toContain('It is 8 degrees in Oslo.');
  expect(said).toMatch(/# pass 1|ℹ pass 1/);
}, 300_000);
