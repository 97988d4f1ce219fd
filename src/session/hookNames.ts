import type { SessionHookRunner } from '../hooks/runner-types.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';

/**
 * Lets matchers and hooks know a tool by its full name, where the name that the model uses had to be cut or changed for the API: whoever
 * writes a hook knows the server's and the tool's name, and nothing of hashes.
 */
export function withFullNames(runner: SessionHookRunner, fullName: (name: string) => string): SessionHookRunner {
  const nameIn = (payload: JsonObject): JsonObject =>
    typeof payload.tool_name === 'string' ? { ...payload, tool_name: fullName(payload.tool_name) } : payload;
  const inCalls = (calls: JsonValue | undefined): JsonValue | undefined =>
    Array.isArray(calls) ? calls.map((call: JsonValue) => (isJsonObject(call) ? nameIn(call) : call)) : calls;
  return {
    isConfigured: (event, subject) => runner.isConfigured(event, subject === undefined ? undefined : fullName(subject)),
    run: (request, options) => {
      const { subject, payload } = request;
      const calls = inCalls(payload.tool_calls);
      return runner.run(
        {
          ...request,
          ...(subject === undefined ? {} : { subject: fullName(subject) }),
          payload: { ...nameIn(payload), ...(calls === undefined ? {} : { tool_calls: calls }) },
        },
        options,
      );
    },
    close: () => runner.close(),
  };
}
