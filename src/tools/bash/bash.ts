import { existsSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { persistedOutput } from '../../results/persist.js';
import { buildTool } from '../../tool/build.js';
import type { MappedToolResult } from '../../tool/types.js';
import { meaningOfExitOne } from './exit-codes.js';
import type { KillTimes } from './process-tree.js';
import { runShell, type ShellKind } from './shell.js';
import { shellTimeouts } from './shell-environment.js';
import { INLINE_CHARS, type ShellOutput, shellOutputSchema } from './shell-output.js';

const inputSchema = z.strictObject({
  command: z.string().min(1).describe('The command to run'),
  timeout: z
    .number()
    .positive()
    .optional()
    .describe('Milliseconds after which the command is stopped or moved to the background (default 120000, at most 600000)'),
  description: z.string().optional().describe('What the command does, in five to ten words'),
  run_in_background: z.boolean().optional().describe('Answer at once and let the command run on'),
  dangerouslyDisableSandbox: z.boolean().optional().describe('Run outside the sandbox, where there is one'),
});

const PROMPT = `Runs a shell command and returns its output and exit code.
- Each call is a new shell. The working directory carries over between calls while it stays inside the allowed directories; variables and functions do not.
- The command has no terminal and no input. Output over 30,000 characters goes to a file that you are told.
- Prefer Read, Edit, Write, Glob and Grep over cat, sed, find and grep.
- For long work set run_in_background; you are told when it ends.`;

/** Runs in the shell, keeping the exit code and telling the last directory also when the command calls exit. */
const WRAPPER = 'sixgates_command=$1; sixgates_cwd=$2; set --; trap \'pwd -P >| "$sixgates_cwd"\' EXIT; eval "$sixgates_command"';

const BASH: ShellKind = {
  kind: 'bash',
  invocation: (command, cwdFile, env) => ({
    file: shellPath(env),
    args: ['-c', WRAPPER, 'bash', command, cwdFile],
  }),
  meaningOfExit: (command, code) => (code === 1 ? meaningOfExitOne(command) : undefined),
};

export interface BashOptions {
  readonly killTimes?: KillTimes;
}

/** Runs shell commands. */
export function bashTool(options: BashOptions = {}) {
  return buildTool({
    name: 'Bash',
    description: 'Run a shell command',
    prompt: PROMPT,
    inputSchema,
    outputSchema: shellOutputSchema,
    searchHint: 'shell command terminal execute run',
    interruptBehavior: 'block',
    maxResultSizeChars: INLINE_CHARS,
    isEnabled: () => process.platform !== 'win32',
    // The tool keeps its own time; this is for a tool that fails to.
    timeoutMs: (input) => Math.min(input.timeout ?? 600_000, shellTimeouts(process.env).maxMs) + 30_000,
    toAutoClassifierInput: (input) => input.command,
    call: (input, context, onProgress) => runShell(BASH, input, context, onProgress, options.killTimes),
    mapToolResultToToolResultBlockParam: mapShellOutput,
    renderToolUseMessage: (input) => ({ title: input.description ?? 'Bash', body: input.command, format: 'code' }),
    renderToolResultMessage: (output) => ({ title: 'Bash', body: shellText(output), format: 'text' }),
  });
}

/** One copy of each stream, the exit code once, then notes. */
export function mapShellOutput(output: ShellOutput): MappedToolResult {
  return { content: shellText(output), ...(output.isFailure ? { isError: true } : {}) };
}

function shellText(output: ShellOutput): string {
  const parts: string[] = [];
  if (output.isFailure && output.exitCode !== null) parts.push(`Exit code ${output.exitCode}`);
  if (output.isFailure && output.exitCode === null && output.timedOutAfterMs === undefined)
    parts.push(`Ended by ${output.signal ?? 'a signal'}`);
  if (output.persistedOutputPath !== undefined) {
    const file = {
      path: output.persistedOutputPath,
      chars: 0,
      bytes: output.persistedOutputSize ?? 0,
      ...(output.persistedOutputKept === undefined ? {} : { keptBytes: output.persistedOutputKept }),
    };
    parts.push(persistedOutput(file, output.stdout, output.outputTail));
  } else {
    parts.push(trimmed(output.stdout), trimmed(output.stderr));
  }
  if (output.returnCodeInterpretation !== undefined) parts.push(`(exit code ${output.exitCode}: ${output.returnCodeInterpretation})`);
  parts.push(...output.notes);
  return parts.filter((part) => part !== '').join('\n');
}

/** Without blank lines at the start and white space at the end; the first line's indentation stays. */
function trimmed(text: string): string {
  return text.replace(/^(?:[ \t]*\r?\n)+/, '').trimEnd();
}

function shellPath(env: Readonly<Record<string, string | undefined>>): string {
  const wanted = env.CLAUDE_CODE_SHELL;
  if (wanted !== undefined && wanted !== '') return wanted;
  const login = env.SHELL;
  if (login !== undefined && /^(?:bash|zsh)$/.test(path.basename(login)) && existsSync(login)) return login;
  return existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';
}
