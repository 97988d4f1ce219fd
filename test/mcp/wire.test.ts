import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/json.js';
import { mapMcpOutput } from '../../src/mcp/content.js';
import { LineBuffer } from '../../src/mcp/line-buffer.js';
import { readWire } from '../../src/mcp/wire.js';
import { text, toolUse } from '../../src/testing/index.js';
import { scene } from '../support/sessions.js';
import { connectionTo } from './connections.js';
import { ScriptedMcpServer, textResult, toolInfo } from './support.js';

/** A server as people write it by hand, without an SDK: answers each call with the line that the test gives it. */
const handWritten = (answer: string) => ({
  command: process.execPath,
  args: [
    '-e',
    `let rest = '';
    process.stdout.write('\\n\\ufeff');
    const say = (value) => process.stdout.write(JSON.stringify(value) + '\\r\\n');
    process.stdin.on('data', (chunk) => {
      const lines = (rest + chunk).split('\\n');
      rest = lines.pop();
      for (const line of lines) {
        const { id, method, params } = JSON.parse(line);
        if (method === 'initialize') say({ jsonrpc: '2.0', id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: { listChanged: null }, prompts: null }, serverInfo: { name: 'x', version: '1', title: null }, instructions: null }, error: null });
        if (method === 'tools/list') say([{ id, result: { tools: [{ name: 'a', inputSchema: { type: 'object' } }], nextCursor: null, _meta: null } }]);
        if (method === 'tools/call' && process.argv[1] === 'HANG UP') { process.stdout.end(); setInterval(() => {}, 1e6); }
        else if (method === 'tools/call') process.stdout.write(process.argv[1].replaceAll('ID', id) + '\\n');
      }
    });`,
    answer,
  ],
});

describe('an answer that does not keep to the protocol', () => {
  it.each([
    [
      '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"hi"}],"isError":null,"structuredContent":null,"_meta":null},"error":null}',
      'hi',
      false,
    ],
    ['{"id":"ID","result":{"content":[{"type":"text","text":"hi"}]}}', 'hi', false],
    ['{"jsonrpc":"2.0","id":ID,"result":null}', /is not an object: null/, true],
    ['{"jsonrpc":"2.0","id":ID,"error":{"code":"E_QUOTA","message":"no more today"}}', /no more today/, true],
    ['{"jsonrpc":"2.0","id":ID,"error":"no more today","result":null}', /no more today/, true],
    ['{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":null,"data":{"field":"city"}}}', /city/, true],
  ])('settles its call all the same: %s', async (answer, words, isError) => {
    const { session, results } = await scene([[toolUse('mcp__s__a')], [text('done')]], {
      mcpServers: { s: handWritten(answer) },
      permissions: { allow: ['mcp__s'] },
    });
    await session.send('go').done;
    expect(results().get('toolu_1_1')).toEqual({ text: typeof words === 'string' ? words : expect.stringMatching(words), isError });
    expect(session.servers[0]?.status).toBe('connected');
  });

  it('that never comes, because the server has closed its output, ends the call and the server', async () => {
    const { session, results } = await scene([[toolUse('mcp__s__a')], [text('done')]], {
      mcpServers: { s: handWritten('HANG UP') },
      permissions: { allow: ['mcp__s'] },
    });
    await session.send('go').done;
    expect(results().get('toolu_1_1')).toEqual({ text: expect.stringMatching(/closed the connection.*not repeated/), isError: true });
  });

  it('settles its call over a transport of the embedding program too', async () => {
    const server = new ScriptedMcpServer([toolInfo('a')]);
    const { connection } = connectionTo(server);
    await connection.start();
    const call = () => connection.call('a', {}, { signal: new AbortController().signal });
    server.on('tools/call', ({ id }, { reply }) => void reply.call(server, id, JSON.parse('["x"]')));
    await expect(call()).rejects.toThrow(/is not an object: \["x"\]/);
    server.on('tools/call', () => ({ ...textResult('x'), _meta: null }));
    expect((await call()).content).toEqual([{ type: 'text', text: 'x' }]);
    server.on('tools/call', () => ({ resultType: 'input_required' }));
    await expect(call()).rejects.toThrow(/asks for more input/);
    server.on('tools/call', () => ({ toolResult: { n: 1 } }));
    expect(mapMcpOutput(await call())).toMatchObject({ content: [{ text: '{"n":1}' }] });
    await connection.close();
  });

  it('is nothing when it belongs to no request', () => {
    const strays: JsonValue[] = [5, 'log', null, [], {}, { level: 'info', msg: 'up' }, { id: null, error: { code: 1, message: 'x' } }];
    for (const stray of strays) expect(readWire(stray)).toBeUndefined();
    expect(readWire({ method: 'notifications/tools/list_changed', params: null })).toEqual([
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
    ]);
  });
});

describe('an error result', () => {
  it('whose only words are structured has them', () => {
    expect(mapMcpOutput({ content: [], structuredContent: { code: 5 }, isError: true })).toEqual({
      content: [{ type: 'text', text: '{"code":5}' }],
      isError: true,
    });
  });
});

describe('structured content without a member', () => {
  it('does not take the place of words', () => {
    expect(mapMcpOutput({ content: [{ type: 'text', text: 'hi' }], structuredContent: {} })).toEqual({
      content: [{ type: 'text', text: 'hi' }],
    });
    expect(mapMcpOutput({ content: [], structuredContent: {} })).toEqual({ content: [{ type: 'text', text: '{}' }] });
  });
});

describe('a stream of lines', () => {
  it('is taken apart wherever its chunks break', () => {
    const bytes = Buffer.from('\ufeff{"a":"ä"}\r\n\n{"b":1}\n{"c"');
    for (let cut = 0; cut <= bytes.length; cut++) {
      const buffer = new LineBuffer(1_000);
      expect([...buffer.take(bytes.subarray(0, cut)), ...buffer.take(bytes.subarray(cut))]).toEqual(['\ufeff{"a":"ä"}\r', '', '{"b":1}']);
      expect(buffer.take(Buffer.from(':2}\n{'))).toEqual(['{"c":2}']);
      expect(buffer.end()).toBe('{');
      expect(buffer.end()).toBe('');
    }
  });

  it('that never ends a line is refused', () => {
    const buffer = new LineBuffer(10);
    const piece = Buffer.alloc(4, 0x20);
    buffer.take(piece);
    buffer.take(piece);
    expect(() => buffer.take(piece)).toThrow(/a line of more than/);
  });
});
