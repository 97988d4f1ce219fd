import { afterEach, expect, it, vi } from 'vitest';
import { callIngress } from '../../src/durable/post.js';

afterEach(() => vi.unstubAllGlobals());

const refused = new AggregateError([new Error('connect ECONNREFUSED ::1:80'), new Error('connect ECONNREFUSED 127.0.0.1:80')]);

it.each<[unknown, string]>([
  [new TypeError('fetch failed', { cause: new Error('bad port') }), '(bad port)'],
  [new TypeError('fetch failed', { cause: refused }), '(connect ECONNREFUSED ::1:80; connect ECONNREFUSED 127.0.0.1:80)'],
])('a server that cannot be reached is told with the reason: %s', async (error, reason) => {
  vi.stubGlobal('fetch', () => Promise.reject(error));
  await expect(callIngress({ url: 'http://localhost:80' }, 'x', {})).rejects.toThrow(
    `Restate cannot be reached at http://localhost:80. Is the server running? ${reason}`,
  );
});
