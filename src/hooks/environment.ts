import { existsSync } from 'node:fs';
import { parse } from 'node:path';
import type { HookContext } from './runner-types.js';
import type { HookEvent } from './types.js';

/**
 * The environment of command hooks (Claude Code docs, hooks reference): the session's own, without `OTEL_*`, with the
 * variables that tell a script where it runs. Nothing secret is added.
 */
export function hookEnvironment(context: HookContext, event: HookEvent): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(context.env ?? process.env)) {
    if (value !== undefined && !name.startsWith('OTEL_')) env[name] = value;
  }
  env.CLAUDE_PROJECT_DIR = context.projectDir;
  env.CLAUDECODE = '1';
  env.CLAUDE_CODE_CHILD_SESSION = '1';
  env.CLAUDE_CODE_SESSION_ID = context.sessionId;
  env.CLAUDE_PID = String(process.pid);
  const effort = context.effort?.();
  if (effort !== undefined) env.CLAUDE_EFFORT = effort;
  if (event === 'SessionStart' && context.envFile !== undefined) env.CLAUDE_ENV_FILE = context.envFile;
  else delete env.CLAUDE_ENV_FILE;
  return env;
}

/**
 * Where command hooks run: in the session's directory, or, when that is gone, in the project's or at the root. Whoever takes the
 * directory away must not take the guards away with it. `missing` is the directory that is gone.
 */
export function hookDirectory({ cwd, projectDir }: HookContext): { readonly directory: string; readonly missing?: string } {
  const now = cwd();
  if (existsSync(now)) return { directory: now };
  return { directory: existsSync(projectDir) ? projectDir : parse(now).root, missing: now };
}
