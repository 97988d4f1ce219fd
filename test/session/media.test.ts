import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { text, toolUse } from '../../src/testing/index.js';
import { scene, tempDir, testTool } from '../support/sessions.js';

/** A PNG whose data is as long as wanted: a whole picture of one pixel, and what no reader looks at behind its end. */
const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const png = (base64Chars: number, seed: number): string =>
  Buffer.concat([PIXEL, Buffer.alloc((base64Chars * 3) / 4, seed)]).toString('base64');
const image = (data: string, mediaType = 'image/png') => ({ type: 'image', source: { type: 'base64', media_type: mediaType, data } });
const picture = (blocks: (n: number) => unknown) => {
  let n = 0;
  return testTool({
    name: 'Picture',
    call: async () => ({ data: n++ }),
    mapToolResultToToolResultBlockParam: (data: unknown) => JSON.parse(JSON.stringify({ content: [blocks(Number(data))] })),
  });
};

describe('pictures in results', () => {
  it('sixty of 1.7 MB: no request grows beyond what the API takes, the newest stay, and the conversation goes on', {
    timeout: 60_000,
  }, async () => {
    const tool = picture((n) => image(png(1_700_000, n)));
    const turn = Array.from({ length: 10 }, (_, n) => toolUse('Picture', { n }));
    const { session, server } = await scene([turn, turn, turn, turn, turn, turn, [text('seen')], [text('on')]], {
      cwd: tempDir(),
      tools: [tool],
      permissions: { allow: ['Picture'] },
    });
    expect((await session.send('look').done).text).toBe('seen');
    expect((await session.send('continue').done).text).toBe('on');
    expect(server.refusals).toEqual([]);
    const sent = JSON.stringify(server.requests.at(-1)?.body);
    expect(sent.length).toBeLessThan(32 * 1024 * 1024);
    expect(sent.match(/"tool_result"/g)).toHaveLength(60);
    expect(sent).toContain(png(1_700_000, 59).slice(-200));
    const files = [...sent.matchAll(/\/[^"\s\]]+\.png/g)].map(([path]) => path);
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((path) => !existsSync(path))).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['no base64', image('%%%')],
    ['base64 twice over', image(Buffer.from(PIXEL.toString('base64')).toString('base64'))],
    ['a foreign type', image(PIXEL.toString('base64'), 'text/plain')],
    ['no bytes', image('')],
    ['half a picture', image(PIXEL.subarray(0, 12).toString('base64'))],
    ['no source', { type: 'image' }],
    ['a source that is a text', { type: 'image', source: 'x' }],
    ['a type of its own', { type: 'hologram', data: 'x' }],
    ['line ends in its base64', image(PIXEL.toString('base64').replace(/.{20}/g, '$&\r\n'))],
    ['a document that is none', { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' } }],
    ['text that is a number', { type: 'text', text: 5 }],
  ])('with %s: one result, and every later request is taken', async (_, content) => {
    const { session, server, results } = await scene([[toolUse('Picture', {})], [text('one')], [text('two')]], {
      tools: [picture(() => content)],
      permissions: { allow: ['Picture'] },
    });
    expect((await session.send('look').done).text).toBe('one');
    expect((await session.send('continue').done).text).toBe('two');
    expect(results().size).toBe(1);
    server.assertConsumed();
  });
});
