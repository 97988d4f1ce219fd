import { rm } from 'node:fs/promises';
import { ToolFailure } from '../../tool/errors.js';
import type { ToolContext } from '../../tool/types.js';
import type { RunningCommand } from './run.js';
import type { ShellKind, ShellRequest } from './shell.js';
import type { Timeouts } from './shell-environment.js';
import { meaningOf, type ShellOutput, stillAlive } from './shell-output.js';

const BACKGROUND_TIMEOUTS: Timeouts = { defaultMs: 1_800_000, maxMs: 7_200_000 };

/** Commands whose late end nobody should wait for, or that must not run on unseen. */
export function mayMoveToBackground(command: string): boolean {
  return !/^\s*sleep\b/.test(command) && !/\bgit\b/.test(command);
}

/** Hands a running command over to the session. Its directory changes never apply. */
export async function background(
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
  let stopped: string | undefined;
  const stop = (why: string): void => {
    stopped ??= why;
    void command.end();
  };
  const asked = request.run_in_background === true ? request.timeout : undefined;
  const limitMs = Math.min(asked ?? BACKGROUND_TIMEOUTS.defaultMs, BACKGROUND_TIMEOUTS.maxMs);
  const timer = setTimeout(() => stop(`stopped after ${limitMs / 1000} s`), limitMs);
  timer.unref();
  // Ended only when nothing that it started lives and all output is in the file; the exit code is the shell's.
  const done = Promise.race([command.gone(), command.ended()]).then(async () => {
    clearTimeout(timer);
    const exit = await command.exited;
    const left = stopped === undefined ? [] : await command.end();
    await command.drain();
    await rm(cwdFile, { force: true });
    const failed = exit.code !== 0 && meaningOf(shell, request, exit, command.output.text('stderr')) === undefined;
    const ending = stopped ?? (exit.code === null ? `ended by ${exit.signal ?? 'a signal'}` : `exit code ${exit.code}`);
    return {
      status: stopped === undefined ? (failed ? ('failed' as const) : ('completed' as const)) : ('killed' as const),
      exitCode: exit.code,
      summary: `${request.description ?? request.command.slice(0, 200)}: ${ending}${stillAlive(left)}`,
    };
  });
  const handle = tasks.adopt({
    kind: shell.kind,
    title: request.description ?? request.command.slice(0, 200),
    callId: context.callId,
    outputFile: command.output.filePath,
    done,
    stop: () => stop('stopped'),
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
