import { describe, expect, it } from 'vitest';
import { assertSendable, checkPairing, checkThinkingUnchanged, UnsendableMessagesError } from '../../src/messages/pairing.js';
import type { ContentBlockParam, MessageParam } from '../../src/messages/types.js';

const user = (...content: ContentBlockParam[]): MessageParam => ({ role: 'user', content });
const assistant = (...content: ContentBlockParam[]): MessageParam => ({ role: 'assistant', content });
const text = (value: string): ContentBlockParam => ({ type: 'text', text: value });
const use = (id: string, input: unknown = {}): ContentBlockParam => ({ type: 'tool_use', id, name: 'Read', input });
const result = (id: string, content = 'ok'): ContentBlockParam => ({ type: 'tool_result', tool_use_id: id, content });
const search = (id: string): ContentBlockParam => ({ type: 'server_tool_use', id, name: 'web_search', input: {} });
const found = (id: string): ContentBlockParam => ({ type: 'web_search_tool_result', tool_use_id: id, content: [] });
const codes = (...messages: MessageParam[]) => checkPairing(messages).map((problem) => problem.code);
const hi = user(text('hi'));

describe('a history the API takes', () => {
  it.each<[string, MessageParam[]]>([
    ['a plain prompt', [{ role: 'user', content: 'hi' }]],
    [
      'parallel calls answered in one message, text after the results',
      [hi, assistant(use('a'), use('b')), user(result('b'), result('a'), text('also'))],
    ],
    ['an empty string as result content', [hi, assistant(use('a')), user(result('a', ''))]],
    ['a server call answered in its own message', [hi, assistant(search('srvtoolu_1'), found('srvtoolu_1'), text('x')), hi]],
    [
      'a server call answered in the next assistant message',
      [hi, assistant(search('srvtoolu_1'), use('a')), user(result('a')), assistant(found('srvtoolu_1'), text('x')), hi],
    ],
    ['a paused turn sent back as it is', [hi, assistant(search('srvtoolu_1'))]],
    ['a system message after the results', [hi, assistant(use('a')), user(result('a')), { role: 'system', content: 'more' }]],
    ['signed thinking before a call', [hi, assistant({ type: 'thinking', thinking: '', signature: 's' }, use('a')), user(result('a'))]],
  ])('passes: %s', (_name, messages) => {
    expect(checkPairing(messages)).toEqual([]);
    expect(() => assertSendable(messages)).not.toThrow();
  });
});

describe('a history the API refuses', () => {
  it.each<[string, MessageParam[], string[]]>([
    ['an assistant message first', [assistant(text('x')), hi], ['first_not_user']],
    ['two user messages in a row', [hi, hi], ['roles_do_not_alternate']],
    ['an assistant prefill at the end', [hi, assistant(text('x'))], ['trailing_assistant']],
    ['a call without result', [hi, assistant(use('a')), hi], ['missing_result']],
    ['a call at the end', [hi, assistant(use('a'))], ['missing_result']],
    [
      'a result one message too late',
      [hi, assistant(use('a')), hi, assistant(text('x')), user(result('a'))],
      ['missing_result', 'orphan_result'],
    ],
    ['a result without call', [user(result('a'))], ['orphan_result']],
    [
      'a result whose content is neither text nor a list',
      [hi, assistant(use('a')), JSON.parse('{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":{"ok":true}}]}')],
      ['bad_block'],
    ],
    ['two results for one call', [hi, assistant(use('a')), user(result('a'), result('a'))], ['duplicate_result']],
    ['text before a result', [hi, assistant(use('a')), user(text('x'), result('a'))], ['results_not_first']],
    ['an image between two results', [hi, assistant(use('a'), use('b')), user(result('a'), text('x'), result('b'))], ['results_not_first']],
    ['the same call id twice', [hi, assistant(use('a'), use('a')), user(result('a'))], ['duplicate_tool_use']],
    [
      'an id used again later',
      [hi, assistant(use('a')), user(result('a')), assistant(use('a')), user(result('a'))],
      ['duplicate_tool_use'],
    ],
    [
      'a client result for a server call',
      [hi, assistant(search('srvtoolu_1'), found('srvtoolu_1')), user(result('srvtoolu_1'))],
      ['result_for_server_tool'],
    ],
    [
      'text while a server call is pending',
      [hi, assistant(search('srvtoolu_1'), use('a')), user(result('a'), text('x'))],
      ['not_only_results'],
    ],
    ['a server call that a prompt cut off', [hi, assistant(search('srvtoolu_1')), hi], ['server_tool_unanswered']],
    ['a server result without call', [hi, assistant(found('srvtoolu_1'), text('x')), hi], ['server_result_orphan']],
    [
      'a system message between call and result',
      [hi, assistant(use('a')), { role: 'system', content: 'x' }, user(result('a'))],
      ['misplaced_system_message', 'misplaced_system_message', 'missing_result', 'orphan_result'],
    ],
    ['an empty text block', [user(text(''))], ['empty_text']],
    ['a text of blanks', [user(text(' \n'))], ['empty_text']],
    [
      'an empty text block inside a result',
      [hi, assistant(use('a')), user({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: '' }] })],
      ['empty_text'],
    ],
    ['a message without content', [user()], ['empty_content']],
    ['half a surrogate pair', [user(text('a\ud83d'))], ['ill_formed_string']],
    ['half a surrogate pair deep in an input', [hi, assistant(use('a', { x: ['\udc00'] })), user(result('a'))], ['ill_formed_string']],
    ['an input that is no object', [hi, assistant(use('a', 'x')), user(result('a'))], ['bad_tool_use']],
    [
      'thinking that lost its signature',
      [hi, assistant({ type: 'thinking', thinking: 'x', signature: '' }, text('y')), hi],
      ['unsigned_thinking'],
    ],
    ['thinking as the last block', [hi, assistant({ type: 'thinking', thinking: 'x', signature: 's' }), hi], ['trailing_thinking']],
    ['a result in an assistant message', [hi, assistant(result('a'), text('x')), hi], ['misplaced_block']],
    [
      'an image that is not base64',
      [user({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: '%%%' } })],
      ['bad_image'],
    ],
  ])('finds: %s', (_name, messages, expected) => {
    expect(codes(...messages)).toEqual(expected);
    expect(() => assertSendable(messages)).toThrow(UnsendableMessagesError);
  });

  it('says where, which call, and what, in the manner of the API', () => {
    expect(checkPairing([hi, assistant(text('x'), use('toolu_9')), hi])).toEqual([
      {
        code: 'missing_result',
        message: 1,
        id: 'toolu_9',
        text:
          'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_9. ' +
          'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
      },
    ]);
    expect(checkPairing([user(result('toolu_9'))])[0]).toMatchObject({ message: 0, block: 0, id: 'toolu_9' });
  });

  it('refuses to send nothing at all', () => {
    expect(() => assertSendable([])).toThrow(/at least one message is required/);
  });

  it('notices thinking that changed between two requests', () => {
    const thought = (signature: string) => [hi, assistant({ type: 'thinking', thinking: 't', signature }, use('a')), user(result('a'))];
    expect(checkThinkingUnchanged(thought('s'), [...thought('s'), assistant(text('x'))])).toEqual([]);
    expect(checkThinkingUnchanged(thought('s'), thought('other')).map((problem) => problem.code)).toEqual(['thinking_modified']);
  });
});
