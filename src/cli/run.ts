import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import type { PermissionMode } from '../permissions/types.js';
import { createSession, type Session } from '../session/session.js';
import { parseMode } from '../settings/load.js';
import { createYesTo, TerminalAsker } from './ask.js';
import { attachTerminal, type ExitCode, exitCodeOf } from './drive.js';

const optionsSchema = z.object({
  model: z.string().optional(),
  maxTokens: z.number().optional(),
  baseUrl: z.string().optional(),
  cwd: z.string().optional(),
  settings: z.string().optional(),
  mode: z.custom<PermissionMode>().optional(),
  trust: z.boolean().optional(),
  system: z.string().optional(),
  resume: z.string().optional(),
  dataDir: z.string().optional(),
  maxTurns: z.number().optional(),
  yesTo: z.array(z.string()).default([]),
  json: z.boolean().default(false),
});
type RunOptions = z.infer<typeof optionsSchema>;

/** `sixgates run`: a real session on the current directory; with a prompt one-shot, without one a conversation. */
export function runCommand(): Command {
  return new Command('run')
    .description('give a model a prompt and let it work with tools, each call through the six gates')
    .argument('[prompt]', 'what to do; without it, a conversation begins')
    .option('--model <id>', 'model id (default: SIXGATES_MODEL, ANTHROPIC_MODEL)')
    .addOption(new Option('--max-tokens <n>', 'output limit of one answer').argParser(wholeNumber))
    .option('--base-url <url>', 'address of the Messages API (default: ANTHROPIC_BASE_URL)')
    .option('--system <text>', 'system prompt')
    .option('--cwd <dir>', 'working directory of the tools', process.cwd())
    .option('--settings <file>', "a further settings file, stronger than the project's")
    .addOption(
      new Option('--mode <mode>', 'permission mode: default, acceptEdits, plan, auto, dontAsk, bypassPermissions').argParser(modeOf),
    )
    .option('--trust', "let the project's own allow rules count")
    .option('--yes-to <rule>', 'answer yes to questions about calls this rule covers (may be repeated)', collect, [])
    .option('--resume <session>', 'go on with an earlier session of this directory')
    .option('--data-dir <dir>', 'where sessions are kept (default: SIXGATES_DATA_DIR, ~/.sixgates)')
    .addOption(new Option('--max-turns <n>', 'model requests per prompt').argParser(wholeNumber))
    .option('--json', 'write every update as one line of JSON to standard output')
    .addHelpText('after', '\nExit codes: 0 answered, 1 failed, 2 wrong usage, 3 ended by a limit, a hook or a refusal, 130 interrupted.')
    .action(async (prompt: string | undefined, raw: unknown) => {
      process.exitCode = await run(prompt, optionsSchema.parse(raw));
    });
}

async function run(prompt: string | undefined, options: RunOptions): Promise<ExitCode> {
  const cwd = resolve(options.cwd ?? process.cwd());
  const session = createSession({
    cwd,
    interactive: true,
    ...(options.resume === undefined ? {} : { resume: options.resume }),
    ...(options.dataDir === undefined ? {} : { store: resolve(options.dataDir) }),
    model: {
      ...(options.model === undefined ? {} : { id: options.model }),
      ...(options.maxTokens === undefined ? {} : { maxTokens: options.maxTokens }),
      ...(options.baseUrl === undefined ? {} : { baseURL: options.baseUrl }),
      ...(options.system === undefined ? {} : { system: options.system }),
    },
    permissions: options.mode === undefined ? {} : { mode: options.mode },
    settings: { trusted: options.trust === true, ...(options.settings === undefined ? {} : { file: resolve(options.settings) }) },
    limits: options.maxTurns === undefined ? {} : { maxTurns: options.maxTurns },
  });
  const asker = process.stdin.isTTY && !options.json ? new TerminalAsker(process.stdin, process.stderr) : undefined;
  const terminal = attachTerminal(session, { json: options.json, asker, yesTo: createYesTo(options.yesTo, cwd, homedir()) });
  try {
    return prompt === undefined ? await converse(session, terminal.leaving) : await answer(session, prompt, terminal.leaving, options.json);
  } finally {
    await session.close();
    terminal.detach();
    if (!options.json && session.transcriptPath !== null) process.stderr.write(`Transcript: ${session.transcriptPath}\n`);
  }
}

async function answer(session: Session, prompt: string, leaving: Promise<void>, json: boolean): Promise<ExitCode> {
  const ended = await Promise.race([session.send(prompt).done, leaving]);
  if (!ended) return 130;
  if (!json && !process.stdout.isTTY) process.stdout.write(`${ended.text}\n`);
  if (ended.end === 'modelError' || ended.end === 'runtimeError') process.stderr.write(`${ended.reason}\n`);
  return exitCodeOf(ended);
}

/** Prompt after prompt, until the input ends. */
async function converse(session: Session, leaving: Promise<void>): Promise<ExitCode> {
  let code: ExitCode = 0;
  const left = leaving.then(() => undefined);
  for (;;) {
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    const line = await Promise.race([
      terminal.question('› ').catch(() => undefined),
      left,
      new Promise<undefined>((end) => terminal.once('close', () => end(undefined))),
    ]);
    terminal.close();
    if (line === undefined || /^\/(exit|quit)$/.test(line.trim())) return code;
    if (line.trim() === '') continue;
    const next = await answer(session, line, leaving, false);
    if (next === 130 && session.actor.getSnapshot().status !== 'active') return next;
    code = next;
  }
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('a whole number above 0 is needed.');
  return Number(text);
}

function modeOf(text: string): PermissionMode {
  const mode = parseMode(text);
  if (mode === undefined) throw new InvalidArgumentError('modes are default, acceptEdits, plan, auto, dontAsk and bypassPermissions.');
  return mode;
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
