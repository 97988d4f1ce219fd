import type { MessageParam } from '../messages/types.js';
import { createAnthropicClient } from '../model/anthropic.js';
import { type RetryPolicy, retryPolicyFrom } from '../model/retry.js';
import type { ModelClient, ModelRequest } from '../model/types.js';
import type { ModelOptions, SessionOptions } from './options.js';
import type { Services } from './services.js';

/**
 * The model of a session: what is given in code, else what the environment says. A subagent asks through its parent's port, which is kept
 * from the session's own already.
 */
export function modelServices(options: Pick<SessionOptions, 'model'>, env: Services['env'], parents?: ModelClient): Services['model'] {
  const given: ModelOptions = typeof options.model === 'string' ? { id: options.model } : (options.model ?? {});
  const client = createAnthropicClient({ apiKey: given.apiKey, baseURL: given.baseURL, model: given.id, maxTokens: given.maxTokens, env });
  return {
    client: parents ?? (given.client === undefined ? client : keepingRequests(given.client)),
    id: client.settings.model,
    maxTokens: client.settings.maxTokens,
    system: given.system,
    thinking: given.thinking,
    betas: given.betas ?? [],
    retry: { ...retryPolicyFrom(env), ...withoutUndefined(given.retry ?? {}) },
  };
}

/**
 * A port of somebody else's may add to the request in place (`cache_control`, a system text): neither history nor tools may hold that. Our
 * own does not, and need not have the whole history copied for each turn.
 */
const keepingRequests = (client: ModelClient): ModelClient => ({
  stream: (request, onDelta) => client.stream(detached(request), onDelta),
});

const detached = (request: ModelRequest): ModelRequest => ({
  ...request,
  tools: request.tools.map((tool) => ({ ...tool })),
  messages: request.messages.map(copyOf),
});

function copyOf(message: MessageParam): MessageParam {
  if (typeof message.content === 'string') return { ...message };
  if (message.role === 'system') return { ...message, content: message.content.map((block) => ({ ...block })) };
  return { ...message, content: message.content.map((block) => ({ ...block })) };
}

/** What is given as undefined is not given. */
const withoutUndefined = (given: Partial<RetryPolicy>): Partial<RetryPolicy> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
