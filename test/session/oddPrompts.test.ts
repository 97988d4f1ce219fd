import { describe, expect, it } from 'vitest';
import { gate, text } from '../../src/testing/index.js';
import { scene } from '../support/sessions.js';

/** A prompt from a program without types: JSON.parse promises nothing. */
const untyped = (prompt: unknown): string => JSON.parse(JSON.stringify(prompt));
const image = (data: string, type = 'image/png') => ({ type: 'image', source: { type: 'base64', media_type: type, data } });
const pdf = (data: string) => ({ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } });

describe('a prompt that the API would refuse', () => {
  it.each<[string, unknown, string]>([
    ['an empty text', '', 'needs a text'],
    ['blanks', ' \n\t', 'needs a text'],
    ['no blocks', [], 'needs a text'],
    ['only empty blocks', [{ type: 'text', text: '' }], 'needs a text'],
    ['a number', 5, 'a text or an array'],
    ['null', null, 'a text or an array'],
    ['one block without an array', { type: 'text', text: 'x' }, 'a text or an array'],
    ['what is no block', ['hello'], 'block 0'],
    ['null in an array', [{ type: 'text', text: 'ok' }, null], 'block 1'],
    ['a result of no call', [{ type: 'tool_result', tool_use_id: 'x', content: 'y' }], 'results of calls'],
    ['a call', [{ type: 'tool_use', id: 'x', name: 'Echo', input: {} }], 'block 0'],
    ['thinking', [{ type: 'thinking', thinking: 'x', signature: 'y' }], 'block 0'],
    ['an image without data', [image('')], 'no data'],
    ['an image that is not base64', [image('%%%')], 'not valid base64'],
    ['an image that is none', [image(Buffer.from('hello').toString('base64'))], 'are not image/png'],
    ['an image without a source', [{ type: 'image' }], 'has no source'],
    ['a document without a source', [{ type: 'document' }], 'has no source'],
    ['a document without data', [pdf('')], 'not a PDF'],
    ['a document that is not base64', [pdf('%%%')], 'not a PDF'],
    ['a document that is none', [pdf(Buffer.from('hello').toString('base64'))], 'not a PDF'],
    ['a document of blanks', [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: ' ' } }], 'is empty'],
    ['a search result without a text', [{ type: 'search_result', title: 't', source: 's', content: [] }], 'search result needs'],
    ['what belongs to answers', [{ type: 'fallback', from: { model: 'a' }, to: { model: 'b' } }], 'block 0'],
  ])('%s: is refused in words when it is given, and the conversation goes on', async (_, prompt, words) => {
    const { session, server } = await scene([[text('first')], [text('second')]]);
    expect((await session.send('before').done).text).toBe('first');
    expect(() => session.send(untyped(prompt))).toThrow(words);
    expect((await session.send('after').done).text).toBe('second');
    server.assertConsumed();
  });
});

describe('a prompt with media', () => {
  const whole = Buffer.from('%PDF-1.4\n%%EOF');
  const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

  it.each<[string, unknown, unknown]>([
    ['a document', pdf(whole.toString('base64')), pdf(whole.toString('base64'))],
    ['a document in lines', pdf(whole.toString('base64').replace(/(.{8})/g, '$1\n')), pdf(whole.toString('base64'))],
    ['an image under another name', image(gif.toString('base64'), 'image/png'), image(gif.toString('base64'), 'image/gif')],
    [
      'an image as a data URL',
      image(`data:image/gif;base64,${gif.toString('base64')}`, 'image/gif'),
      image(gif.toString('base64'), 'image/gif'),
    ],
    [
      'a reference',
      { type: 'document', source: { type: 'file', file_id: 'file_1' } },
      { type: 'document', source: { type: 'file', file_id: 'file_1' } },
    ],
  ])('%s: is sent as the API takes it', async (_, block, sent) => {
    const { session, server } = await scene([[text('fine')]]);
    expect((await session.send(JSON.parse(JSON.stringify([block]))).done).end).toBe('completed');
    expect(server.requests[0]?.body.messages).toEqual([{ role: 'user', content: [sent] }]);
  });
});

describe('a prompt that can be mended', () => {
  it.each<[string, unknown, string]>([
    ['half a surrogate pair', 'x\ud800y', 'x\ufffdy'],
    [
      'an empty block beside others',
      [
        { type: 'text', text: 'said' },
        { type: 'text', text: '' },
      ],
      'said',
    ],
    ['NUL and CRLF', 'a\0b\r\nc', 'a\0b\r\nc'],
    ['half a pair deep in a block', [{ type: 'text', text: 'x\udfff' }], 'x\ufffd'],
  ])('%s: is sent', async (_, prompt, sent) => {
    const { session, server } = await scene([[text('fine')]]);
    expect((await session.send(untyped(prompt)).done).end).toBe('completed');
    expect(server.requests[0]?.body.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: sent }] }]);
  });
});

describe('a prompt that is withdrawn', () => {
  it('is not answered by the query that runs: its end is told, and nothing waits for it', async () => {
    const held = gate();
    const { session, server } = await scene([[text('one'), held]]);
    const first = session.send('first');
    await held.reached;
    const second = session.send('second');
    const seen = (async () => {
      const types: string[] = [];
      for await (const { type } of second) types.push(type);
      return types;
    })();
    expect(second.withdraw()).toBe(true);
    expect(second.withdraw()).toBe(false);
    await expect(second.done).rejects.toThrow('withdrawn');
    expect(await seen).toEqual([]);
    held.open();
    expect((await first.done).text).toBe('one');
    expect(JSON.stringify(session.messages)).not.toContain('second');
    server.assertConsumed();
  });
});
