import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EditedLine, editLine, emptyLine, type Key } from '../../src/cli/lineEditor.js';

const key = (name: string, more: Partial<Key> = {}): Key => ({ name, ...more });
const char = (text: string): Key => ({ sequence: text, name: text.toLowerCase() });
const typed = (text: string): Key[] => [...new Intl.Segmenter().segment(text)].map(({ segment }) => char(segment));
const press = (line: EditedLine, ...keys: readonly Key[]): EditedLine => keys.reduce((at, one) => editLine(at, one).line, line);

describe('the input line', () => {
  it('inserts at the cursor and moves over whole characters', () => {
    const line = press(emptyLine(), ...typed('a👨‍👩‍👧b'), key('left'), key('left'), char('x'));
    expect(line.text).toBe('ax👨‍👩‍👧b');
    expect(press(line, key('delete')).text).toBe('axb');
  });

  it('removes to the left by character, word and line', () => {
    const line = press(emptyLine(), ...typed('one two three'));
    expect(press(line, key('backspace')).text).toBe('one two thre');
    expect(press(line, key('w', { ctrl: true })).text).toBe('one two ');
    expect(press(line, key('b', { meta: true }), key('k', { ctrl: true })).text).toBe('one two ');
    expect(press(line, key('u', { ctrl: true })).text).toBe('');
  });

  it('goes on in a new line after a trailing backslash, and submits without one', () => {
    const first = press(emptyLine(), ...typed('first\\'));
    const { line, action } = editLine(first, key('return'));
    expect(action).toBeUndefined();
    expect(press(line, ...typed('second')).text).toBe('first\nsecond');
    expect(editLine(press(line, ...typed('second')), key('return')).action).toBe('submit');
  });

  it('keeps line breaks of a paste as text', () => {
    const line = press(emptyLine(), key('paste-start'), ...typed('a'), key('return', { sequence: '\r' }), ...typed('b'), key('paste-end'));
    expect(line.text).toBe('a\nb');
    expect(editLine(line, key('return')).action).toBe('submit');
  });

  it('brings earlier lines back and keeps what was being typed', () => {
    const line = press(emptyLine(['old', 'newer']), ...typed('draft'), key('up'));
    expect(line.text).toBe('newer');
    expect(press(line, key('up')).text).toBe('old');
    expect(press(line, key('up'), key('up')).text).toBe('old');
    expect(press(line, key('up'), key('down'), key('down')).text).toBe('draft');
  });

  it('moves between the rows of a text before it leaves it for the history', () => {
    const line = { ...emptyLine(['old']), text: 'ab\ncdef', cursor: 7 };
    expect(press(line, key('up')).cursor).toBe(2);
    expect(press(line, key('up'), key('up')).text).toBe('old');
  });

  it('tells interrupt, escape and end apart from typing', () => {
    expect(editLine(emptyLine(), key('c', { ctrl: true, sequence: '\u0003' })).action).toBe('interrupt');
    expect(editLine(emptyLine(), key('escape', { sequence: '\u001b' })).action).toBe('escape');
    expect(editLine(emptyLine(), key('d', { ctrl: true, sequence: '\u0004' })).action).toBe('end');
    expect(editLine(press(emptyLine(), ...typed('x')), key('d', { ctrl: true })).action).toBeUndefined();
  });

  it('never lets a key put control characters into the text, nor the cursor outside it', () => {
    const names = [
      'left',
      'right',
      'up',
      'down',
      'home',
      'end',
      'backspace',
      'delete',
      'return',
      'paste-start',
      'paste-end',
      'f1',
      'tab',
      'w',
      'u',
      'k',
      'a',
      'e',
    ];
    const anyKey = fc.record({
      name: fc.constantFrom(...names),
      sequence: fc.oneof(fc.string({ unit: 'grapheme', maxLength: 2 }), fc.constantFrom('\u001b[A', '\u001b', '\u0007', '\r', '\n', '\t')),
      ctrl: fc.boolean(),
      meta: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(anyKey, { maxLength: 40 }), fc.array(fc.string(), { maxLength: 3 }), (keys, history) => {
        let line = emptyLine(history.map((text) => text.replaceAll(/\p{Cc}/gu, '')));
        for (const one of keys) {
          line = editLine(line, one).line;
          expect(line.cursor).toBeGreaterThanOrEqual(0);
          expect(line.cursor).toBeLessThanOrEqual(line.text.length);
          expect(line.text).not.toMatch(/(?![\t\n])\p{Cc}/u);
        }
      }),
    );
  });
});
