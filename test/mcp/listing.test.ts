import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { FakeClock } from '../support/fakeClock.js';
import { connectionTo } from './connections.js';
import { ScriptedMcpServer, settle, toolInfo } from './support.js';

const tools = (from: number, count: number): JsonObject[] => Array.from({ length: count }, (_, index) => toolInfo(`tool_${from + index}`));
/** Pages by cursor; the first has the cursor ''. */
const paged = (page: (cursor: string | undefined, request: number) => JsonObject): ScriptedMcpServer => {
  let request = 0;
  return new ScriptedMcpServer([], {
    'tools/list': ({ params }) => page(typeof params.cursor === 'string' ? params.cursor : undefined, ++request),
  });
};

describe('listing the tools of a server', () => {
  it('follows the cursor to the end: 101 tools at 50 a page', async () => {
    const server = paged((cursor) => {
      const from = Number(cursor ?? 0);
      return { tools: tools(from, Math.min(50, 101 - from)), ...(from + 50 < 101 ? { nextCursor: String(from + 50) } : {}) };
    });
    const { connection, notices } = connectionTo(server);
    await connection.start();
    expect(connection.tools).toHaveLength(101);
    expect(server.requests('tools/list')).toHaveLength(3);
    expect(notices).toEqual([]);
    await connection.close();
  });

  it('stops at a cursor that does not advance, keeps each name once, and says so', async () => {
    const server = paged(() => ({ tools: tools(0, 8), nextCursor: 'again' }));
    const { connection, notices } = connectionTo(server);
    await connection.start();
    expect(connection.tools).toHaveLength(8);
    expect(server.requests('tools/list')).toHaveLength(2);
    expect(notices.join('\n')).toMatch(/does not advance/);
    await connection.close();
  });

  it('stops at a cap of pages when every page is new', async () => {
    const server = paged((_, request) => ({ tools: tools(request, 1), nextCursor: `c${request}` }));
    const { connection, notices } = connectionTo(server);
    await connection.start();
    expect(server.requests('tools/list').length).toBe(100);
    expect(notices.join('\n')).toMatch(/longer than 100 pages/);
    await connection.close();
  });

  it('keeps the first page when the second fails, and reports it', async () => {
    const server = paged((cursor) => {
      if (cursor !== undefined) throw new Error('database is locked');
      return { tools: tools(0, 3), nextCursor: 'two' };
    });
    const { connection, notices } = connectionTo(server);
    await connection.start();
    expect(connection.state.status).toBe('connected');
    expect(connection.tools).toHaveLength(3);
    expect(notices.join('\n')).toMatch(/page 2 .*database is locked/);
    await connection.close();
  });

  it('counts a name on two pages once', async () => {
    const server = paged((cursor) => ({
      tools: [toolInfo('same'), toolInfo(cursor ?? 'first')],
      ...(cursor ? {} : { nextCursor: 'next' }),
    }));
    const { connection, notices } = connectionTo(server);
    await connection.start();
    expect(connection.tools.map(({ name }) => name)).toEqual(['same', 'first', 'next']);
    expect(notices.join('\n')).toMatch(/"same" is more than once/);
    await connection.close();
  });

  it('takes an empty cursor as it comes, and ends without complaint where it leads nowhere', async () => {
    const server = paged(() => ({ tools: tools(0, 2), nextCursor: '' }));
    const { connection, notices } = connectionTo(server);
    await connection.start();
    expect(connection.tools).toHaveLength(2);
    expect(notices).toEqual([]);
    await connection.close();
  });

  it('leaves out a tool that makes no sense, and none of the others', async () => {
    const { connection, notices } = connectionTo(
      new ScriptedMcpServer([toolInfo('good'), { name: 'bad', inputSchema: 'none' }, toolInfo('fine')]),
    );
    await connection.start();
    expect(connection.tools.map(({ name }) => name)).toEqual(['good', 'fine']);
    expect(notices.join('\n')).toMatch(/bad/);
    await connection.close();
  });

  it('leaves out a tool whose schema has no end in sight', async () => {
    const nested = (levels: number): JsonObject =>
      Array.from({ length: levels }).reduce<JsonObject>((inner) => ({ properties: { a: inner } }), { type: 'string' });
    const server = new ScriptedMcpServer([toolInfo('good'), { name: 'deep', inputSchema: nested(20_000) }]);
    const { connection, notices } = connectionTo(server);
    await connection.start();
    expect(connection.tools.map(({ name }) => name)).toEqual(['good']);
    expect(notices.join('\n')).toMatch(/deep: inputSchema is nested more than/);
    await connection.close();
  });

  it('is bounded in time', async () => {
    const clock = new FakeClock();
    const { connection } = connectionTo(new ScriptedMcpServer([], { 'tools/list': () => undefined }), { clock });
    const started = connection.start();
    await settle();
    clock.fireNext();
    await started;
    expect(connection.state).toMatchObject({ status: 'failed', detail: expect.stringMatching(/did not answer within 30 s/) });
    await connection.close();
  });
});
