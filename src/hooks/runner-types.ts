import type { JsonObject } from '../json.js';
import type { MonotonicClock } from '../model/clock.js';
import type { PermissionMode } from '../permissions/types.js';
import type { AsyncHookResult, HookRunner } from './types.js';

/** What a session tells its hooks. Functions are asked at each event. */
export interface HookContext {
  readonly sessionId: string;
  readonly transcriptPath: string;
  cwd(): string;
  readonly projectDir: string;
  permissionMode?(): PermissionMode | undefined;
  promptId?(): string | undefined;
  effort?(): string | undefined;
  /** Set inside a subagent. */
  readonly agentId?: string;
  readonly agentType?: string;
  /** Environment that command hooks inherit and limits are read from. Default: this process's. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** File in which SessionStart hooks may leave `export` lines for later shell commands. */
  readonly envFile?: string;
}

/** The world as hooks reach it. A handler whose port is missing fails with a notice that says so. */
export interface HookPorts {
  /** Sends http hooks. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Whether a permission rule (a handler's `if`) speaks of the call; `unknown` (an unparsable command) runs the hook. */
  readonly matchesRule?: (rule: string, toolName: string, input: JsonObject) => boolean | 'unknown';
  readonly mcpTool?: (call: {
    readonly server: string;
    readonly tool: string;
    readonly input: JsonObject;
    readonly signal: AbortSignal;
  }) => Promise<{ readonly text: string; readonly isError: boolean }>;
  readonly model?: {
    complete(prompt: string, options: { readonly model?: string; readonly signal: AbortSignal }): Promise<string>;
  };
  readonly clock?: MonotonicClock;
  /** Keeps a context text that is too long for the model and returns its path. Without it the text is cut, and says so. */
  readonly persistText?: (text: string, name: string) => Promise<string>;
  /** What background handlers said, when they are done. */
  readonly onAsyncResult?: (result: AsyncHookResult) => void;
}

export interface SessionHookRunner extends HookRunner {
  /** Ends background handlers and waits until their processes are gone. */
  close(): Promise<void>;
}
