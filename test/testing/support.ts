import { afterEach } from 'vitest';
import { createAnthropicClient } from '../../src/model/anthropic.js';
import { type Script, type ScriptedServer, type ScriptedServerOptions, scriptedServer } from '../../src/testing/index.js';

const servers: ScriptedServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A server that is closed after the test. */
export async function serve(script: Script, options: Omit<ScriptedServerOptions, 'script'> = {}): Promise<ScriptedServer> {
  const server = await scriptedServer({ script, ...options });
  servers.push(server);
  return server;
}

export const clientOf = (server: { readonly url: string }) => createAnthropicClient({ baseURL: server.url, apiKey: 'test', env: {} });

/** A raw request, as a program without our client would send it. */
export function post(server: { readonly url: string }, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${server.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'k', 'anthropic-version': '2023-06-01', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

export const hello = { model: 'claude-test', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] };
