import { z } from 'zod';
import type { JsonObject } from '../json.js';
import type { MappedToolResult, RenderedMessage, Tool } from './types.js';

/** Characters beyond which a result is persisted to a file when the tool says nothing else. */
const DEFAULT_MAX_RESULT_SIZE_CHARS = 50_000;

/** What a tool must say; everything else in `Tool` has a default. `description` and `prompt` may be plain text. */
export type ToolDefinition<Input extends object, Output> = Pick<Tool<Input, Output>, 'name' | 'call' | 'inputSchema'> & {
  readonly description: string | (() => string);
  /** Defaults to the description. */
  readonly prompt?: string | (() => string);
} & Partial<Omit<Tool<Input, Output>, 'name' | 'call' | 'inputSchema' | 'description' | 'prompt'>>;

/**
 * Builds a tool from its definition. Input and output types follow from `inputSchema` and `call`.
 *
 * The defaults fail closed: not concurrency-safe, not read-only, destructiveness undeclared (which rules treat as destructive),
 * not idempotent, no person required, a new message of the person waits, permission left to rules and mode.
 */
export function buildTool<Input extends object, Output>(definition: ToolDefinition<Input, Output>): Tool<Input, Output> {
  const text = (value: string | (() => string)): (() => string) => (typeof value === 'string' ? () => value : value);
  const description = text(definition.description);
  const userFacingName = definition.userFacingName ?? (() => definition.name);
  const defaults: Omit<Tool<Input, Output>, 'name' | 'call' | 'inputSchema' | 'description' | 'prompt'> = {
    aliases: [],
    searchHint: undefined,
    inputJSONSchema: undefined,
    answeredInputSchema: undefined,
    outputSchema: undefined,
    validateInput: undefined,
    checkPermissions: undefined,
    preparePermissionMatcher: undefined,
    isEnabled: () => true,
    isConcurrencySafe: () => false,
    isReadOnly: () => false,
    isDestructive: () => undefined,
    resourceKeys: undefined,
    interruptBehavior: 'block',
    requiresUserInteraction: () => false,
    shouldDefer: false,
    backfillObservableInput: undefined,
    toAutoClassifierInput: undefined,
    userFacingName,
    maxResultSizeChars: DEFAULT_MAX_RESULT_SIZE_CHARS,
    idempotent: false,
    strictInput: false,
    onError: 'continue',
    timeoutMs: undefined,
    idleTimeoutMs: undefined,
    mapToolResultToToolResultBlockParam: mapPlainOutput,
    renderToolUseMessage: (input) => ({ title: userFacingName(input), body: JSON.stringify(input, null, 2), format: 'json' }),
    renderToolResultMessage: (output) => renderPlainOutput(userFacingName(), output),
    renderToolUseRejectedMessage: (input, reason) => ({ title: `${userFacingName(input)} was not allowed`, body: reason }),
    renderToolUseErrorMessage: (error) => ({ title: `${userFacingName()} failed`, body: error }),
    mcp: undefined,
  };
  return Object.freeze({
    ...defaults,
    ...definition,
    description,
    prompt: definition.prompt === undefined ? description : text(definition.prompt),
  });
}

/** A string goes to the model as it is, nothing as nothing, everything else as JSON. */
function mapPlainOutput(output: unknown): MappedToolResult {
  if (output === undefined || output === null) return { content: '' };
  return { content: typeof output === 'string' ? output : (JSON.stringify(output, null, 2) ?? '') };
}

function renderPlainOutput(title: string, output: unknown): RenderedMessage {
  const { content } = mapPlainOutput(output);
  return { title, body: typeof content === 'string' ? content : '', format: typeof output === 'string' ? 'text' : 'json' };
}

/** An input schema for tools whose schema is a JSON Schema from elsewhere: any object passes, the JSON Schema decides. */
export const anyObjectInput: z.ZodType<JsonObject> = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  { error: 'expected object' },
);
