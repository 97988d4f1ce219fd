import type { z } from 'zod';
import type { JsonObject } from '../json.js';
import type { ImageBlockParam, ToolResultBlockParam } from '../messages/types.js';
import type { PermissionUpdate, ToolVerdict } from '../permissions/types.js';
import type { ToolProgress } from './call.js';
import type { ToolContext } from './context.js';

export type * from './context.js';

/** What a call returns. `modify` changes session state after the batch; see the executor's rule for context modifiers. */
export interface ToolReturn<Output> {
  /** The output: what is mapped to the result. */
  readonly data: Output;
  /** A context modifier: changes session state once every call of its batch has completed, in block order. */
  readonly modify?: (session: SessionModifier) => void;
}
/** The session state that a context modifier may change. */
export interface SessionModifier {
  /** Changes the working directory of later calls; absolute. */
  setCwd(cwd: string): void;
  /** Makes deferred tools part of the session from the next request on. */
  loadTools(names: readonly string[]): void;
  /** Changes rules, mode or directories for later calls. */
  updatePermissions(updates: readonly PermissionUpdate[]): void;
}

/** Outcome of a tool's own `validateInput`. */
export type ValidationVerdict = { readonly ok: true } | { readonly ok: false; readonly message: string };

/** A piece of display, as plain data for any UI. */
export interface RenderedMessage {
  /** One line: what is done, or what came of it. */
  readonly title: string;
  /** What a display may show below it. */
  readonly body?: string;
  /** How to show the body. Default `text`. */
  readonly format?: 'text' | 'code' | 'diff' | 'markdown' | 'json';
}

/** What `mapToolResultToToolResultBlockParam` returns: a block without its id and error flag, which the runtime sets. */
export interface MappedToolResult {
  /** The result's content; undefined for an empty one. */
  readonly content: ToolResultBlockParam['content'];
  /** Marks the result as an error though the call did not throw. Default false. */
  readonly isError?: boolean;
  /** Images that belong to the result; the runtime places them where the API accepts them. */
  readonly images?: readonly ImageBlockParam[];
}

/**
 * A tool. `buildTool` fills what is left out with fail-closed defaults: not concurrency-safe, not read-only,
 * destructiveness undeclared, permission `passthrough`.
 */
export interface Tool<Input extends object = JsonObject, Output = unknown> {
  /** What the model calls it by: 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  /** Former names, under which it is still found. Default none. */
  readonly aliases: readonly string[];
  /** Words a search for tools may use beside name and description. */
  readonly searchHint: string | undefined;
  /** One line for people. */
  description(): string;
  /** The text the model gets as the tool's description. */
  prompt(): string;
  /** What the input must be. It is parsed to the type that `call` gets, defaults filled in. */
  readonly inputSchema: z.ZodType<Input>;
  /**
   * What an input must be that whoever decides about the call (a person, a hook, the embedding program) put in place of the
   * model's, where that may hold more than the model may say. Default: `inputSchema`.
   */
  readonly answeredInputSchema: z.ZodType<Input> | undefined;
  /** The JSON Schema to send, where it is not derived from `inputSchema` (MCP tools). */
  readonly inputJSONSchema: JsonObject | undefined;
  /** What `call` returns, for programs that read results; undefined where nothing is promised. */
  readonly outputSchema: z.ZodType<Output> | undefined;
  /** Does the work, behind all gates. It should heed `context.signal`; what it throws becomes an error result. */
  call(input: Input, context: ToolContext, onProgress: (progress: ToolProgress) => void): Promise<ToolReturn<Output>>;
  /** The third gate: what no schema can say (the file exists, the text occurs once). The message is for the model. Default none. */
  readonly validateInput: ((input: Input, context: ToolContext) => Promise<ValidationVerdict> | ValidationVerdict) | undefined;
  /** The tool's own word on a call, weighed with rules, hooks and mode. Default `passthrough`. */
  readonly checkPermissions: ((input: Input, context: ToolContext) => Promise<ToolVerdict> | ToolVerdict) | undefined;
  /** A matcher for rule contents over this input, for tools whose rules are not a plain string comparison. */
  readonly preparePermissionMatcher: ((input: Input) => (ruleContent: string) => boolean) | undefined;
  /** Whether it can work on this machine. Asked when pools are assembled. Default true. */
  isEnabled(): boolean;
  /** Whether calls with this input may overlap others. Default false. */
  isConcurrencySafe(input: Input): boolean;
  /** Whether this input changes nothing: mode plan lets it pass. Default false. */
  isReadOnly(input: Input): boolean;
  /** Whether this input may lose something for good. Default undefined: nobody has said. */
  isDestructive(input: Input): boolean | undefined;
  /** Keys of what this input touches; two safe writers with disjoint keys may overlap, the same key never. */
  readonly resourceKeys: ((input: Input, cwd: string) => readonly string[]) | undefined;
  /** What a new message of the person does to a running call. Default `block`: side effects are not cut mid-way. */
  readonly interruptBehavior: 'block' | 'cancel';
  /** True when only a person may answer, whatever mode or hook. */
  requiresUserInteraction(input: Input): boolean;
  /** Whether the model first learns only its name, and must search for it to call it. Default false. */
  readonly shouldDefer: boolean;
  /** Adds derived fields (absolute paths) for hooks, rules and observers. Must be pure. */
  readonly backfillObservableInput: ((input: Input, cwd: string) => Input) | undefined;
  /** A short text of the input for a classifier; undefined means the JSON of the input. */
  readonly toAutoClassifierInput: ((input: Input) => string) | undefined;
  /** What people call it. Default: `name`. */
  userFacingName(input?: Input): string;
  /** Characters beyond which a result is persisted to a file. Default 50,000. */
  readonly maxResultSizeChars: number;
  /** True when running the same call twice is harmless: it may be run again after a crash. */
  readonly idempotent: boolean;
  /** True when exact textual forms ("true", "50") must not be repaired into the schema's types. */
  readonly strictInput: boolean;
  /** What an error of this tool does to the other calls of its turn. Default `continue`. */
  readonly onError: 'continue' | 'cancelSiblings';
  /** Hard limit for one call in milliseconds; undefined means the session's default. May depend on the input. */
  readonly timeoutMs: number | ((input: Input, env: ToolContext['env']) => number | undefined) | undefined;
  /** Limit between two signs of progress in milliseconds; undefined means none. */
  readonly idleTimeoutMs: number | undefined;
  /** Makes the output a result for the model. Default: text as it is, anything else as JSON. */
  mapToolResultToToolResultBlockParam(output: Output): MappedToolResult;
  /** The call, for a person who is asked about it or watches it. */
  renderToolUseMessage(input: Input): RenderedMessage;
  /** The output, for a person. */
  renderToolResultMessage(output: Output): RenderedMessage;
  /** A call that was denied, for a person. */
  renderToolUseRejectedMessage(input: Input, reason: string): RenderedMessage;
  /** A call that failed, for a person. */
  renderToolUseErrorMessage(error: string): RenderedMessage;
  /**
   * Set for tools that come from an MCP server: its structured identity, never parsed back out of the name. `alwaysLoad`: the
   * tool is sent in full however many there are.
   */
  readonly mcp: { readonly server: string; readonly tool: string; readonly alwaysLoad?: boolean } | undefined;
}

/** Any tool, with its input and output types forgotten. What pools and registries hold. */
// biome-ignore lint/suspicious/noExplicitAny: a registry of tools with different inputs needs the one existential TypeScript lacks
export type AnyTool = Tool<any, any>;
