import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';

/** Any JSON value, for fields whose meaning is settled elsewhere (a tool's schema). */
export const jsonValue: z.ZodType<JsonValue> = z.json();
const jsonObject: z.ZodType<JsonObject> = z.custom<JsonObject>(isJsonObject, 'expected an object');

const common = {
  if: z.string().min(1).exactOptional(),
  timeout: z.number().positive('must be more than 0 seconds').exactOptional(),
  statusMessage: z.string().exactOptional(),
  once: z.boolean().exactOptional(),
  onFailure: z.enum(['continue', 'block']).exactOptional(),
};

/** The handlers of a settings file. Keys that are not known here are dropped and reported beside: never a reason to drop a guard. */
export const HANDLER_SCHEMAS = {
  command: z.object({
    type: z.literal('command'),
    command: z.string().min(1, 'must not be empty'),
    args: z.array(z.string()).exactOptional(),
    shell: z.enum(['bash', 'powershell']).exactOptional(),
    async: z.boolean().exactOptional(),
    asyncRewake: z.boolean().exactOptional(),
    ...common,
  }),
  http: z.object({
    type: z.literal('http'),
    url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
    headers: z.record(z.string(), z.string()).exactOptional(),
    allowedEnvVars: z.array(z.string()).exactOptional(),
    ...common,
  }),
  mcp_tool: z.object({
    type: z.literal('mcp_tool'),
    server: z.string().min(1, 'must not be empty'),
    tool: z.string().min(1, 'must not be empty'),
    input: jsonObject.exactOptional(),
    ...common,
  }),
  prompt: z.object({
    type: z.literal('prompt'),
    prompt: z.string().min(1, 'must not be empty'),
    model: z.string().exactOptional(),
    continueOnBlock: z.boolean().exactOptional(),
    ...common,
  }),
} as const;

export const HANDLER_TYPES: readonly string[] = [...Object.keys(HANDLER_SCHEMAS), 'agent'];

/** Fields without which a handler still says what it guards and how. */
export const LIMIT_KEYS: ReadonlySet<string> = new Set(['timeout', 'statusMessage', 'once']);

/** Keys people put beside the known ones only to document a hook. */
export const COMMENT_KEYS: ReadonlySet<string> = new Set(['description', '$comment', 'name']);

export const MATCHER_KEYS: ReadonlySet<string> = new Set(['matcher', 'hooks', ...COMMENT_KEYS]);

/** First complaint of a failed parse as `path` and `message`, in words of the settings file. */
export function issuesOf(error: z.ZodError): readonly { readonly path: string; readonly message: string }[] {
  return error.issues.map((issue) => ({
    path: issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join(''),
    message:
      issue.code === 'invalid_type' && issue.message.endsWith('received undefined')
        ? `${issue.message} (the field is missing)`
        : issue.message,
  }));
}
