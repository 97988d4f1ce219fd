import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Block, blocksOf } from './blocks.js';
import { PRELUDES } from './worlds.js';

const run = promisify(execFile);
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Inside the project, so that blocks find its dependencies; outside of what any other tool looks at. */
export const stage = join(root, 'docs-stage', String(process.pid));

/** The benchmarks' page is made by the benchmark. */
export const PAGES = ['README.md', 'CONTRIBUTING.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)].filter(
  (page) => page.endsWith('.md') && page !== 'docs/benchmarks.md' && existsSync(join(root, page)),
);

export const BLOCKS: readonly Block[] = PAGES.flatMap((page) => blocksOf(join(root, page), page));

export const directoryOf = (page: string): string => join(stage, basename(page, '.md').toLowerCase());

const isCode = ({ language }: Block): boolean => language === 'ts';

/** Where a block of TypeScript is written. */
export const fileOf = ({ page, line, marks }: Block): string => join(directoryOf(page), marks.file ?? `line-${line}.ts`);

/**
 * Every page gets a directory with a copy of the demo project, and its blocks as files. What Node itself loads there finds the package
 * installed: `library` is its directory.
 */
export function setStage(library: string): void {
  mkdirSync(join(stage, 'node_modules'), { recursive: true });
  symlinkSync(library, join(stage, 'node_modules/sixgates'));
  for (const page of PAGES) {
    const directory = directoryOf(page);
    mkdirSync(directory, { recursive: true });
    cpSync(join(root, 'examples/demo-project'), directory, { recursive: true });
  }
  for (const block of BLOCKS) {
    if (block.marks.file === undefined && !isCode(block)) continue;
    const file = fileOf(block);
    mkdirSync(join(file, '..'), { recursive: true });
    const prelude = block.marks.with === undefined ? undefined : PRELUDES[block.marks.with];
    if (block.marks.with !== undefined && prelude === undefined) throw new Error(`${place(block)}: there is no "${block.marks.with}".`);
    writeFileSync(file, prelude === undefined ? `${block.text}\n` : `${prelude.before}\n${block.text}\n${prelude.after}\n`);
  }
}

export const clearStage = (): void => rmSync(stage, { recursive: true, force: true });

export const place = ({ page, line }: Block): string => `${page}:${line}`;

/** What the compiler says of all blocks of TypeScript. */
export async function typeErrors(): Promise<readonly string[]> {
  const up = '../../';
  const paths = {
    sixgates: [`${up}src/index.ts`],
    'sixgates/machines': [`${up}src/machines.ts`],
    'sixgates/testing': [`${up}src/testing/index.ts`],
    'sixgates/testing/vitest': [`${up}src/testing/vitest.ts`],
    'sixgates/testing/node': [`${up}src/testing/node.ts`],
    'sixgates/inspect': [`${up}src/inspect/index.ts`],
    'sixgates/restate': [`${up}src/durable/index.ts`],
  };
  writeFileSync(
    join(stage, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../tsconfig.json',
      // A page's names are its reader's; that it uses each of them is no matter.
      compilerOptions: { paths, noUnusedLocals: false, noUnusedParameters: false, moduleDetection: 'force' },
      include: ['*/*.ts'],
      exclude: [],
    }),
  );
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const said = await run(process.execPath, [tsc, '--noEmit', '-p', stage], { cwd: stage }).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout?: string }) => error.stdout ?? String(error),
  );
  // Errors of the sources are for the project's own check of types.
  return said.split('\n').filter((line) => /^[\w-]+\/[^:]+\.ts\(/.test(line));
}
