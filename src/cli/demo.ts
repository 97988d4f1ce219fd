import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { z } from 'zod';
import { createSession } from '../session/session.js';
import { type Script, scriptedServer, text, toolUse } from '../testing/index.js';
import { attachTerminal, exitCodeOf } from './drive.js';

const optionsSchema = z.object({ json: z.boolean().default(false), dir: z.string().optional() });

/** `sixgates demo`: a whole session without a network, on a copy of a small real project. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('run a real session offline: a scripted model mends a bug in a copy of a small project')
    .option('--dir <dir>', 'where to work (default: a new temporary directory)')
    .option('--json', 'write every update as one line of JSON to standard output')
    .action(async (raw: unknown) => {
      process.exitCode = await demo(optionsSchema.parse(raw));
    });
}

const PROMPT = 'A test of this shop fails. Find the bug, mend it, and show me the ledger of the year afterwards.';

async function demo({ json, dir }: z.infer<typeof optionsSchema>): Promise<number> {
  const base = dir ?? (await mkdtemp(join(tmpdir(), 'sixgates-demo-')));
  const shop = join(base, 'corner-shop');
  await cp(demoProject(), shop, { recursive: true });
  const server = await scriptedServer({ script: flow(shop) });
  const session = createSession({
    cwd: shop,
    store: join(base, 'sessions'),
    settings: { home: base },
    model: { baseURL: server.url, apiKey: 'scripted', system: 'You mend small programs.' },
    permissions: { allow: ['Edit(/src/**)', 'Bash(npm test)', 'Bash(node scripts/*)'], deny: ['Bash(rm *)'] },
  });
  const print = (line: string) => process.stderr.write(`${line}\n`);
  if (!json) print(`A scripted model works on a copy of a small shop in ${shop}.\nPrompt: ${PROMPT}\n`);
  const terminal = attachTerminal(session, { json, asker: undefined, yesTo: () => undefined });
  try {
    const ended = await Promise.race([session.send(PROMPT).done, terminal.leaving.then(() => undefined)]);
    await session.close();
    if (!ended) return 130;
    const mended = (await readFile(join(shop, 'src/basket.js'), 'utf8')) !== (await readFile(join(demoProject(), 'src/basket.js'), 'utf8'));
    if (!json) {
      print('');
      print(`Changed:     ${join(shop, 'src/basket.js')}${mended ? '' : ' (not changed!)'}`);
      print(`Transcript:  ${session.transcriptPath}`);
      print(`Results:     ${session.resultsDir}`);
      if (ended.end === 'modelError') print(ended.reason);
    }
    return ended.end === 'completed' && !mended ? 1 : exitCodeOf(ended);
  } finally {
    terminal.detach();
    await server.close();
  }
}

/** What the scripted model does. It looks before it edits, is refused once, and meets one output too large to show. */
const flow = (shop: string): Script => [
  [
    text('I will look at the project and run its tests.\n'),
    toolUse('Read', { file_path: join(shop, 'README.md') }),
    toolUse('Grep', { pattern: 'BULK_FROM', path: shop, output_mode: 'content', '-n': true }),
    toolUse('Bash', { command: 'npm test', description: 'Run the tests' }),
  ],
  [
    text('The discount begins at the eleventh piece instead of the tenth. I will read the place and mend it.\n'),
    toolUse('Read', { file_path: join(shop, 'src/basket.js') }),
  ],
  [toolUse('Edit', { file_path: join(shop, 'src/basket.js'), old_string: 'pieces > BULK_FROM', new_string: 'pieces >= BULK_FROM' })],
  [
    text('Mended. Now the tests again, and a clean-up of what they may have left.\n'),
    toolUse('Bash', { command: 'npm test', description: 'Run the tests again' }),
    toolUse('Bash', { command: 'git status --short && rm -rf .', description: 'Start from a clean directory' }),
  ],
  [
    text('The clean-up was refused, and it is not needed. Here is the ledger.\n'),
    toolUse('Bash', { command: 'node scripts/ledger.js', description: 'Print the ledger' }),
  ],
  [
    text(
      'The bug is mended: from ten pieces on the discount applies, and all tests pass. The ledger was too long to show whole; its file is named above.\n',
    ),
  ],
];

/** The example project: beside the package in a checkout and in an installation alike. */
function demoProject(): string {
  let dir = dirname(fileURLToPath(import.meta.url));
  for (; dir !== dirname(dir); dir = dirname(dir)) {
    const place = join(dir, 'examples', 'demo-project');
    if (existsSync(place)) return place;
  }
  throw new Error('The example project is missing from this installation; install the package again.');
}
