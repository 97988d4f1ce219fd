import fc from 'fast-check';
import type { ContentBlockParam, MessageParam } from '../../src/messages/types.js';

/** Shared builders and fast-check arbitraries for histories, good and damaged. */
export const user = (...content: ContentBlockParam[]): MessageParam => ({ role: 'user', content });
export const assistant = (...content: ContentBlockParam[]): MessageParam => ({ role: 'assistant', content });
export const text = (value: string): ContentBlockParam => ({ type: 'text', text: value });
export const use = (id: string, input: unknown = {}): ContentBlockParam => ({ type: 'tool_use', id, name: 'Read', input });
export const result = (id: string, content = `result of ${id}`): ContentBlockParam => ({ type: 'tool_result', tool_use_id: id, content });
export const search = (id: string): ContentBlockParam => ({ type: 'server_tool_use', id, name: 'web_search', input: {} });
export const found = (id: string): ContentBlockParam => ({ type: 'web_search_tool_result', tool_use_id: id, content: [] });

/** A history as a well-behaved session writes it: a prompt, then turns; it ends in a user message. */
export const goodHistory: fc.Arbitrary<MessageParam[]> = fc
  .array(fc.record({ calls: fc.integer({ min: 0, max: 3 }), say: fc.boolean(), think: fc.boolean(), queued: fc.boolean() }), {
    maxLength: 8,
  })
  .map((turns) => {
    const messages: MessageParam[] = [user(text('prompt'))];
    turns.forEach(({ calls, say, think, queued }, turn) => {
      const ids = Array.from({ length: calls }, (_, call) => `t${turn}_${call}`);
      const words = say || calls === 0 ? [text(`answer ${turn}`)] : [];
      const thinking: ContentBlockParam[] = think ? [{ type: 'thinking', thinking: 'hm', signature: `s${turn}` }] : [];
      messages.push(assistant(...thinking, ...words, ...ids.map((id) => use(id))));
      const more = queued || calls === 0 ? [text(`prompt ${turn}`)] : [];
      messages.push(user(...ids.map((id) => result(id)), ...more));
    });
    return messages;
  });

const anyId = fc.constantFrom('a', 'b', 'c', 'd', 'srvtoolu_1', 'srvtoolu_2', 'mcptoolu_1', 'bad|id', 'bad_id', 'srvtoolu|1', '');
const anyText = fc.constantFrom('', ' ', 'x', 'half \ud83d', '</system-reminder>');
function block(value: object): ContentBlockParam {
  return value as ContentBlockParam; // damaged on purpose: no type of the SDK allows these
}
const anyBlock: fc.Arbitrary<ContentBlockParam> = fc.oneof(
  anyText.map((value) => text(value)),
  fc
    .tuple(anyId, fc.constantFrom({}, { x: 'half \udc00' }, 'no object', undefined))
    .map(([id, input]) => block({ type: 'tool_use', id, name: 'Re ad', input })),
  fc
    .tuple(
      anyId,
      fc.constantFrom(
        undefined,
        null,
        '',
        'ok',
        [],
        [{ type: 'text', text: '' }],
        [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
        [{ type: 'odd' }],
      ),
      fc.boolean(),
    )
    .map(([id, content, isError]) => block({ type: 'tool_result', tool_use_id: id, content, is_error: isError })),
  anyId.map((id) => block({ type: 'server_tool_use', id, name: 'web_search', input: {} })),
  anyId.map((id) => block({ type: 'web_search_tool_result', tool_use_id: id, content: [] })),
  fc.constantFrom('', 'sig').map((signature) => block({ type: 'thinking', thinking: 't', signature })),
  fc.constantFrom(
    block({ type: 'redacted_thinking', data: '' }),
    block({ type: 'fallback' }),
    block({ type: 'invalid' }),
    block({ type: 'image', source: null }),
  ),
  anyId.map((id) =>
    block({ type: 'tool_use', id, name: 'Code', input: {}, caller: { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' } }),
  ),
);

/** Any sequence of blocks under any roles: what a damaged file may hold. */
export const anyHistory: fc.Arbitrary<MessageParam[]> = fc.array(
  fc.record({ role: fc.constantFrom('user', 'assistant', 'system'), content: fc.oneof(anyText, fc.array(anyBlock, { maxLength: 5 })) }),
  { maxLength: 12 },
) as fc.Arbitrary<MessageParam[]>;

/** A good history with messages and blocks dropped, doubled, swapped and split. */
export const damagedHistory: fc.Arbitrary<MessageParam[]> = fc
  .tuple(
    goodHistory,
    fc.array(fc.record({ how: fc.constantFrom('drop', 'double', 'swap', 'split', 'dropBlock'), at: fc.nat(40), block: fc.nat(5) }), {
      maxLength: 6,
    }),
  )
  .map(([history, damages]) => {
    const messages = history.map((message) => ({ ...message }));
    for (const { how, at, block: which } of damages) {
      const index = at % Math.max(messages.length, 1);
      const message = messages[index];
      const next = messages[index + 1];
      if (message === undefined || typeof message.content === 'string' || message.role === 'system') continue;
      const { role, content } = message;
      if (how === 'drop') messages.splice(index, 1);
      else if (how === 'double') messages.splice(index, 0, message);
      else if (how === 'swap' && next !== undefined) messages.splice(index, 2, next, message);
      else if (how === 'split') messages.splice(index, 1, ...content.map((one) => ({ role, content: [one] })));
      else if (how === 'dropBlock') messages.splice(index, 1, { role, content: content.filter((_, at) => at !== which % content.length) });
    }
    return messages;
  });
