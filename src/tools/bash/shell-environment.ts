import { existsSync, realpathSync, statSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { ToolFailure } from '../../tool/errors.js';
import type { ToolContext, ToolReturn } from '../../tool/types.js';
import { isInside } from '../fs/paths.js';
import { type ShellOutput, withNote } from './shell-output.js';

export interface Timeouts {
  readonly defaultMs: number;
  readonly maxMs: number;
}
/** Just below what a timer holds, beyond which it would ring at once; the rest is for whoever watches over the tool. */
const LONGEST_TIMEOUT_MS = 2_147_483_647 - 60_000;

/** Limits in milliseconds by the environment variables of Claude Code's documentation; the default raises the ceiling if larger. */
export function shellTimeouts(env: ToolContext['env']): Timeouts {
  const read = (name: string, fallback: number): number => {
    const value = Number(env[name]);
    return Number.isFinite(value) && value > 0 ? Math.min(value, LONGEST_TIMEOUT_MS) : fallback;
  };
  const defaultMs = read('BASH_DEFAULT_TIMEOUT_MS', 120_000);
  return { defaultMs, maxMs: Math.max(defaultMs, read('BASH_MAX_TIMEOUT_MS', 600_000)) };
}

/** Applies the last working directory of a command, or says that it was reset. */
export async function afterwards(output: ShellOutput, context: ToolContext, cwdFile: string): Promise<ToolReturn<ShellOutput>> {
  const last = (await readFile(cwdFile, 'utf8').catch(() => '')).replace(/\r?\n$/, '');
  await rm(cwdFile, { force: true });
  const isKept = isOn(context.env.CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR);
  if (last === '' || !isDirectory(last) || last === realDirectory(context.cwd) || isKept) return { data: output };
  if (!context.permissions.directories.some((directory) => isInside(realDirectory(directory), last))) {
    return { data: withNote(output, `Shell cwd was reset to ${context.cwd}`) };
  }
  return { data: output, modify: (session) => session.setCwd(last) };
}

const CREDENTIAL = /(?:_API_KEY|_TOKEN|_SECRET|_PASSWORD|_CREDENTIALS|_ACCESS_KEY|_SECRET_ACCESS_KEY)$/;
/** The environment of a command, without credentials where that is asked for. */
export function childEnvironment(env: ToolContext['env']): Record<string, string | undefined> {
  const entries = Object.entries(env);
  return Object.fromEntries(isOn(env.CLAUDE_CODE_SUBPROCESS_ENV_SCRUB) ? entries.filter(([name]) => !CREDENTIAL.test(name)) : entries);
}

/** Scripts that are read before a command: the one that the environment names, and what SessionStart hooks have left. */
export const envFiles = ({ env, envFile = '' }: Pick<ToolContext, 'env' | 'envFile'>): readonly string[] =>
  [env.CLAUDE_ENV_FILE ?? '', envFile].filter((file) => file !== '' && existsSync(file));

/**
 * Where the session goes on when its working directory has been removed: the first of the allowed ones that is left. Undefined while it
 * is there. The command at hand does not run elsewhere: what it may do was decided for the directory that is gone.
 */
export function replacementDirectory({ cwd, permissions }: Pick<ToolContext, 'cwd' | 'permissions'>): string | undefined {
  if (isDirectory(cwd)) return undefined;
  const left = permissions.directories.find(isDirectory);
  if (left === undefined) throw new ToolFailure(`The working directory ${cwd} does not exist any more.`);
  return left;
}

function isDirectory(directory: string): boolean {
  return statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true;
}

function realDirectory(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    return directory;
  }
}
/** True for an environment variable that switches something on. */
export function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value.toLowerCase() !== 'false';
}
