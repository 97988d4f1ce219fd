import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capture } from '../../src/inspect/capture.js';
import { countMarks, Redactor } from '../../src/inspect/redact.js';
import { StreamRedactor } from '../../src/inspect/streamRedactor.js';
import { PLANTED, plantedEnv } from './support/secrets.js';

const redactor = () => new Redactor({ env: plantedEnv, salt: 'fixed' });

describe('redaction', () => {
  it.each(PLANTED.map((secret) => [secret.name, secret] as const))('masks %s wherever it stands', (_name, { value, text }) => {
    const masked = redactor().text(text);
    expect(masked).not.toContain(value);
    expect(masked).toMatch(/‹redacted [a-z-]+ len=\d+ #[0-9a-f]{6}›/);
  });

  it.each([
    'const token = readToken();',
    'The secret of good code is patience: password policies matter.',
    'import { apiKey } from "./config.js";',
    'git commit -m "basic authentication for sk-learn"',
    'https://example.org/path?x=1#y',
    'maxTokens: 8192, input_tokens=100',
    'src/hooks/types.ts:12: export interface HookRun {',
  ])('leaves ordinary text alone: %s', (text) => {
    expect(redactor().text(text)).toBe(text);
  });

  it('masks values by the name of their field, nested ones and numbers too, and keeps names that only resemble one', () => {
    const { text } = capture(
      {
        authorization: 'x',
        Cookie: ['a=1', 'b=2'],
        credentials: { user: 'ann', pin: 4711 },
        max_tokens: 100,
        tokens: ['fine'],
        secret: '',
      },
      redactor(),
    );
    const parsed = JSON.parse(text);
    expect(parsed.authorization).toMatch(/^‹redacted key-name/);
    expect(parsed.Cookie.every((cookie: string) => cookie.startsWith('‹redacted'))).toBe(true);
    expect(text).not.toContain('4711');
    expect(parsed).toMatchObject({ max_tokens: 100, tokens: ['fine'], secret: '' });
  });

  it('gives equal secrets equal marks in one session and different marks in another', () => {
    const mark = (salt: string) => new Redactor({ env: {}, salt }).text('key AKIAABCDEFGHIJKLMNOP here');
    expect(mark('one')).toBe(mark('one'));
    expect(mark('one')).not.toBe(mark('two'));
  });

  it('masks a whole string when a rule of one’s own throws, and applies the others', () => {
    const strict = new Redactor({
      env: {},
      rules: [
        () => {
          throw new Error('rule');
        },
      ],
    });
    expect(strict.text('anything')).toMatch(/^‹redacted failed-rule len=8/);
    const mild = new Redactor({ env: {}, rules: [(text, path) => (path.endsWith('.city') ? '—' : text)] });
    expect(JSON.parse(capture({ city: 'Ghent', name: 'Ann' }, mild).text)).toEqual({ city: '—', name: 'Ann' });
  });

  it('finds nothing in what it has masked, and finds what was not masked', () => {
    const it = redactor();
    for (const { text } of PLANTED) {
      expect(it.findings(it.text(text))).toEqual([]);
      expect(it.findings(text)).not.toEqual([]);
    }
  });

  it('counts marks by rule', () => {
    const it = redactor();
    expect(countMarks(it.text('AKIAABCDEFGHIJKLMNOP and AKIAABCDEFGHIJKLMNOQ'))).toEqual([{ rule: 'aws-key', count: 2 }]);
  });
});

describe('redaction of streams', () => {
  it('masks every planted secret wherever the stream is cut', () => {
    const whole = PLANTED.map(({ text }) => `before ${text}\nafter`).join('\n');
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 30 }), (sizes) => {
        const stream = new StreamRedactor(redactor());
        let shown = '';
        for (let at = 0, turn = 0; at < whole.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          shown += stream.push(whole.slice(at, at + size));
          at += size;
        }
        shown += stream.flush();
        for (const { value } of PLANTED) expect(shown).not.toContain(value);
        expect(shown.split('after').length - 1).toBe(PLANTED.length);
      }),
      { numRuns: 60 },
    );
  });

  it('hands complete lines on at once and bounds what it holds back', () => {
    const stream = new StreamRedactor(new Redactor({ env: {} }));
    expect(stream.push('line 1\nline')).toBe('line 1\n');
    expect(stream.push(' 2\n')).toBe('line 2\n');
    const long = stream.push('x '.repeat(8000));
    expect(long.length).toBeGreaterThan(14_000);
    expect(long.length + stream.flush().length).toBe(16_000);
  });
});
