import { rm } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory } from '../../makeDirectory.js';
import { safeFileName } from '../../results/store.js';
import type { ToolProgress } from '../../tool/call.js';
import { errorCode, messageOf, ToolAbortedError, ToolFailure } from '../../tool/errors.js';
import type { ToolContext, ToolReturn } from '../../tool/types.js';
import type { CommandOutput } from './output.js';
import type { KillTimes, LivingProcess } from './process-tree.js';
import { recordShown } from './reads.js';
import { type CommandExit, RunningCommand } from './run.js';
import { background, mayMoveToBackground } from './shell-background.js';
import { afterwards, childEnvironment, envFiles, isOn, replacementDirectory, shellTimeouts } from './shell-environment.js';
import { finished, notRun, type ShellOutput, stillAlive, withNote } from './shell-output.js';

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
  /** How to run a command so that it leaves its last working directory in `cwdFile`, after what `envFiles` set. */
  invocation(
    command: string,
    cwdFile: string,
    env: ToolContext['env'],
    envFiles: readonly string[],
  ): { readonly file: string; readonly args: readonly string[] };
  /** What a non-zero exit code means where it is no failure. `isQuiet`: nothing was written to stderr. */
  meaningOfExit(command: string, code: number, isQuiet: boolean): string | undefined;
}

const PROGRESS_MS = 250;

/** Runs a command from start to result: in the foreground, in the background, or moved there when its time is up. */
export async function runShell(
  shell: ShellKind,
  request: ShellRequest,
  context: ToolContext,
  onProgress: (progress: ToolProgress) => void,
  killTimes?: KillTimes,
): Promise<ToolReturn<ShellOutput>> {
  const { cwd } = context;
  const replacement = replacementDirectory(context);
  if (replacement !== undefined) {
    const why = `The command was not run: the working directory ${cwd} does not exist any more. Shell cwd is ${replacement} now; run it again if it is meant there.`;
    return { data: notRun(why), modify: (session) => session.setCwd(replacement) };
  }
  const { tasks } = context.capabilities;
  const canBackground = tasks !== undefined && !isOn(context.env.CLAUDE_CODE_DISABLE_BACKGROUND_TASKS);
  if (request.run_in_background === true && !canBackground) {
    throw new ToolFailure(
      'This session cannot run commands in the background. Run it in the foreground, with a timeout that is long enough.',
    );
  }
  if (context.signal.aborted) throw new ToolAbortedError('The command was not started.');
  await makeDirectory(context.resultsDir, 0o700);
  const name = safeFileName(context.callId);
  const cwdFile = path.join(context.resultsDir, `${name}.cwd`);
  const { file, args } = shell.invocation(request.command, cwdFile, context.env, envFiles(context));
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
    request.command,
  );
  try {
    if (command.pid === undefined) await command.exited;
  } catch (error) {
    throw notStarted(error, request.command);
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
      const left = await command.leftRunning();
      return afterwards(
        left.length === 0
          ? output
          : withNote(output, `Still running: ${left.map(({ pid, command: name }) => `${name} (pid ${pid})`).join(', ')}.`),
        context,
        cwdFile,
      );
    }
    case 'aborted': {
      const left = await stop(command, cwdFile);
      const partial = untilNow(command.output);
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

/** What a command has written so far: each stream whole, or both ends of all of it. */
function untilNow(output: CommandOutput): string {
  const [stdout, stderr] = [output.text('stdout'), output.text('stderr')];
  if (stdout !== undefined && stderr !== undefined) return stdout + (stderr === '' || /^$|\n$/.test(stdout) ? '' : '\n') + stderr;
  const { head, tail } = output.ends();
  return `${head}\n…\n${tail}`;
}

function start(create: () => RunningCommand, command: string): RunningCommand {
  try {
    return create();
  } catch (error) {
    // Too long an argument list, a NUL in the command: refused before there is a process.
    throw notStarted(error, command);
  }
}

function notStarted(error: unknown, command: string): ToolFailure {
  if (errorCode(error) !== 'E2BIG') return new ToolFailure(`The command could not be started: ${messageOf(error)}`);
  const size = Buffer.byteLength(command).toLocaleString('en');
  return new ToolFailure(
    `The command is longer than the system takes (${size} bytes). Put the long part into a file with Write, and use that file.`,
  );
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

function seconds(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}
function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.slice(0, 200) ?? '';
}
