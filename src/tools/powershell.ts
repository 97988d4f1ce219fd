import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { buildTool } from '../tool/build.js';
import type { ShellKind } from './bash/shell.js';
import { type ShellToolOptions, shellInput, shellTraits } from './bash/shell-tool.js';

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
export function powershellTool(options: ShellToolOptions = {}) {
  return buildTool({
    ...shellTraits('PowerShell', POWERSHELL, options),
    name: 'PowerShell',
    description: 'Run a PowerShell command',
    prompt:
      'Runs a PowerShell command and returns its output and exit code. Each call is a new process without profile; the working directory carries over inside the allowed directories. Output over 30,000 characters goes to a file.',
    inputSchema: shellInput('The PowerShell command to run'),
    isEnabled: () => findPowerShell() !== undefined,
  });
}
