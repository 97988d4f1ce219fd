import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  createHookRunner,
  type HookCallbacks,
  type HookContext,
  type HookPorts,
  type HookRequest,
  type HookResult,
  type HookRun,
  loadHooks,
  preToolUsePayload,
  type SessionHookRunner,
} from '../../src/hooks/index.js';
import type { JsonObject } from '../../src/json.js';

/** A directory of its own for one test, removed afterwards. */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'sixgates-hooks-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Writes an executable script and returns its path. */
export function script(dir: string, name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

export interface Rig {
  readonly dir: string;
  readonly runner: SessionHookRunner;
  readonly runs: HookRun[];
  run(request: HookRequest, signal?: AbortSignal): Promise<HookResult>;
}

export function rig(options: {
  readonly hooks?: unknown;
  readonly callbacks?: HookCallbacks;
  readonly settings?: JsonObject;
  readonly dir?: string;
  readonly ports?: HookPorts;
  readonly context?: Partial<HookContext>;
}): Rig {
  const dir = options.dir ?? tempDir();
  const settings = { ...(options.settings ?? {}), ...(options.hooks === undefined ? {} : { hooks: options.hooks }) };
  const config = loadHooks([{ scope: 'projectSettings', file: '.claude/settings.json', settings }], options.callbacks);
  const errors = config.issues.filter((issue) => issue.severity === 'error');
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  const runner = createHookRunner({
    config,
    context: {
      sessionId: 'session-1',
      transcriptPath: join(dir, 'transcript.jsonl'),
      cwd: () => dir,
      projectDir: dir,
      permissionMode: () => 'default',
      ...options.context,
    },
    ports: options.ports ?? {},
  });
  onTestFinished(() => runner.close());
  const runs: HookRun[] = [];
  return {
    dir,
    runner,
    runs,
    run: (request, signal = new AbortController().signal) => runner.run(request, { signal, onRun: (run) => runs.push(run) }),
  };
}

/** The request of a Bash call. */
export function bashCall(command = 'echo OLD', more: JsonObject = {}): HookRequest {
  return preToolUsePayload({ toolName: 'Bash', toolInput: { command, ...more }, toolUseId: 'toolu_1' });
}

/** A runner with the given shell commands as PreToolUse hooks on Bash. */
export function preToolUse(...commands: (string | JsonObject)[]): { readonly PreToolUse: readonly JsonObject[] } {
  const hooks = commands.map((command) => (typeof command === 'string' ? { type: 'command', command } : { type: 'command', ...command }));
  return { PreToolUse: [{ matcher: 'Bash', hooks }] };
}

/** Shell text that prints the value as JSON. */
export function prints(value: unknown): string {
  return `cat >/dev/null; printf '%s' '${JSON.stringify(value).replaceAll("'", "'\\''")}'`;
}

export function decides(permissionDecision: string, more: JsonObject = {}): JsonObject {
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, ...more } };
}
