import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { z } from 'zod';
import type { CommandHandler } from '../config-types.js';
import type { RawOutcome } from '../effects.js';
import { hookDirectory, hookEnvironment } from '../environment.js';
import type { HandlerCall } from '../handler.js';
import { type ProcessEnd, runProcess } from '../run-process.js';

const ASYNC_LINE = z.object({ async: z.literal(true), asyncTimeout: z.number().positive().exactOptional() });

/**
 * Starts a command with the payload as JSON on its stdin. It goes to the background when it was declared `async`, or as
 * soon as its first line of output is `{"async": true}`; from then on the call's signal no longer reaches it.
 */
export function runCommand(call: HandlerCall<CommandHandler>): Promise<RawOutcome> {
  const { handler, context, hook, signal } = call;
  const env = hookEnvironment(context, hook.event);
  const { file, args } = commandLine(handler, env);
  return new Promise((resolve) => {
    const running = runProcess({
      file,
      args,
      cwd: hookDirectory(context).directory,
      env,
      stdin: `${JSON.stringify(call.payload)}\n`,
      timeoutMs: call.timeoutMs,
      clock: call.clock,
      onFirstLine: (line) => {
        const marker = asyncMarker(line);
        if (marker === undefined || inBackground) return;
        if (marker.asyncTimeout !== undefined) running.limit(marker.asyncTimeout);
        background();
      },
    });
    let inBackground = false;
    const onAbort = () => running.cancel();
    const background = () => {
      inBackground = true;
      signal.removeEventListener('abort', onAbort);
      call.toBackground({ done: running.end.then((end) => withoutMarker(end)), cancel: () => running.cancel() });
      resolve({ kind: 'background' });
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (handler.async === true || handler.asyncRewake === true) background();
    else if (signal.aborted) running.cancel();
    void running.end.then((end) => {
      signal.removeEventListener('abort', onAbort);
      resolve(end);
    });
  });
}

function commandLine(
  handler: CommandHandler,
  env: Readonly<Record<string, string>>,
): { readonly file: string; readonly args: readonly string[] } {
  if (handler.args !== undefined) return { file: expand(handler.command, env), args: handler.args.map((arg) => expand(arg, env)) };
  if (handler.shell === 'powershell') {
    const file = process.platform === 'win32' ? 'powershell.exe' : 'pwsh';
    return { file, args: ['-NoProfile', '-NonInteractive', '-Command', handler.command] };
  }
  return { file: posixShell(env), args: ['-c', handler.command] };
}

function posixShell(env: Readonly<Record<string, string>>): string {
  return (env.PATH ?? '').split(delimiter).some((directory) => existsSync(join(directory, 'bash'))) ? 'bash' : 'sh';
}

/** Without a shell nothing expands variables, so the documented placeholders are filled here. */
function expand(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(CLAUDE_[A-Z_]+)\}/g, (whole, name: string) => env[name] ?? whole);
}

function asyncMarker(line: string): z.infer<typeof ASYNC_LINE> | undefined {
  if (!line.trimStart().startsWith('{')) return undefined;
  try {
    return ASYNC_LINE.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

/** The answer of a background command is what follows the line that sent it there. */
function withoutMarker(end: ProcessEnd): ProcessEnd {
  if (end.kind !== 'exit') return end;
  const lineEnd = end.stdout.indexOf('\n');
  const first = lineEnd === -1 ? end.stdout : end.stdout.slice(0, lineEnd);
  if (asyncMarker(first) === undefined) return end;
  return { ...end, stdout: lineEnd === -1 ? '' : end.stdout.slice(lineEnd + 1) };
}
