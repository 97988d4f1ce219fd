import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { clip, createPaint, duration, outcomeLine, printable, runningLine, visible } from '../../src/cli/lines.js';

const plain = createPaint({ isTTY: false });

describe('lines', () => {
  it('are as wide as the terminal at most, whatever a call is called', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 200 }),
        fc.string({ unit: 'grapheme', maxLength: 60 }),
        fc.integer({ min: 10, max: 120 }),
        fc.integer({ min: 0, max: 3 }),
        (title, summary, width, depth) => {
          const call = { tool: 'Bash', title, ms: 12, agent: depth > 0 ? title : undefined };
          const lines = [
            runningLine({ ...call, state: 'executing.calling', note: summary }, plain, { width, depth }),
            outcomeLine(call, { kind: 'failed', isError: true, summary }, plain, { width, depth }),
          ];
          for (const line of lines) {
            expect(line).not.toContain('\n');
            expect(stringWidth(line)).toBeLessThanOrEqual(width);
          }
        },
      ),
    );
  });

  it('shorten the title before the time and the state', () => {
    const line = runningLine({ tool: 'Bash', title: 'x'.repeat(200), ms: 2100, state: 'executing.calling' }, plain, { width: 60 });
    expect(line).toMatch(/^● Bash x+… {2}2\.1 s {2}calling$/);
  });

  it('measure wide characters as the terminal does', () => {
    expect(clip('漢字漢字', 5)).toBe('漢字…');
    expect(clip('a  b\n\tc', 20)).toBe('a b c');
  });

  it('show what would steer the terminal or hide what will run', () => {
    expect(visible('rm\u001b[2K\u202e -rf')).toBe('rm\\u{1b}[2K\\u{202e} -rf');
    expect(visible('a\u{e0041}b')).toBe('a\\u{e0041}b');
    expect(printable('one\r\ntwo\u001b]0;x\u0007')).toBe('one\ntwo\\u{1b}]0;x\\u{7}');
  });

  it('say durations as one reads them', () => {
    expect([0, 999, 1000, 59_940, 59_999, 61_000].map(duration)).toEqual(['0 ms', '999 ms', '1.0 s', '59.9 s', '1 min 0 s', '1 min 1 s']);
  });
});
