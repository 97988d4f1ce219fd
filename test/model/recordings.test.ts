import Anthropic from '@anthropic-ai/sdk';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { createAnthropicClient } from '../../src/model/anthropic.js';
import { recording, type ScriptedServer, scriptedModel, scriptedServer } from '../../src/testing/index.js';
import { collect, outcome, recordings } from './support.js';

const all = recordings();
const named = (name: string) => all.find((entry) => entry.name === name)?.text ?? '';
/** The SDK's own accumulation refuses these, or keeps half a tool input; each has its own test below. */
const ODD = ['duplicate-message-start.chunks.txt', 'spliced-message-start.chunks.txt', 'incomplete_partial_json_response.txt'];

let server: ScriptedServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function playHttp(text: string, chunkBytes?: number) {
  server = await scriptedServer({ script: () => [recording(text)], ...(chunkBytes === undefined ? {} : { chunkBytes }) });
  return collect(createAnthropicClient({ baseURL: server.url, apiKey: 'test', env: {} }));
}

describe.skipIf(all.length === 0)('recorded streams', () => {
  test.each(all.filter(({ name }) => !ODD.includes(name)))(
    '$name: the blocks and the stop reason are those the official SDK adds up',
    async ({ text }) => {
      const ours = outcome(await playHttp(text));
      const sdk = new Anthropic({ baseURL: server?.url ?? '', apiKey: 'test', maxRetries: 0 });
      const stream = sdk.beta.messages.stream({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] });
      const theirs = await stream.finalMessage();
      expect(ours.blocks).toEqual(JSON.parse(JSON.stringify(theirs.content)));
      expect(ours.end).toMatchObject({ kind: 'complete', stopReason: theirs.stop_reason, messageId: theirs.id, model: theirs.model });
      expect(ours.end?.usage).toMatchObject({ output_tokens: theirs.usage.output_tokens });
      expect(ours.notes).toEqual([]);
    },
  );

  test.each(all)('$name: the port without HTTP tells the same', async ({ text }) => {
    expect(await collect(scriptedModel([[recording(text)]]))).toEqual(await playHttp(text));
  });

  test('a tool call of a recorded answer comes with its raw text and its parsed input', async () => {
    const { calls } = outcome(await playHttp(named('tool_use_response.txt')));
    expect(calls).toEqual([
      {
        id: 'toolu_01NRLabsLyVHZPKxbKvkfSMn',
        name: 'get_weather',
        index: 1,
        rawInput: '{"location": "Paris"}',
        input: { kind: 'object', value: { location: 'Paris' } },
      },
    ]);
  });

  test('a call cut off by max_tokens is answered as cut off, never run on half its input', async () => {
    const { blocks, calls, end } = outcome(await playHttp(named('incomplete_partial_json_response.txt')));
    expect(calls.map(({ input }) => input)).toEqual([{ kind: 'invalid', reason: 'cut off by max_tokens' }]);
    expect(calls[0]?.rawInput).toContain('taxes.txt');
    expect(blocks[1]).toMatchObject({ type: 'tool_use', input: {} });
    expect(end).toMatchObject({ kind: 'complete', stopReason: 'max_tokens' });
  });

  test('a message_start sent twice is ignored the second time', async () => {
    const { blocks, discarded, notes } = outcome(await playHttp(named('duplicate-message-start.chunks.txt')));
    expect(blocks).toEqual([{ type: 'text', text: 'Hello, World!' }]);
    expect(discarded).toEqual([]);
    expect(notes).toEqual(['message_start of msg_dup came again and was ignored']);
  });

  test('of two messages spliced into one stream nothing of the first remains', async () => {
    const events = await playHttp(named('spliced-message-start.chunks.txt'));
    const { blocks, calls, discarded, end } = outcome(events);
    expect(discarded).toHaveLength(1);
    expect(JSON.stringify(blocks)).not.toMatch(/first/);
    expect(blocks[0]).toMatchObject({ type: 'thinking', signature: 'sig-second' });
    expect(calls.map(({ id, input }) => [id, input])).toEqual([['toolu_second', { kind: 'object', value: { value: 'Sparkle Day' } }]]);
    expect(end).toMatchObject({ kind: 'complete', messageId: 'msg_second' });
    // The call of the first message was open when it was abandoned: it was never handed on at all.
    expect(events.filter((event) => event.type === 'block.completed' && event.toolUse?.id === 'toolu_first')).toEqual([]);
  });

  test('the same bytes cut anywhere give the same events', async () => {
    const short = all.filter(({ text }) => text.length < 6_000);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...short), fc.integer({ min: 1, max: 40 }), async ({ text }, chunkBytes) => {
        const cut = await playHttp(text, chunkBytes);
        await server?.close();
        expect(cut).toEqual(await collect(scriptedModel([[recording(text)]])));
      }),
      { numRuns: 12 },
    );
  });
});
