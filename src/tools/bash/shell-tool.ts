import { z } from 'zod';
import { persistedOutput } from '../../results/persist.js';
import type { ToolDefinition } from '../../tool/build.js';
import type { MappedToolResult } from '../../tool/types.js';
import type { KillTimes } from './process-tree.js';
import { runShell, type ShellKind } from './shell.js';
import { shellTimeouts } from './shell-environment.js';
import { INLINE_CHARS, type ShellOutput, shellOutputSchema } from './shell-output.js';

/** The input of the shell tools. */
export const shellInput = (command: string) =>
  z.strictObject({
    command: z.string().min(1).describe(command),
    timeout: z
      .number()
      .positive()
      .optional()
      .describe('Milliseconds after which the command is stopped or moved to the background (default 120000, at most 600000)'),
    description: z.string().optional().describe('What the command does, in five to ten words'),
    run_in_background: z.boolean().optional().describe('Answer at once and let the command run on'),
    dangerouslyDisableSandbox: z.boolean().optional().describe('Run outside the sandbox, where there is one'),
  });
type ShellInput = z.output<ReturnType<typeof shellInput>>;

export interface ShellToolOptions {
  readonly killTimes?: KillTimes;
}

/** What the shell tools share: how a command is run, how long it may take, and how it and its output are shown. */
export const shellTraits = (name: string, shell: ShellKind, { killTimes }: ShellToolOptions) =>
  ({
    outputSchema: shellOutputSchema,
    searchHint: `${shell.kind} shell command terminal execute run`,
    interruptBehavior: 'block',
    maxResultSizeChars: INLINE_CHARS,
    // The tool keeps its own time; this is for a tool that fails to.
    timeoutMs: ({ timeout = Number.POSITIVE_INFINITY }, env) => Math.min(timeout, shellTimeouts(env).maxMs) + 30_000,
    toAutoClassifierInput: (input) => input.command,
    call: (input, context, onProgress) => runShell(shell, input, context, onProgress, killTimes),
    // One copy of each stream, the exit code once, then notes.
    mapToolResultToToolResultBlockParam: (output): MappedToolResult => ({
      content: shellText(output),
      ...(output.isFailure ? { isError: true } : {}),
    }),
    renderToolUseMessage: (input) => ({ title: input.description ?? name, body: input.command, format: 'code' }),
    renderToolResultMessage: (output) => ({ title: name, body: shellText(output), format: 'text' }),
  }) satisfies Partial<ToolDefinition<ShellInput, ShellOutput>>;

function shellText(output: ShellOutput): string {
  const parts: string[] = [];
  if (output.isFailure && output.exitCode !== null) parts.push(`Exit code ${output.exitCode}`);
  if (output.isFailure && output.exitCode === null && output.timedOutAfterMs === undefined && output.notStarted !== true)
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
