import { describe, expect, it } from 'vitest';
import { messageOf } from '../../src/tool/errors.js';

const cyclic = new Error('');
cyclic.cause = cyclic;
const refused = Object.assign(
  new AggregateError([new Error('connect ECONNREFUSED ::1:80'), new Error('connect ECONNREFUSED 127.0.0.1:80')]),
  {
    code: 'ECONNREFUSED',
  },
);

describe('the words of what a tool throws', () => {
  it.each<[string, unknown, string]>([
    ['an error', new Error('no such table'), 'no such table'],
    ['an error with a cause keeps its own words', new Error('no such table', { cause: new Error('locked') }), 'no such table'],
    ['an error without words', new Error('', { cause: new Error('the root') }), 'the root'],
    ['a refused connection', refused, 'connect ECONNREFUSED ::1:80; connect ECONNREFUSED 127.0.0.1:80'],
    [
      'a failed fetch',
      new TypeError('fetch failed', { cause: refused }),
      'fetch failed: connect ECONNREFUSED ::1:80; connect ECONNREFUSED 127.0.0.1:80',
    ],
    ['a code alone', Object.assign(new Error(''), { code: 'ETIMEDOUT' }), 'ETIMEDOUT'],
    ['a name alone', new RangeError(''), 'RangeError'],
    ['a cycle', cyclic, 'something was thrown that has no message'],
    ['a text', 'plain words', 'plain words'],
    ['an object with a message', { message: 'from elsewhere', code: 5 }, 'from elsewhere'],
    ['an object', { status: 500, reason: 'x' }, '{"status":500,"reason":"x"}'],
    ['nothing', undefined, 'something was thrown that has no message'],
    ['null', null, 'something was thrown that has no message'],
    ['an empty text', '', 'something was thrown that has no message'],
    ['an object that cannot be spoken', Object.create(null), 'something was thrown that has no message'],
  ])('%s', (_, thrown, words) => {
    expect(messageOf(thrown)).toBe(words);
  });
});
