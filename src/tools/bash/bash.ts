import { existsSync } from 'node:fs';
import path from 'node:path';
import { buildTool } from '../../tool/build.js';
import { meaningOfExitOne } from './exit-codes.js';
import type { ShellKind } from './shell.js';
import { type ShellToolOptions, shellInput, shellTraits } from './shell-tool.js';

const PROMPT = `Runs a shell command and returns its output and exit code.
- Each call is a new shell. The working directory carries over between calls while it stays inside the allowed directories; variables and functions do not.
- The command has no terminal and no input. Output over 30,000 characters goes to a file that you are told.
- Prefer Read, Edit, Write, Glob and Grep over cat, sed, find and grep.
- For long work set run_in_background; you are told when it ends.`;

/** Runs in the shell, keeping the exit code and telling the last directory also when the command calls exit. */
const WRAPPER =
  'sixgates_command=$1; sixgates_cwd=$2; shift 2; for sixgates_env in "$@"; do . "$sixgates_env"; done; set --; ' +
  'trap \'command pwd -P >| "$sixgates_cwd" 2>/dev/null\' EXIT; eval "$sixgates_command"';

const BASH: ShellKind = {
  kind: 'bash',
  invocation: (command, cwdFile, env, envFiles) => ({
    file: shellPath(env),
    args: ['-c', WRAPPER, 'bash', command, cwdFile, ...envFiles],
  }),
  meaningOfExit: (command, code, isQuiet) => (code === 1 ? meaningOfExitOne(command, isQuiet) : undefined),
};

/** Runs shell commands. */
export function bashTool(options: ShellToolOptions = {}) {
  return buildTool({
    ...shellTraits('Bash', BASH, options),
    name: 'Bash',
    description: 'Run a shell command',
    prompt: PROMPT,
    inputSchema: shellInput('The command to run'),
    isEnabled: () => process.platform !== 'win32',
  });
}

function shellPath(env: Readonly<Record<string, string | undefined>>): string {
  const wanted = env.CLAUDE_CODE_SHELL;
  if (wanted !== undefined && wanted !== '') return wanted;
  const login = env.SHELL;
  if (login !== undefined && /^(?:bash|zsh)$/.test(path.basename(login)) && existsSync(login)) return login;
  return existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';
}
