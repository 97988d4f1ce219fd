#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { z } from 'zod';
import { demoCommand } from './demo.js';
import { explainCommand } from './explain.js';
import { runCommand } from './run.js';

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
  .addCommand(runCommand())
  .addCommand(demoCommand())
  .addCommand(explainCommand());

program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`sixgates: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
