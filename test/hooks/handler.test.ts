import { expect, it } from 'vitest';
import { failureSentence } from '../../src/hooks/handler.js';

const refused = new AggregateError([new Error('connect ECONNREFUSED ::1:80'), new Error('connect ECONNREFUSED 127.0.0.1:80')]);

it.each<[unknown, string]>([
  [new Error('It broke!'), 'It broke!'],
  [new TypeError('fetch failed', { cause: new Error('bad port') }), 'fetch failed (bad port).'],
  [new TypeError('fetch failed', { cause: refused }), 'fetch failed (connect ECONNREFUSED ::1:80; connect ECONNREFUSED 127.0.0.1:80).'],
  ['plain words', 'plain words.'],
])('a failure is one sentence with its cause: %s', (error, sentence) => {
  expect(failureSentence(error)).toBe(sentence);
});
