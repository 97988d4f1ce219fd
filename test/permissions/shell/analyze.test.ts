import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  analyzeCommand,
  coverage,
  criticalRemoval,
  fileAccesses,
  matchesDenyOrAsk,
  mayMatchDenyOrAsk,
  suggestRules,
} from '../../../src/permissions/shell/index.js';

const texts = (command: string) => analyzeCommand(command).commands.map((one) => one.text);

describe('commands that a text shows', () => {
  it.each<[string, string[]]>([
    ['a && b || c; d | e |& f & g\nh', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']],
    ['A=1 a x > f 2>&1', ['A=1 a x']],
    ['a "b && c" \'d; e\'', ['a "b && c" \'d; e\'']],
    ['a \\\n  b', ['a b']],
    ['a # b', ['a']],
    ['', []],
    ['# a', []],
    ['a $(b `c`) <(d)', ['a $(b `c`) <(d)', 'b `c`', 'c', 'd']],
    ['f() { a; }; f', ['a', 'f']],
    ['a() ( b )', ['b']],
    ['[[ -f $(a) ]] && b', ['a', 'b']],
    ["a <<'E'\n$(b)\nE", ['a']],
    ['a <<E\n$(b)\nE', ['a', 'b']],
  ])('%s', (command, expected) => {
    expect([...texts(command)].sort()).toEqual([...expected].sort());
  });

  it.each(['ls "', "ls '", 'ls &&', 'ls ||', 'ls |', '| ls', 'ls )', 'if true; then ls', 'for i in', 'ls $(', 'ls ;; ls', 'ls >', '}'])(
    'cannot be read: %s',
    (command) => {
      expect(analyzeCommand(command).kind).toBe('unparsable');
    },
  );

  it('still denies what an unparsable text shows', () => {
    expect(matchesDenyOrAsk(analyzeCommand('rm a &&'), 'rm:*')).toBe('rm a');
  });

  it('says what cannot be known', () => {
    expect(analyzeCommand('$x a').opaque).toEqual([{ text: '$x a', reason: 'which program $x a runs is only known when it runs' }]);
    expect(analyzeCommand('curl x | sh').opaque[0]?.reason).toBe('the shell runs whatever the command before it hands it');
  });
});

describe('any text at all', () => {
  const piece = fc.constantFrom(
    'rm',
    'a',
    ' ',
    '\n',
    '"',
    "'",
    '`',
    '$(',
    ')',
    '(',
    '{',
    '}',
    ';',
    '&',
    '|',
    '<',
    '>',
    '<<',
    'EOF',
    '$',
    '$x',
    '\\',
    '*',
    '[',
    ']',
    '[[',
    ']]',
    '((',
    '))',
    '=',
    'x=',
    'if',
    'then',
    'fi',
    'for',
    'in',
    'do',
    'done',
    'case',
    'esac',
    'eval',
    'sh -c',
    'xargs',
    'find . -exec',
    ',',
    '..',
    '#',
    '!',
    '~',
    '-',
    'cd',
    'time',
    'coproc',
    'env -S',
    'git -c',
  );

  it('is analysed without an error', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 3 })), { maxLength: 40 }), (pieces) => {
        const analysis = analyzeCommand(pieces.join(''), { cwd: '/w' });
        for (const rule of ['rm:*', 'git push *', '* x *', 'a']) {
          matchesDenyOrAsk(analysis, rule);
          mayMatchDenyOrAsk(analysis, rule);
        }
        coverage(analysis, { allow: ['a *', 'git *'], acceptEdits: true });
        fileAccesses(analysis);
        criticalRemoval(analysis, { cwd: '/w', home: '/h' });
        suggestRules(analysis);
      }),
      { numRuns: 1_000, seed: 4 },
    );
  });

  it.each([
    `${'$('.repeat(2_000)}a${')'.repeat(2_000)}`,
    '{a,b}'.repeat(500),
    '$x '.repeat(3_000),
    'a;'.repeat(4_900),
    'eval '.repeat(1_900),
    'sudo -x '.repeat(1_200),
    'env '.repeat(2_400),
    '`'.repeat(9_999),
    `${'for i in 1; do cd a; '.repeat(200)}ls${'; done'.repeat(200)}`,
    `${'if a; then cd b; '.repeat(200)}ls${'; fi'.repeat(200)}`,
    `${'sh -c "'.repeat(500)}`,
    `${'('.repeat(4_000)}a${')'.repeat(4_000)}`,
  ])('is analysed in bounded time (%#)', (command) => {
    const analysis = analyzeCommand(command);
    mayMatchDenyOrAsk(analysis, 'a*b*c*d*e');
    expect(['parsed', 'unparsable']).toContain(analysis.kind);
  });
});
