import { lastValueFrom, toArray } from 'rxjs';
import { expect, test } from 'vitest';
import { createAnthropicClient } from '../../src/model/anthropic.js';
import type { ModelClient, ModelRequest } from '../../src/model/types.js';
import { scriptedModel, scriptedServer, text, toolUse } from '../../src/testing/index.js';

const request: ModelRequest = {
  id: 'model:s:q:1',
  model: 'claude-test',
  maxTokens: 1000,
  system: 'be brief',
  tools: [{ name: 'Read', input_schema: { type: 'object' } }],
  messages: [{ role: 'user', content: 'hi' }],
};
const run = (model: ModelClient) => lastValueFrom(model.stream(request, () => {}).pipe(toArray()));

test('smoke', async () => {
  const script = [[text('hello'), toolUse('Read', { file_path: '/a' })], [text('done')]];
  const server = await scriptedServer({ script });
  const model = createAnthropicClient({ baseURL: server.url, apiKey: 'k', env: {} });
  const a = await run(model);
  const b = await run(scriptedModel(script));
  expect(a).toEqual(b);
  await run(model);
  server.assertConsumed();
  await server.close();
});
