import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeReminder, unescapeReminder, wrapReminder } from '../../src/messages/reminder.js';

const hostile = fc
  .array(fc.constantFrom('<', '</', ' / ', '\n', 'system-reminder', 'SYSTEM-reminder', '>', '&lt;', '&amp;lt;', '&', 'amp;', 'lt;', 'x'), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''));

describe('the reminder wrapper', () => {
  it('cannot be closed or forged by what is inside', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const inside = wrapReminder(text).slice('<system-reminder>\n'.length, -'\n</system-reminder>'.length);
        expect(inside).not.toMatch(/<\s*\/?\s*system-reminder/i);
      }),
      { numRuns: 1000 },
    );
  });

  it('loses nothing: two different texts never look the same', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(unescapeReminder(escapeReminder(text))).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });

  it('leaves other markup as it is', () => {
    expect(escapeReminder('<b>a & b</b> &lt;i&gt; if (a<b)')).toBe('<b>a & b</b> &lt;i&gt; if (a<b)');
  });
});
