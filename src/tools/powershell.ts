import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { buildTool } from '../tool/build.js';
import { type BashOptions, mapShellOutput } from './bash/bash.js';
import { runShell, type ShellKind } from './bash/shell.js';
import { shellTimeouts } from './bash/shell-environment.js';
import { INLINE_CHARS, shellOutputSchema } from './bash/shell-output.js';

const inputSchema = z.strictObject({
  command: z.string().min(1).describe('The PowerShell command to run'),
  timeout: z
    .number()
    .positive()
    .optional()
    .describe('Milliseconds after which the command is stopped or moved to the background (default 120000, at most 600000)'),
  description: z.string().optional().describe('What the command does, in five to ten words'),
  run_in_background: z.boolean().optional().describe('Answer at once and let the command run on'),
  dangerouslyDisableSandbox: z.boolean().optional().describe('Run outside the sandbox, where there is one'),
});

const POWERSHELL: ShellKind = {
  kind: 'powershell',
  invocation: (command, cwdFile) => ({
    file: findPowerShell() ?? 'pwsh',
    // Encoded, since no quoting survives every way from here to there.
    args: [
      '-NoLogo',
      '-NoProfile',
      '-NonInteractive',
      '-EncodedCommand',
      Buffer.from(script(command, cwdFile), 'utf16le').toString('base64'),
    ],
  }),
  meaningOfExit(command, code) {
    const name = /^\s*(?:&\s*)?([\w.-]+)/
      .exec(command)?.[1]
      ?.toLowerCase()
      .replace(/\.exe$/, '');
    if (name === 'robocopy' && code >= 1 && code <= 7) return 'robocopy reports what it copied';
    if (code === 1 && name !== undefined && ['grep', 'rg', 'egrep', 'fgrep', 'findstr'].includes(name)) return 'no matches';
    return code === 1 && /^\s*git\s+(?:diff|grep)\b/.test(command) ? 'no matches, or differences' : undefined;
  },
};

/** Runs the command with its own exit code, and leaves the last directory in the file whatever happens. */
function script(command: string, cwdFile: string): string {
  const file = cwdFile.replaceAll("'", "''");
  return [
    "$ProgressPreference = 'SilentlyContinue'",
    '[Console]::OutputEncoding = [System.Text.UTF8Encoding]::new($false)',
    'try {',
    command,
    '$sixgatesOk = $?',
    `} finally { [System.IO.File]::WriteAllText('${file}', (Get-Location).ProviderPath) }`,
    'if ($null -ne $LASTEXITCODE) { exit $LASTEXITCODE }',
    'if (-not $sixgatesOk) { exit 1 }',
  ].join('\n');
}

/** The PowerShell on the path: 7 before the one that comes with Windows. */
export function findPowerShell(searchPath = process.env.PATH ?? ''): string | undefined {
  const names = process.platform === 'win32' ? ['pwsh.exe', 'powershell.exe'] : ['pwsh'];
  for (const name of names) {
    for (const folder of searchPath.split(path.delimiter).filter(Boolean)) {
      const file = path.join(folder, name);
      try {
        accessSync(file, constants.X_OK);
        return file;
      } catch {
        // Not in this folder.
      }
    }
  }
  return undefined;
}

/** Runs PowerShell commands, where there is a PowerShell. */
export function powershellTool(options: BashOptions = {}) {
  return buildTool({
    name: 'PowerShell',
    description: 'Run a PowerShell command',
    prompt:
      'Runs a PowerShell command and returns its output and exit code. Each call is a new process without profile; the working directory carries over inside the allowed directories. Output over 30,000 characters goes to a file.',
    inputSchema,
    outputSchema: shellOutputSchema,
    searchHint: 'powershell command terminal execute run',
    interruptBehavior: 'block',
    maxResultSizeChars: INLINE_CHARS,
    isEnabled: () => findPowerShell() !== undefined,
    timeoutMs: (input) => Math.min(input.timeout ?? 600_000, shellTimeouts(process.env).maxMs) + 30_000,
    toAutoClassifierInput: (input) => input.command,
    call: (input, context, onProgress) => runShell(POWERSHELL, input, context, onProgress, options.killTimes),
    mapToolResultToToolResultBlockParam: mapShellOutput,
    renderToolUseMessage: (input) => ({ title: input.description ?? 'PowerShell', body: input.command, format: 'code' }),
    renderToolResultMessage: (output) => ({ title: 'PowerShell', body: output.stdout, format: 'text' }),
  });
}
