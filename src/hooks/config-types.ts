import type { JsonObject } from '../json.js';
import type { RuleScope } from '../permissions/types.js';
import type { SubjectMatcher } from './matcher.js';
import type { HookEvent } from './types.js';

interface CommonHandler {
  /** A permission rule that the call must match besides the matcher. */
  readonly if?: string;
  /** Seconds; undefined means the event's default. */
  readonly timeout?: number;
  readonly statusMessage?: string;
  /** Runs at most once in a session. */
  readonly once?: boolean;
  /** `block`: a handler that fails to start, times out or answers nonsense counts as a refusal. */
  readonly onFailure?: 'continue' | 'block';
}
export interface CommandHandler extends CommonHandler {
  readonly type: 'command';
  /** Shell text, or, where `args` is given, the program to start without a shell. */
  readonly command: string;
  readonly args?: readonly string[];
  readonly shell?: 'bash' | 'powershell';
  readonly async?: boolean;
  readonly asyncRewake?: boolean;
}
export interface HttpHandler extends CommonHandler {
  readonly type: 'http';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Environment variables that `headers` may name; any other becomes an empty string. */
  readonly allowedEnvVars?: readonly string[];
}
export interface McpToolHandler extends CommonHandler {
  readonly type: 'mcp_tool';
  readonly server: string;
  readonly tool: string;
  /** Arguments; `${path}` in a string is replaced by that field of the hook's input. */
  readonly input?: JsonObject;
}
export interface PromptHandler extends CommonHandler {
  readonly type: 'prompt';
  /** `$ARGUMENTS` is replaced by the hook's input as JSON. */
  readonly prompt: string;
  readonly model?: string;
  /** On tool events: a no is fed back and the turn goes on, instead of ending. */
  readonly continueOnBlock?: boolean;
}
/** A hook in code: the Agent SDK's signature. `input` is a copy of its own; `undefined` and `{}` mean no opinion. */
export type HookCallback = (
  input: JsonObject,
  toolUseID: string | undefined,
  options: { readonly signal: AbortSignal },
) => Promise<unknown> | unknown;
export interface FunctionHandler extends CommonHandler {
  readonly type: 'function';
  readonly callback: HookCallback;
}
export type HookHandler = CommandHandler | HttpHandler | McpToolHandler | PromptHandler | FunctionHandler;

/** Hooks given in code, as in the Agent SDK: `{ PreToolUse: [{ matcher: 'Bash', hooks: [guard], timeout: 5 }] }`. */
export type HookCallbacks = {
  readonly [Event in HookEvent]?: readonly {
    readonly matcher?: string;
    readonly hooks: readonly HookCallback[];
    /** Seconds. */
    readonly timeout?: number;
    /**
     * `block`: a throw or a timeout refuses what was about to happen; `continue`: neither does. Left out, a throw does
     * not refuse and a timeout does, where the event can be refused at all.
     */
    readonly onFailure?: 'continue' | 'block';
  }[];
};

/** One settings file's say on hooks. `settings` is the parsed file as it stands; only its hook keys are read. */
export interface HookSource {
  readonly scope: RuleScope;
  readonly file?: string;
  readonly settings: unknown;
}

export interface HookOrigin {
  readonly scope: RuleScope;
  readonly file?: string;
  /** Path inside the settings: `hooks.PreToolUse[0].hooks[1]`. */
  readonly path: string;
}

/** A handler ready to run. The place in `HookConfig.hooks` is the configuration order. */
export interface ConfiguredHook {
  readonly event: HookEvent;
  readonly name: string;
  readonly matcher?: string;
  readonly matches: SubjectMatcher;
  readonly handler: HookHandler;
  readonly origin: HookOrigin;
  /** Equal for two declarations of the same handler; undefined for functions, which are never the same. */
  readonly identity?: string;
}

/** Something about the configuration that its author should know. */
export interface HookIssue {
  /** `error`: the handler was left out. `warning`: it is active, but not wholly as written. `note`: valid, without effect here. */
  readonly severity: 'error' | 'warning' | 'note';
  readonly file?: string;
  /** Path inside the settings: `hooks.PreToolUse[0].hooks[1].timeout`. */
  readonly path: string;
  /** What is wrong and the way out. */
  readonly message: string;
}

/** All hooks of a session in configuration order: user, project, local, flag and command-line settings, code, managed settings. */
export interface HookConfig {
  readonly hooks: readonly ConfiguredHook[];
  readonly issues: readonly HookIssue[];
  /** URL patterns (`*` wildcard) that http hooks may call; undefined means any, an empty list none. */
  readonly allowedHttpHookUrls?: readonly string[];
  /** Environment variables that any http hook may put into headers; undefined leaves it to each hook's `allowedEnvVars`. */
  readonly httpHookAllowedEnvVars?: readonly string[];
}

/** A command as one line of text, for people. */
export function commandText(handler: CommandHandler): string {
  return handler.args === undefined ? handler.command : [handler.command, ...handler.args].join(' ');
}
