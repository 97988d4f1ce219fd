import { expect, test } from 'vitest';
import { text } from '../../src/testing/index.js';
import { hello, post, serve } from './support.js';

const user = (...content: unknown[]) => ({ role: 'user', content });
const assistant = (...content: unknown[]) => ({ role: 'assistant', content });
const say = (words: string) => ({ type: 'text', text: words });
const use = (id: string, over: object = {}) => ({ type: 'tool_use', id, name: 'Read', input: {}, ...over });
const result = (id: string, content: unknown = 'ok') => ({ type: 'tool_result', tool_use_id: id, content });
const read = { name: 'Read', input_schema: { type: 'object' } };
const ask = user(say('hi'));
const talk = (...messages: unknown[]) => ({ ...hello, tools: [read], messages });

const refused: readonly (readonly [string, object, RegExp])[] = [
  [
    'a call without a result',
    talk(ask, assistant(use('t1')), user(say('go on'))),
    /messages\.1.*`tool_use` ids were found without `tool_result` blocks immediately after: t1\. Each `tool_use` block must have a corresponding `tool_result` block in the next message\./,
  ],
  [
    'one of two results missing',
    talk(ask, assistant(use('t1'), use('t2')), user(result('t1'))),
    /without `tool_result` blocks immediately after: t2/,
  ],
  [
    'a result without a call',
    talk(ask, assistant(say('a')), user(result('t9'))),
    /unexpected `tool_use_id` found in `tool_result` blocks: t9/,
  ],
  ['two results for a call', talk(ask, assistant(use('t1')), user(result('t1'), result('t1'))), /each tool_use must have a single result/],
  ['text before the results', talk(ask, assistant(use('t1')), user(say('here'), result('t1'))), /messages\.2/],
  [
    'a call id used twice',
    talk(ask, assistant(use('t1')), user(result('t1')), assistant(use('t1')), user(result('t1'))),
    /`tool_use` ids must be unique/,
  ],
  [
    'an input that is no object',
    talk(ask, assistant(use('t1', { input: 'x' })), user(result('t1'))),
    /tool_use\.input: Input should be a valid dictionary/,
  ],
  [
    'a result for a server tool',
    talk(ask, assistant({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }), user(result('srvtoolu_1'))),
    /srvtoolu_1/,
  ],
  ['a first message that is not the user’s', talk(assistant(say('a')), ask), /first message must use the "user" role/],
  ['an empty text block', talk(user(say(''))), /text content blocks must be non-empty/],
  ['a blank text block', talk(user(say(' \n'))), /must contain non-whitespace text/],
  ['an empty text block inside a result', talk(ask, assistant(use('t1')), user(result('t1', [say('')]))), /must be non-empty/],
  ['empty content', talk(user()), /must have non-empty content/],
  ['thinking without its signature', talk(ask, assistant({ type: 'thinking', thinking: 'x' }, say('a')), ask), /signature/],
  [
    'a prefilled answer',
    talk(ask, assistant(say('The answer is'))),
    /does not support assistant message prefill\. The conversation must end with a user message/,
  ],
  ['no messages', talk(), /at least one message is required/],
  ['messages that are no list', { ...hello, messages: 'hi' }, /messages: Input should be a valid list/],
  ['a message without content', talk({ role: 'user' }), /messages\.0/],
  ['no model', { ...hello, model: undefined }, /model: Field required/],
  ['no max_tokens', { ...hello, max_tokens: undefined }, /max_tokens: Field required/],
  ['max_tokens of zero', { ...hello, max_tokens: 0 }, /greater than or equal to 1/],
  [
    'a tool name off the pattern',
    { ...hello, tools: [{ ...read, name: 'mcp.read file' }] },
    /tools\.0\.custom\.name: String should match pattern/,
  ],
  ['a tool name too long', { ...hello, tools: [{ ...read, name: 'x'.repeat(65) }] }, /tools\.0\.custom\.name: String should match pattern/],
  ['a tool name twice', { ...hello, tools: [read, read] }, /Tool names must be unique/],
  ['a tool without a schema', { ...hello, tools: [{ name: 'Read' }] }, /tools\.0\.custom\.input_schema: Field required/],
  ['a schema whose root is no object', { ...hello, tools: [{ name: 'Read', input_schema: { type: 'array' } }] }, /input_schema\.type/],
  [
    'a union at the root of a schema',
    { ...hello, tools: [{ name: 'Read', input_schema: { type: 'object', oneOf: [] } }] },
    /does not support oneOf, allOf, or anyOf at the top level/,
  ],
  ['only deferred tools', { ...hello, tools: [{ ...read, defer_loading: true }] }, /At least one tool must have defer_loading=false/],
  [
    'tool calls in a request without tools',
    { ...talk(ask, assistant(use('t1')), user(result('t1'))), tools: undefined },
    /must define tools/,
  ],
  [
    'too many cache marks',
    { ...hello, tools: ['a', 'b', 'c', 'd', 'e'].map((name) => ({ ...read, name, cache_control: { type: 'ephemeral' } })) },
    /maximum of 4 blocks with cache_control may be provided\. Found 5/,
  ],
];

test.each(refused)('%s is refused as the API does it: 400, in its words', async (_, body, words) => {
  const server = await serve([[text('never')]]);
  const response = await post(server, body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    type: 'error',
    error: { type: 'invalid_request_error', message: expect.stringMatching(words) },
    request_id: expect.any(String),
  });
  expect(server.requests).toEqual([]);
  expect(() => server.assertConsumed()).toThrow(/request 1 was refused/);
});

const accepted: readonly (readonly [string, object])[] = [
  [
    'parallel calls answered in one message',
    talk(ask, assistant(say('a'), use('t1'), use('t2')), user(result('t2'), result('t1'), say('and this'))),
  ],
  ['a result without content', talk(ask, assistant(use('t1')), user({ type: 'tool_result', tool_use_id: 't1' }))],
  ['a paused turn sent back', talk(ask, assistant({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }))],
  [
    'server tools beside client tools',
    { ...hello, tools: [read, { type: 'web_search_20250305', name: 'web_search' }, { type: 'computer_toolset_20260801' }] },
  ],
  [
    'four cache marks',
    {
      ...hello,
      system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }],
      tools: [{ ...read, cache_control: { type: 'ephemeral' } }],
    },
  ],
];

test.each(accepted)('%s is accepted', async (_, body) => {
  const server = await serve([[text('fine')]]);
  expect((await post(server, body)).status).toBe(200);
  server.assertConsumed();
});

test.each([
  ['temperature', { ...hello, temperature: 1 }],
  ['a document in an answer', talk(ask, assistant(say('a'), { type: 'document', source: {} }), ask)],
  ['citations in a prompt', talk(user({ ...say('a'), citations: [{}] }))],
])('%s is refused from API version 2026-10-21 on', async (_, body) => {
  const server = await serve([[text('fine')], [text('fine')]]);
  expect((await post(server, body, { 'anthropic-version': '2026-10-21' })).status).toBe(400);
  const before = await post(server, body, { 'anthropic-version': '2023-06-01' });
  // Documents never belonged into answers; the older version says so as well.
  expect(before.status).toBe(JSON.stringify(body).includes('document') ? 400 : 200);
});

test('no key is 401, no version is 400, no JSON is 400', async () => {
  const server = await serve([[text('never')]]);
  expect((await post(server, hello, { 'x-api-key': '' })).status).toBe(401);
  expect(await (await post(server, hello, { 'anthropic-version': '' })).json()).toMatchObject({
    error: { message: expect.stringContaining('anthropic-version') },
  });
  expect(await (await post(server, '{"model":')).json()).toMatchObject({ error: { message: expect.stringContaining('not valid JSON') } });
  expect(server.refusals.map(({ request, status }) => [request, status])).toEqual([
    [1, 401],
    [2, 400],
    [3, 400],
  ]);
});

test('a lenient server takes what the API would refuse', async () => {
  const server = await serve([[text('ok')]], { strict: false });
  expect((await post(server, talk(ask, assistant(use('t1')), user(say('no result'))))).status).toBe(200);
});
