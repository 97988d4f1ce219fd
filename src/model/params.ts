import type Anthropic from '@anthropic-ai/sdk';
import { isJsonObject, type JsonObject } from '../json.js';
import type { ModelSettings } from './settings.js';
import type { ModelRequest } from './types.js';

/** The request cannot be put into words of the API; it was not sent. */
export class InvalidRequestError extends Error {
  override readonly name = 'InvalidRequestError';
}

export interface RequestParamsOptions {
  /** Adds the top-level `cache_control`: the API then caches the longest prefix it can. */
  readonly promptCaching: boolean;
}

/** The body of the request. Keys always stand in the same order, so that equal requests are equal bytes. */
export function toRequestParams(
  request: ModelRequest,
  settings: ModelSettings,
  { promptCaching }: RequestParamsOptions,
): Anthropic.MessageCreateParamsStreaming {
  return {
    model: request.model === '' ? settings.model : request.model,
    max_tokens: request.maxTokens > 0 ? request.maxTokens : settings.maxTokens,
    stream: true,
    ...(promptCaching ? { cache_control: { type: 'ephemeral' } } : {}),
    ...(request.thinking === undefined ? {} : { thinking: thinkingConfig(request.thinking) }),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toolDefinition) }),
    ...(request.system === undefined || request.system.trim() === '' ? {} : { system: request.system }),
    messages: [...request.messages],
  };
}

/** Definitions come from the tool pool as JSON: what the API knows and the SDK's types do not yet must pass. */
function toolDefinition(tool: JsonObject, index: number): Anthropic.ToolUnion {
  if (isToolDefinition(tool)) return tool;
  throw new InvalidRequestError(`tools.${index}: a tool definition needs a \`name\` or a \`type\``);
}
function isToolDefinition(tool: unknown): tool is Anthropic.ToolUnion {
  return isJsonObject(tool) && (typeof tool.name === 'string' || typeof tool.type === 'string');
}

function thinkingConfig(config: JsonObject): Anthropic.ThinkingConfigParam {
  if (isThinkingConfig(config)) return config;
  throw new InvalidRequestError('thinking: needs a `type`, one of "enabled", "disabled", "adaptive"');
}
function isThinkingConfig(config: unknown): config is Anthropic.ThinkingConfigParam {
  return isJsonObject(config) && typeof config.type === 'string';
}
