import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { DEFAULT_MAX_TOKENS, DEFAULT_MODEL } from '../model/settings.js';
import type { PermissionMode } from '../permissions/types.js';
import type { ModelOptions, SessionOptions } from '../session/options.js';
import { parseMode } from '../settings/mode.js';
import { CliError } from './failure.js';
import { wholeNumber } from './place.js';

/** How deny and ask rules may look at commands that hide what they run. */
const OPAQUE_WAYS = ['strict', 'claude-code'] as const;

/** What every command that runs sessions may be told of them. */
export const sessionOptionsSchema = z.object({
  model: z.string().optional(),
  maxTokens: z.number().optional(),
  baseUrl: z.string().optional(),
  system: z.string().optional(),
  mode: z.custom<PermissionMode>().optional(),
  trust: z.boolean().optional(),
  opaque: z.enum(OPAQUE_WAYS).optional(),
});
export type SessionFlags = z.infer<typeof sessionOptionsSchema>;

export function addSessionOptions(command: Command): Command {
  return command
    .option('--model <id>', `model id (default: SIXGATES_MODEL, ANTHROPIC_MODEL, ${DEFAULT_MODEL})`)
    .addOption(
      new Option(
        '--max-tokens <n>',
        `output limit of one answer, in tokens (default: SIXGATES_MAX_TOKENS, CLAUDE_CODE_MAX_OUTPUT_TOKENS, ${DEFAULT_MAX_TOKENS})`,
      ).argParser(wholeNumber),
    )
    .option('--base-url <url>', 'address of the Messages API (default: SIXGATES_BASE_URL, ANTHROPIC_BASE_URL, the Claude API)')
    .option('--system <text>', 'system prompt')
    .addOption(new Option('--mode <mode>', `permission mode: ${MODES} (default: the one in the settings)`).argParser(modeOf))
    .option('--trust', "let the project's own allow rules count")
    .addOption(opaqueOption());
}

export const opaqueOption = (): Option =>
  new Option(
    '--opaque <how>',
    'how deny and ask rules look at commands that hide what they run: strict (default), or as leniently as claude-code',
  ).choices(OPAQUE_WAYS);

export const MODES = 'default, acceptEdits, plan, auto, dontAsk, bypassPermissions';
export function modeOf(text: string): PermissionMode {
  const mode = parseMode(text);
  if (mode === undefined) throw new InvalidArgumentError(`Modes: ${MODES}.`);
  return mode;
}

/** The flags as options of a session. Throws for an address that is none. */
export function sessionFlags({ mode, trust, opaque, ...model }: SessionFlags): Pick<SessionOptions, 'permissions' | 'opaque'> & {
  readonly model: ModelOptions;
  readonly settings: { readonly trusted: boolean };
} {
  return {
    model: {
      ...(model.model === undefined ? {} : { id: model.model }),
      ...(model.maxTokens === undefined ? {} : { maxTokens: model.maxTokens }),
      ...(model.baseUrl === undefined ? {} : { baseURL: checkedUrl(model.baseUrl) }),
      ...(model.system === undefined ? {} : { system: model.system }),
    },
    ...(mode === undefined ? {} : { permissions: { mode } }),
    ...(opaque === undefined ? {} : { opaque }),
    settings: { trusted: trust === true },
  };
}

function checkedUrl(text: string): string {
  if (!/^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : ''))
    throw new CliError(`--base-url ${text}: an address looks like https://api.anthropic.com.`);
  return text;
}
