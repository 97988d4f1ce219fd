import { createAnthropicClient } from '../model/anthropic.js';
import { type RetryPolicy, retryPolicyFrom } from '../model/retry.js';
import type { ModelOptions, SessionOptions } from './options.js';
import type { Services } from './services.js';

/** The model of a session: what is given in code, else what the environment says. */
export function modelServices(options: Pick<SessionOptions, 'model'>, env: Services['env']): Services['model'] {
  const given: ModelOptions = typeof options.model === 'string' ? { id: options.model } : (options.model ?? {});
  const client = createAnthropicClient({ apiKey: given.apiKey, baseURL: given.baseURL, model: given.id, maxTokens: given.maxTokens, env });
  return {
    client: given.client ?? client,
    id: client.settings.model,
    maxTokens: client.settings.maxTokens,
    system: given.system,
    thinking: given.thinking,
    betas: given.betas ?? [],
    retry: { ...retryPolicyFrom(env), ...withoutUndefined(given.retry ?? {}) },
  };
}

/** What is given as undefined is not given. */
const withoutUndefined = (given: Partial<RetryPolicy>): Partial<RetryPolicy> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
