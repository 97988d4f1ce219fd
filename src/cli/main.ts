#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { z } from 'zod';
import { checkCommand } from './check.js';
import { demoCommand } from './demo.js';
import { diagramCommand } from './diagram.js';
import { explainCommand } from './explain.js';
import { CliError, messageOf } from './failure.js';
import { importCommand } from './importTranscript.js';
import { inspectCommand } from './inspectFile.js';
import { runCommand } from './run.js';
import { serveCommand } from './serve.js';
import { sessionsCommand } from './sessions.js';

const commands: readonly Command[] = [
  runCommand(),
  serveCommand(),
  demoCommand(),
  explainCommand(),
  inspectCommand(),
  sessionsCommand(),
  importCommand(),
  checkCommand(),
  diagramCommand(),
];

const packageJson = z.object({ version: z.string() });

function version(): string {
  // From dist/src/cli, or from src/cli in a checkout.
  for (const place of ['../../../package.json', '../../package.json']) {
    try {
      return packageJson.parse(JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8'))).version;
    } catch {
      // The other place has it.
    }
  }
  return 'unknown';
}

const program = new Command('sixgates')
  .description('An actor runtime for the tool calls of LLM agents: six gates between a tool_use and your machine.')
  .version(version())
  .showHelpAfterError('(see --help)')
  .exitOverride();
for (const command of commands) program.addCommand(command.showHelpAfterError('(see --help)').exitOverride());

/** Commander has said what was wrong with the command line; everything else is said here, without a stack. */
function exitCodeFor(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  process.stderr.write(`sixgates: ${messageOf(error)}\n`);
  return error instanceof CliError ? error.exitCode : 1;
}

// Whoever pipes into `head` has seen enough. Commands that hold something open leave in good order by themselves (see Interrupts).
for (const stream of [process.stdout, process.stderr]) {
  const onError = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    if (stream.listeners('error').every((listener) => listener === onError)) process.exit(1);
  };
  stream.on('error', onError);
}

program.parseAsync().catch((error: unknown) => {
  process.exitCode = exitCodeFor(error);
});
