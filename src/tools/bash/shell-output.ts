import { z } from 'zod';
import { sniffMediaType } from '../../results/media.js';
import { formatBytes, looksBinary } from '../../results/text.js';
import type { ToolContext } from '../../tool/types.js';
import type { LivingProcess } from './process-tree.js';
import type { CommandExit, RunningCommand } from './run.js';
import type { ShellKind, ShellRequest } from './shell.js';

/** What became of a command. */
export interface ShellOutput {
  readonly stdout: string;
  readonly stderr: string;
  /** Null when a signal ended the command, or while it runs in the background. */
  readonly exitCode: number | null;
  readonly signal?: NodeJS.Signals;
  readonly interrupted: boolean;
  readonly isFailure: boolean;
  /** True for a command that was refused before it began; a note says why. */
  readonly notStarted?: true;
  readonly timedOutAfterMs?: number;
  readonly returnCodeInterpretation?: string;
  readonly backgroundTaskId?: string;
  /** Where a background task's output goes. */
  readonly outputFile?: string;
  /** Where the whole output is when it is too long to show; `stdout` then holds its start and `outputTail` its end. */
  readonly persistedOutputPath?: string;
  readonly persistedOutputSize?: number;
  /** Bytes in that file, when it holds less than the command wrote. */
  readonly persistedOutputKept?: number;
  readonly outputTail?: string;
  /** What the model should know beside the output. */
  readonly notes: readonly string[];
}

/** The same as a hook may put it in place of what a command wrote: the streams, and what it does not say is nothing out of the ordinary. */
export const shellOutputSchema: z.ZodType<ShellOutput> = z.object({
  stdout: z.string(),
  stderr: z.string().default(''),
  exitCode: z.number().nullable().default(0),
  interrupted: z.boolean().default(false),
  isFailure: z.boolean().default(false),
  returnCodeInterpretation: z.string().exactOptional(),
  backgroundTaskId: z.string().exactOptional(),
  outputFile: z.string().exactOptional(),
  persistedOutputPath: z.string().exactOptional(),
  persistedOutputSize: z.number().exactOptional(),
  persistedOutputKept: z.number().exactOptional(),
  outputTail: z.string().exactOptional(),
  notes: z.array(z.string()).default([]),
});

/** Characters of output that are shown whole. */
export const INLINE_CHARS = 30_000;

/** The output of a command whose shell has exited. Too long or binary output goes to the file. */
export async function finished(
  shell: ShellKind,
  request: ShellRequest,
  context: ToolContext,
  command: RunningCommand,
  exit: CommandExit,
): Promise<ShellOutput> {
  const { output } = command;
  const stdout = output.text('stdout');
  const stderr = output.text('stderr');
  const meaning = meaningOf(shell, request, exit, stderr);
  const base = {
    exitCode: exit.code,
    ...(exit.signal === null ? {} : { signal: exit.signal }),
    interrupted: context.signal.aborted,
    isFailure: exit.code !== 0 && meaning === undefined,
    ...(meaning === undefined ? {} : { returnCodeInterpretation: meaning }),
    notes: [],
  };
  const { head, tail, headBytes } = output.ends();
  if (looksBinary(head)) {
    await output.saveToFile();
    const type = sniffMediaType(headBytes) ?? 'unknown type';
    const where = output.failure === undefined ? `saved to ${output.filePath}` : `not saved: ${output.failure}`;
    return { ...base, stdout: `(binary output: ${formatBytes(output.totalBytes)}, ${type}; ${where})`, stderr: '' };
  }
  if (stdout !== undefined && stderr !== undefined && stdout.length + stderr.length <= INLINE_CHARS) return { ...base, stdout, stderr };
  await output.saveToFile();
  if (output.failure !== undefined) {
    return { ...base, stdout: `${head}\n[… the middle is left out and could not be saved: ${output.failure} …]\n${tail}`, stderr: '' };
  }
  return {
    ...base,
    stdout: head,
    stderr: '',
    outputTail: tail,
    persistedOutputPath: output.filePath,
    persistedOutputSize: output.totalBytes,
    ...(output.keptBytes < output.totalBytes ? { persistedOutputKept: output.keptBytes } : {}),
  };
}

/** What the exit code means where it is no failure. `stderr`: what was written to it, undefined where that is not at hand any more. */
export function meaningOf(shell: ShellKind, request: ShellRequest, { code }: CommandExit, stderr: string | undefined): string | undefined {
  return code === null || code === 0 ? undefined : shell.meaningOfExit(request.command, code, stderr === '');
}

export function notRun(why: string): ShellOutput {
  return { stdout: '', stderr: '', exitCode: null, interrupted: false, isFailure: true, notStarted: true, notes: [why] };
}

export function withNote(output: ShellOutput, note: string): ShellOutput {
  return { ...output, notes: [...output.notes, note] };
}

/** Says so when a signal did not end everything: nothing is called stopped that is alive. */
export function stillAlive(left: readonly LivingProcess[]): string {
  if (left.length === 0) return '';
  return ` Still alive, although it was killed: ${left.map(({ pid, command }) => `${pid} ${command}`.trim()).join(', ')}.`;
}
