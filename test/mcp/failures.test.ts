import { describe, expect, it } from 'vitest';
import { reasonOf } from '../../src/mcp/failures.js';

const refused = new AggregateError([new Error('connect ECONNREFUSED ::1:80'), new Error('connect ECONNREFUSED 127.0.0.1:80')]);

describe('why something with a server failed', () => {
  it.each<[string, unknown, string]>([
    ['of words of its own, with their cause', new Error('no answer', { cause: new Error('reset') }), 'no answer (reset)'],
    ['of a cause that the words name already', new TypeError('fetch failed', { cause: new Error('bad port') }), 'fetch failed: bad port'],
    [
      'of a cause without words',
      new TypeError('fetch failed', { cause: refused }),
      'fetch failed: connect ECONNREFUSED ::1:80; connect ECONNREFUSED 127.0.0.1:80',
    ],
    ['of no cause', new Error('no answer'), 'no answer'],
  ])('is said once: %s', (_, error, said) => {
    expect(reasonOf(error)).toBe(said);
  });
});
