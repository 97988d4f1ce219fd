import { realpathSync, statSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { sniffMediaType } from '../../results/media.js';
import { safeFileName } from '../../results/store.js';
import { formatBytes, looksBinary } from '../../results/text.js';
import type { ToolProgress } from '../../tool/call.js';
import { messageOf, ToolAbortedError, ToolFailure } from '../../tool/errors.js';
import type { ToolContext, ToolReturn } from '../../tool/types.js';
import { isInside } from '../fs/paths.js';
import type { KillTimes, LivingProcess } from './process-tree.js';
import { recordShown } from './reads.js';
import { type CommandExit, RunningCommand } from './run.js';

/** What a shell tool's model input comes to. */
export interface ShellRequest {
  readonly command: string;
  /** Milliseconds, as asked for. */
  readonly timeout?: number | undefined;
  readonly description?: string | undefined;
  readonly run_in_background?: boolean | undefined;
}

/** What tells one shell from another. */
export interface ShellKind {
  readonly kind: 'bash' | 'powershell';
  /** How to run a command so that it leaves its last working directory in `cwdFile`. */
  invocation(command: string, cwdFile: string, env: ToolContext['env']): { readonly file: string; readonly args: readonly string[] };
  /** What a non-zero exit code means where it is no failure. */
  meaningOfExit(command: string, code: number): string | undefined;
}

export interface ShellOutput {
  readonly stdout: string;
  readonly stderr: string;
  /** Null when a signal ended the command, or while it runs in the background. */
  readonly exitCode: number | null;
  readonly signal?: NodeJS.Signals;
  readonly interrupted: boolean;
  readonly isFailure: boolean;
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

/** Characters of output that are shown whole. */
export const INLINE_CHARS = 30_000;

export interface Timeouts {
  readonly defaultMs: number;
  readonly maxMs: number;
}
/** Limits in milliseconds by the environment variables of Claude Code's documentation; the default raises the ceiling if larger. */
export function shellTimeouts(env: ToolContext['env']): Timeouts {
  const read = (name: string, fallback: number): number => {
    const value = Number(env[name]);
    return Number.isFinite(value) && value > 0 ? value : fallback;
  };
  const defaultMs = read('BASH_DEFAULT_TIMEOUT_MS', 120_000);
  return { defaultMs, maxMs: Math.max(defaultMs, read('BASH_MAX_TIMEOUT_MS', 600_000)) };
}
const BACKGROUND_TIMEOUTS: Timeouts = { defaultMs: 1_800_000, maxMs: 7_200_000 };
const PROGRESS_MS = 250;

/** Runs a command from start to result: in the foreground, in the background, or moved there when its time is up. */
export async function runShell(
  shell: ShellKind,
  request: ShellRequest,
  context: ToolContext,
  onProgress: (progress: ToolProgress) => void,
  killTimes?: KillTimes,
): Promise<ToolReturn<ShellOutput>> {
  const cwd = workingDirectory(context.cwd);
  const { tasks } = context.capabilities;
  const canBackground = tasks !== undefined && !isOn(context.env.CLAUDE_CODE_DISABLE_BACKGROUND_TASKS);
  if (request.run_in_background === true && !canBackground) {
    throw new ToolFailure(
      'This session cannot run commands in the background. Run it in the foreground, with a timeout that is long enough.',
    );
  }
  if (context.signal.aborted) throw new ToolAbortedError('The command was not started.');
  await mkdir(context.resultsDir, { recursive: true, mode: 0o700 });
  const name = safeFileName(context.callId);
  const cwdFile = path.join(context.resultsDir, `${name}.cwd`);
  const { file, args } = shell.invocation(request.command, cwdFile, context.env);
  let lastProgress = 0;
  const command = start(
    () =>
      new RunningCommand({
        file,
        args,
        cwd,
        env: childEnvironment(context.env),
        outputFile: path.join(context.resultsDir, `${name}.txt`),
        killTimes,
        onOutput(output) {
          const now = performance.now();
          if (now - lastProgress < PROGRESS_MS) return;
          lastProgress = now;
          onProgress({ message: lastLine(output.ends().tail), data: { bytes: output.totalBytes } });
        },
      }),
  );
  try {
    if (command.pid === undefined) await command.exited;
  } catch (error) {
    throw new ToolFailure(`The command could not be started: ${messageOf(error)}`);
  }
  if (request.run_in_background === true) {
    return { data: await background(shell, request, context, command, cwdFile, `The command runs in the background`) };
  }
  const { defaultMs, maxMs } = shellTimeouts(context.env);
  const timeoutMs = Math.min(request.timeout ?? defaultMs, maxMs);
  const event = await firstEvent(command, timeoutMs, context.signal);
  switch (event.type) {
    case 'exited': {
      await command.drain();
      const output = await finished(shell, request, context, command, event.exit);
      if (shell.kind === 'bash' && event.exit.code === 0) await recordShown(request.command, context, output);
      return afterwards(output, context, cwdFile);
    }
    case 'aborted': {
      const left = await stop(command, cwdFile);
      const { head, tail } = command.output.ends();
      const partial = command.output.text('stdout') ?? `${head}\n…\n${tail}`;
      throw new ToolAbortedError(`The command was stopped (${String(context.signal.reason)}).${stillAlive(left)}`, partial);
    }
    case 'ranAway': {
      const left = await stop(command, cwdFile);
      const output = await finished(shell, request, context, command, { code: null, signal: 'SIGKILL' });
      return { data: withNote(output, `The command was stopped: it wrote more than 5 GB.${stillAlive(left)}`) };
    }
    case 'timeout': {
      if (canBackground && mayMoveToBackground(request.command)) {
        const why = `Command did not complete within its ${seconds(timeoutMs)} timeout and was moved to the background`;
        return { data: { ...(await background(shell, request, context, command, cwdFile, why)), timedOutAfterMs: timeoutMs } };
      }
      const left = await stop(command, cwdFile);
      const output = await finished(shell, request, context, command, { code: null, signal: 'SIGTERM' });
      return {
        data: {
          ...withNote(output, `Command timed out after ${seconds(timeoutMs)} and was stopped.${stillAlive(left)}`),
          interrupted: true,
          timedOutAfterMs: timeoutMs,
        },
      };
    }
  }
}

function start(create: () => RunningCommand): RunningCommand {
  try {
    return create();
  } catch (error) {
    // Too long an argument list, a NUL in the command: refused before there is a process.
    throw new ToolFailure(`The command could not be started: ${messageOf(error)}`);
  }
}

type ShellEvent = { readonly type: 'exited'; readonly exit: CommandExit } | { readonly type: 'timeout' | 'aborted' | 'ranAway' };

async function firstEvent(command: RunningCommand, timeoutMs: number, signal: AbortSignal): Promise<ShellEvent> {
  const cleanup: (() => void)[] = [];
  const timeout = new Promise<ShellEvent>((resolve) => {
    const timer = setTimeout(() => resolve({ type: 'timeout' }), timeoutMs);
    cleanup.push(() => clearTimeout(timer));
  });
  const aborted = new Promise<ShellEvent>((resolve) => {
    const listener = (): void => resolve({ type: 'aborted' });
    if (signal.aborted) listener();
    signal.addEventListener('abort', listener, { once: true });
    cleanup.push(() => signal.removeEventListener('abort', listener));
  });
  try {
    return await Promise.race([
      command.exited.then((exit): ShellEvent => ({ type: 'exited', exit })),
      command.ranAway.then((): ShellEvent => ({ type: 'ranAway' })),
      timeout,
      aborted,
    ]);
  } finally {
    for (const step of cleanup) step();
  }
}

async function stop(command: RunningCommand, cwdFile: string): Promise<readonly LivingProcess[]> {
  const left = await command.end();
  await command.drain();
  await rm(cwdFile, { force: true });
  return left;
}

/** The output of a command whose shell has exited. Too long or binary output goes to the file. */
async function finished(
  shell: ShellKind,
  request: ShellRequest,
  context: ToolContext,
  command: RunningCommand,
  exit: CommandExit,
): Promise<ShellOutput> {
  const { output } = command;
  const meaning = exit.code !== null && exit.code !== 0 ? shell.meaningOfExit(request.command, exit.code) : undefined;
  const base = {
    exitCode: exit.code,
    ...(exit.signal === null ? {} : { signal: exit.signal }),
    interrupted: context.signal.aborted,
    isFailure: exit.code !== 0 && meaning === undefined,
    ...(meaning === undefined ? {} : { returnCodeInterpretation: meaning }),
    notes: [],
  };
  const stdout = output.text('stdout');
  const stderr = output.text('stderr');
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

/** Hands a running command over to the session. Its directory changes never apply. */
async function background(
  shell: ShellKind,
  request: ShellRequest,
  context: ToolContext,
  command: RunningCommand,
  cwdFile: string,
  why: string,
): Promise<ShellOutput> {
  const { tasks } = context.capabilities;
  if (tasks === undefined) throw new ToolFailure('This session has no background tasks.');
  await command.output.moveToFile();
  let stopped = false;
  const limit = Math.min(
    request.run_in_background === true ? (request.timeout ?? BACKGROUND_TIMEOUTS.defaultMs) : BACKGROUND_TIMEOUTS.defaultMs,
    BACKGROUND_TIMEOUTS.maxMs,
  );
  const timer = setTimeout(() => void command.end(), limit);
  timer.unref();
  const done = command.exited.then(async (exit) => {
    clearTimeout(timer);
    // Terminal only when nothing of it lives and all output is in the file.
    const left = stopped ? await command.end() : [];
    await command.drain();
    await rm(cwdFile, { force: true });
    const failed = exit.code !== 0 && shell.meaningOfExit(request.command, exit.code ?? -1) === undefined;
    const ending = exit.code === null ? `ended by ${exit.signal ?? 'a signal'}` : `exit code ${exit.code}`;
    return {
      status: stopped ? ('killed' as const) : failed ? ('failed' as const) : ('completed' as const),
      exitCode: exit.code,
      summary: `${request.description ?? request.command.slice(0, 200)}: ${stopped ? 'stopped' : ending}${stillAlive(left)}`,
    };
  });
  const handle = tasks.adopt({
    kind: shell.kind,
    title: request.description ?? request.command.slice(0, 200),
    callId: context.callId,
    outputFile: command.output.filePath,
    done,
    stop() {
      stopped = true;
      void command.end();
    },
  });
  return {
    stdout: '',
    stderr: '',
    exitCode: null,
    interrupted: false,
    isFailure: false,
    backgroundTaskId: handle.id,
    outputFile: handle.outputFile,
    notes: [`${why} with id ${handle.id}. Its output goes to ${handle.outputFile}. Session cwd remains ${context.cwd}.`],
  };
}

/** Applies the command's last working directory, and says what it left running. */
async function afterwards(output: ShellOutput, context: ToolContext, cwdFile: string): Promise<ToolReturn<ShellOutput>> {
  const last = (await readFile(cwdFile, 'utf8').catch(() => '')).replace(/\r?\n$/, '');
  await rm(cwdFile, { force: true });
  if (last === '' || last === realDirectory(context.cwd) || isOn(context.env.CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR))
    return { data: output };
  if (!context.permissions.directories.some((directory) => isInside(realDirectory(directory), last))) {
    return { data: withNote(output, `Shell cwd was reset to ${context.cwd}`) };
  }
  return { data: output, modify: (session) => session.setCwd(last) };
}

function withNote(output: ShellOutput, note: string): ShellOutput {
  return { ...output, notes: [...output.notes, note] };
}

/** Commands whose late end nobody should wait for, or that must not run on unseen. */
function mayMoveToBackground(command: string): boolean {
  return !/^\s*sleep\b/.test(command) && !/\bgit\b/.test(command);
}

function stillAlive(left: readonly LivingProcess[]): string {
  if (left.length === 0) return '';
  return ` Still alive, although it was killed: ${left.map(({ pid, command }) => `${pid} ${command}`.trim()).join(', ')}.`;
}

const CREDENTIAL = /(?:_API_KEY|_TOKEN|_SECRET|_PASSWORD|_CREDENTIALS|_ACCESS_KEY|_SECRET_ACCESS_KEY)$/;
function childEnvironment(env: ToolContext['env']): Record<string, string | undefined> {
  const entries = Object.entries(env);
  return Object.fromEntries(isOn(env.CLAUDE_CODE_SUBPROCESS_ENV_SCRUB) ? entries.filter(([name]) => !CREDENTIAL.test(name)) : entries);
}

function workingDirectory(cwd: string): string {
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() === true) return cwd;
  throw new ToolFailure(`The working directory ${cwd} does not exist any more.`);
}
function realDirectory(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    return directory;
  }
}
function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value.toLowerCase() !== 'false';
}
function seconds(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}
function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.slice(0, 200) ?? '';
}
