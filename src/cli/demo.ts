import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { z } from 'zod';
import type { QueryEnded } from '../session/sending.js';
import { createSession, type Session } from '../session/session.js';
import type * as Testing from '../testing/index.js';
import { driveSession, exitCodeOf } from './drive.js';
import { CliError, EXIT_CODES, type ExitCode } from './failure.js';
import { reasonOf } from './files.js';
import { Interrupts } from './interrupts.js';
import { createProgressView } from './progress.js';
import { createScreen } from './screen.js';
import { addWatchOptions, gateMaker, watchOptionsSchema, watchSession, withGate } from './watching.js';

const optionsSchema = watchOptionsSchema.extend({ json: z.boolean().default(false), dir: z.string().optional() });

/** `sixgates demo`: a whole session without a network, on a copy of a small real project. */
export function demoCommand(): Command {
  const command = new Command('demo')
    .description('run a real session offline: a scripted model mends a bug in a copy of a small project')
    .option('--dir <dir>', 'where to work (default: a new temporary directory)')
    .option('--json', 'write every update as one line of JSON to standard output');
  return addWatchOptions(command)
    .addHelpText('after', `\nWith --inspect the page stays open after the flow, until Ctrl-C.\n${EXIT_CODES}`)
    .action(async (raw: unknown) => {
      process.exitCode = await demo(optionsSchema.parse(raw));
    });
}

const PROMPT = 'A test of this shop fails. Find the bug, mend it, and show me the ledger of the year afterwards.';

async function demo({ json, dir, ...watch }: z.infer<typeof optionsSchema>): Promise<ExitCode> {
  const newGate = await gateMaker(watch);
  const base = dir === undefined ? await mkdtemp(join(tmpdir(), 'sixgates-demo-')) : resolve(dir);
  const shop = join(base, 'corner-shop');
  await cp(demoProject(), shop, { recursive: true }).catch((error: unknown) => {
    throw new CliError(`The project cannot be copied to ${shop}: ${reasonOf(error)}.`);
  });
  const testing = await import('../testing/index.js');
  const server = await testing.scriptedServer({ script: flow(shop, testing) });
  const session = createSession({
    ...withGate(newGate()),
    cwd: shop,
    store: join(base, 'sessions'),
    settings: { home: base },
    model: { baseURL: server.url, apiKey: 'scripted', system: 'You mend small programs.' },
    permissions: { allow: ['Edit(/src/**)', 'Bash(npm test)', 'Bash(node scripts/*)'], deny: ['Bash(rm *)'] },
  });
  const screen = createScreen(process.stderr);
  const tell = (line: string) => screen.print(line);
  const interrupts = new Interrupts();
  try {
    if (!json) tell(`A scripted model works on a copy of a small shop in ${shop}.\nPrompt: ${PROMPT}\n`);
    interrupts.whenPressed(() => {
      tell('Interrupting … (Ctrl-C again leaves)');
      void session.interrupt();
    });
    const view = json ? undefined : createProgressView(screen);
    const nobody = { screen, asker: undefined, canPageAnswer: false, yesTo: () => undefined, onQuery: () => {} };
    const letGo = driveSession(session, { view, ...nobody });
    const watching = await watchSession(session, watch, tell);
    const ended = await Promise.race([session.send(PROMPT).done, interrupts.leaving]);
    await session.close();
    letGo();
    const code = typeof ended === 'number' ? ended : await conclude(ended, session, shop, json ? () => {} : tell);
    if (!json && watching.url === undefined && code === 0)
      tell('Look inside: npx sixgates demo --inspect (--break Bash stops before each command)');
    if (watching.url !== undefined && typeof ended !== 'number') {
      tell('The inspector stays open. Ctrl-C ends.');
      interrupts.reset();
      interrupts.whenPressed(() => interrupts.leave(code));
      const alive = setInterval(() => {}, 60_000);
      await interrupts.leaving;
      clearInterval(alive);
    }
    await watching.close();
    return code;
  } finally {
    screen.close();
    interrupts.close();
    await server.close();
  }
}

/** Says where everything lies, and checks that the flow did what it claims. */
async function conclude(ended: QueryEnded, session: Session, shop: string, tell: (line: string) => void): Promise<ExitCode> {
  const changed = join(shop, 'src/basket.js');
  const isMended = (await readFile(changed, 'utf8')) !== (await readFile(join(demoProject(), 'src/basket.js'), 'utf8'));
  tell('');
  tell(`Changed:     ${changed}${isMended ? '' : ' (not changed!)'}`);
  tell(`Transcript:  ${session.transcriptPath}`);
  tell(`Results:     ${session.resultsDir}`);
  return ended.end === 'completed' && !isMended ? 1 : exitCodeOf(ended);
}

/** What the scripted model does. It looks before it edits, is refused once, and meets one output too large to show. */
const flow = (shop: string, { text, toolUse }: Pick<typeof Testing, 'text' | 'toolUse'>): Testing.Script => [
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
