import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { vi } from 'vitest';
import { type Script, type ScriptedServer, scriptedServer } from '../../src/testing/index.js';
import { tempDir } from '../support/sessions.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Stage {
  readonly server: ScriptedServer;
  /** What it printed so far, standard output and error together. */
  said(): string;
  /** Resolves with the whole of it when the program has ended. */
  readonly ended: Promise<string>;
}

/** Runs an example as its reader would, in an empty directory, with a scripted API server in the place of the model. */
export async function playExample(
  name: string,
  script: Script,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Stage> {
  const server = await scriptedServer({ script });
  const home = process.cwd();
  const directory = tempDir();
  process.chdir(directory);
  const more = { ANTHROPIC_API_KEY: 'test', ANTHROPIC_BASE_URL: server.url, HOME: directory, ...env };
  for (const [key, value] of Object.entries(more)) vi.stubEnv(key, value);
  const { argv } = process;
  process.argv = [argv[0] ?? 'node', name, ...args];
  const parts: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => parts.push(String(chunk)) > 0);
  for (const method of ['log', 'error'] as const)
    vi.spyOn(console, method).mockImplementation((...words: readonly unknown[]) => {
      parts.push(`${words.join(' ')}\n`);
    });
  const ended = import(pathToFileURL(join(root, 'examples', name)).href)
    .then(() => parts.join(''))
    .finally(async () => {
      vi.restoreAllMocks();
      vi.unstubAllEnvs();
      process.argv = argv;
      process.chdir(home);
      await server.close();
    });
  return { server, said: () => parts.join(''), ended };
}
