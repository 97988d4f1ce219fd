import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type AnswerName, AnswerNames, isSameAnswer } from '../../src/messages/answerName.js';

const name: fc.Arbitrary<AnswerName> = fc.record({
  messageId: fc.constantFrom('m1', 'm2'),
  requestId: fc.constantFrom(undefined, 'r1', 'r2'),
});

it('names of answers hold one that is the same as any of them, and no other', () => {
  fc.assert(
    fc.property(fc.array(name), name, (added, asked) => {
      const names = new AnswerNames();
      for (const one of added) names.add(one);
      expect(names.has(asked)).toBe(added.some((one) => isSameAnswer(one, asked)));
    }),
  );
});
