import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'jsonc-parser';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { pagesWithDiagrams, withDiagrams } from '../../scripts/docs.js';
import { HOOK_EVENTS } from '../../src/hooks/types.js';
import { ALL_MODES, type ScriptedServer, scriptedServer } from '../../src/testing/index.js';
import { getAllBaseTools } from '../../src/tool/index.js';
import { builtSources } from '../support/builtSources.js';
import { type Block, linksOf } from './blocks.js';
import { BLOCKS, clearStage, directoryOf, fileOf, PAGES, place, root, setStage, stage, typeErrors } from './stage.js';
import { SCRIPTS } from './worlds.js';

const run = promisify(execFile);
const MAIN = join(root, 'src/cli/main.ts');
const home = process.cwd();
/** Commands and compilers are processes of their own: on a busy machine they take their time. */
const PATIENT = { timeout: 120_000 };

const isRunnable = ({ language, marks }: Block): boolean =>
  (language === 'ts' || language === 'sh') && marks['not run'] === undefined && marks.file === undefined;

let cli: string;
/** What the blocks of the pages said. Pages are played beside one another, the blocks of a page one after another. */
const played = new Map<Block, Promise<string>>();
let compiled: Promise<readonly string[]>;
let passed: Promise<string>;

beforeAll(async () => {
  const library = await builtSources();
  setStage(library);
  cli = join(library, 'dist/src/cli/main.js');
  for (const page of PAGES) {
    let before: Promise<unknown> = Promise.resolve();
    for (const block of BLOCKS.filter((one) => one.page === page && isRunnable(one))) {
      const playing = before.then(() => play(block));
      played.set(block, playing);
      before = playing.catch(() => {});
    }
  }
  compiled = typeErrors();
  passed = runTests();
  // What fails is told by the test that looks at it.
  for (const work of [compiled, passed]) work.catch(() => {});
});
afterAll(async () => {
  await Promise.allSettled([...played.values(), compiled, passed]);
  process.chdir(home);
  clearStage();
});

it('holds blocks of TypeScript that compile', PATIENT, async () => {
  expect(await compiled).toEqual([]);
});

it('links to files that exist', () => {
  const broken = PAGES.flatMap((page) =>
    linksOf(join(root, page)).flatMap(({ target, line }) => {
      const [path = ''] = target.split('#');
      return existsSync(join(dirname(join(root, page)), path)) ? [] : [`${page}:${line}: ${target}`];
    }),
  );
  expect(broken).toEqual([]);
});

it('shows the machines as they are; after a change, run npm run docs', () => {
  const stale = pagesWithDiagrams().filter((page) => withDiagrams(readFileSync(page, 'utf8')) !== readFileSync(page, 'utf8'));
  expect(stale).toEqual([]);
});

it('names every event, mode, tool, machine, command and example there is', () => {
  const holds = (page: string, names: readonly string[]): readonly string[] => {
    const said = readFileSync(join(root, page), 'utf8');
    return names.filter((name) => !said.includes(name)).map((name) => `${page} lacks ${name}`);
  };
  const files = (directory: string, ending: string): readonly string[] =>
    readdirSync(join(root, directory)).filter((name) => name.endsWith(ending));
  const tools = getAllBaseTools()
    .map(({ name }) => name)
    .filter((name) => !name.endsWith('Worktree'));
  const commands = [...readFileSync(MAIN, 'utf8').matchAll(/^ {2}(\w+)Command\(\)/gm)].map(([, name]) => `sixgates ${name}`);
  expect(commands.length).toBeGreaterThan(5);
  expect([
    ...holds('docs/permissions-and-hooks.md', [...HOOK_EVENTS, ...ALL_MODES.filter((mode) => mode !== 'autoWithClassifier')]),
    ...holds('README.md', [...tools, ...commands, ...files('visualizations/diagrams', '.md'), ...files('examples', '.ts')]),
    ...holds(
      'docs/machines.md',
      files('visualizations/diagrams', '.md').map((name) => `## ${name.replace('.md', '')}`),
    ),
  ]).toEqual([]);
});

it('knows every language that a block is written in', () => {
  const known = ['ts', 'sh', 'json', 'md', 'text', 'mermaid', 'yaml'];
  expect(BLOCKS.filter(({ language }) => !known.includes(language)).map(place)).toEqual([]);
});

it.each(BLOCKS.filter(({ language }) => language === 'json').map((block) => [place(block), block] as const))(
  '%s is JSON',
  (_, { text }) => {
    const errors: unknown[] = [];
    parse(text, errors as Parameters<typeof parse>[1], { allowTrailingComma: false });
    expect(errors).toEqual([]);
  },
);

describe.each(PAGES.filter((page) => BLOCKS.some((block) => block.page === page && isRunnable(block))))('%s', (page) => {
  const blocks = BLOCKS.filter((block) => block.page === page);
  for (const block of blocks.filter(isRunnable)) {
    it(`${block.language} block in line ${block.line} runs, and says what the page says`, PATIENT, async () => {
      const said = await played.get(block);
      const next = blocks[blocks.indexOf(block) + 1];
      if (next?.language === 'text') for (const line of linesOf(next)) expect(said).toContain(line);
    });
  }
});

const tests = BLOCKS.filter(({ marks }) => marks.file?.endsWith('.test.ts') === true);
it.runIf(tests.length > 0)('holds tests that pass', PATIENT, async () => {
  expect(await passed).toMatch(new RegExp(`Test Files\\s+${tests.length} passed`));
});

async function runTests(): Promise<string> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = ['run', '--config', join(root, 'test/docs/vitest.pages.ts'), '--dir', stage];
  const env = { ...process.env, HOME: stage, NO_COLOR: '1' };
  const { stdout } = await run(process.execPath, [vitest, ...args], { cwd: root, env }).catch(
    (error: { readonly stdout?: string; readonly stderr?: string }) => {
      throw new Error(`${error.stdout ?? ''}${error.stderr ?? ''}`);
    },
  );
  return stdout;
}

/** Lines that must be there as they are; `…` stands for anything, so what is around it is looked for piece by piece. */
const linesOf = ({ text }: Block): readonly string[] =>
  text
    .split('\n')
    .flatMap((line) => line.split('…'))
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '');

async function play(block: Block): Promise<string> {
  const server = await serverFor(block);
  const env = {
    HOME: stage,
    SIXGATES_DATA_DIR: join(directoryOf(block.page), '.sixgates'),
    ANTHROPIC_API_KEY: 'test',
    ANTHROPIC_BASE_URL: server?.url ?? 'http://127.0.0.1:9',
    NO_COLOR: '1',
  };
  try {
    const said = block.language === 'ts' ? await playCode(block, env) : await playCommands(block, env);
    server?.assertConsumed();
    return said;
  } finally {
    await server?.close();
  }
}

async function serverFor({ marks }: Block): Promise<ScriptedServer | undefined> {
  if (marks.model === undefined) return undefined;
  const script = SCRIPTS[marks.model];
  if (script === undefined) throw new Error(`There is no script ${marks.model}.`);
  return await scriptedServer({ script });
}

/** Blocks of TypeScript run in this process, whose directory, environment and console they share: one at a time. */
let free: Promise<unknown> = Promise.resolve();
function playCode(block: Block, env: Readonly<Record<string, string>>): Promise<string> {
  const playing = free.then(() => playAlone(block, env));
  free = playing.catch(() => {});
  return playing;
}

async function playAlone(block: Block, env: Readonly<Record<string, string>>): Promise<string> {
  const said: string[] = [];
  const listen = (chunk: unknown): boolean => said.push(String(chunk)) > 0;
  process.chdir(directoryOf(block.page));
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  vi.spyOn(process.stdout, 'write').mockImplementation(listen);
  for (const method of ['log', 'error'] as const)
    vi.spyOn(console, method).mockImplementation((...parts: readonly unknown[]) => {
      said.push(`${parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join(' ')}\n`);
    });
  try {
    await import(pathToFileURL(fileOf(block)).href);
    return said.join('');
  } finally {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    process.chdir(home);
  }
}

/** `npx sixgates` is the command line of the sources; everything else is what it is. */
async function playCommands({ page, text, marks }: Block, env: Readonly<Record<string, string>>): Promise<string> {
  const script = `npx() { shift; "${process.execPath}" "${cli}" "$@"; }\n${text}`;
  const cwd = directoryOf(page);
  const ended = await run('bash', ['-c', script], { cwd, env: { ...process.env, ...env } }).catch(
    (error: { readonly code?: number; readonly stdout?: string; readonly stderr?: string }) => error,
  );
  const said = `${ended.stdout ?? ''}${ended.stderr ?? ''}`;
  expect('code' in ended ? ended.code : 0, said).toBe(Number(marks.exit ?? 0));
  return said;
}
