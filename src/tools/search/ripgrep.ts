import { spawn } from 'node:child_process';
import { messageOf, ToolAbortedError, ToolFailure } from '../../tool/errors.js';

export interface RipgrepRun {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export interface RipgrepResult {
  readonly stdout: string;
  /** What went wrong on the way, when some results came all the same. */
  readonly warnings: readonly string[];
  /** True when the time or the output limit cut the results. */
  readonly truncated: boolean;
}

const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;

/**
 * Runs ripgrep. No match is an empty result; a pattern that it refuses is a failure with its own diagnostic.
 * @throws ToolAbortedError when the signal fires.
 */
export async function runRipgrep(run: RipgrepRun): Promise<RipgrepResult> {
  const { rgPath } = await import('@vscode/ripgrep').catch((error: unknown) => {
    throw new ToolFailure(`ripgrep is not installed for this platform: ${messageOf(error)}`);
  });
  return new Promise((resolve, reject) => {
    const child = spawn(rgPath, ['--no-config', ...run.args], { cwd: run.cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    const stdout: Buffer[] = [];
    let stderr = '';
    let size = 0;
    let truncated = false;
    const cut = (): void => {
      truncated = true;
      child.kill('SIGKILL');
    };
    const timer = setTimeout(cut, run.timeoutMs);
    const abort = (): void => void child.kill('SIGKILL');
    run.signal.addEventListener('abort', abort, { once: true });
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_OUTPUT_BYTES) cut();
      else stdout.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderr.length < 10_000) stderr += chunk.toString('utf8');
    });
    const settle = (): void => {
      clearTimeout(timer);
      run.signal.removeEventListener('abort', abort);
    };
    child.once('error', (error) => {
      settle();
      reject(new ToolFailure(`ripgrep could not be started: ${messageOf(error)}`));
    });
    child.once('close', (code) => {
      settle();
      if (run.signal.aborted) return reject(new ToolAbortedError(`The search was stopped (${String(run.signal.reason)}).`));
      const text = Buffer.concat(stdout).toString('utf8');
      const diagnostic = stderr.trim();
      if (code === 2 && text === '' && !truncated) return reject(new ToolFailure(`The search failed: ${diagnostic}`));
      resolve({ stdout: text, warnings: code === 2 && diagnostic !== '' ? [diagnostic.slice(0, 1000)] : [], truncated });
    });
    if (run.signal.aborted) abort();
  });
}
