import { describe, expect, it } from 'vitest';
import { expandBraces } from '../../../src/permissions/shell/braces.js';
import { printedBy } from '../../../src/permissions/shell/printed.js';
import { parseBashRule } from '../../../src/permissions/shell/rules.js';
import { parseSed, plainSubstitution, sedRuns } from '../../../src/permissions/shell/sed.js';

describe('brace expansion', () => {
  it.each<[string, string[]]>([
    ['{a,b}', ['a', 'b']],
    ['x{a,b}y', ['xay', 'xby']],
    ['{a,b}{1,2}', ['a1', 'a2', 'b1', 'b2']],
    ['{a,{b,c}}', ['a', 'b', 'c']],
    ['{1..3}', ['1', '2', '3']],
    ['{c..a}', ['c', 'b', 'a']],
    ['{1..5..2}', ['1', '3', '5']],
    ['{a}', ['{a}']],
    ['"{a,b}"', ['"{a,b}"']],
    ["{a,'b,c'}", ['a', "'b,c'"]],
    ['{,a}', ['', 'a']],
    ['{}', ['{}']],
  ])('%s', (text, expected) => {
    expect(expandBraces(text)).toEqual(expected);
  });

  it('gives up on very many words', () => {
    expect(expandBraces('{a,b}'.repeat(20))).toBeNull();
  });
});

describe('what echo and printf print', () => {
  it.each<[string[], string | null]>([
    [['echo', 'rm', 'a'], 'rm a'],
    [['echo', '-n', 'rm'], 'rm'],
    [['echo', '-e', 'r\\x6d'], 'rm'],
    [['/bin/echo', 'x'], 'x'],
    [['printf', '%s %s', 'rm', 'a'], 'rm a'],
    [['printf', 'r\\155'], 'rm'],
    [['printf', '%d', '1'], null],
    [['date'], null],
  ])('%j', (argv, expected) => {
    expect(printedBy(argv)).toBe(expected);
  });
});

describe('the text of a Bash rule', () => {
  it.each<[string, string, boolean]>([
    ['ls *', 'ls', true],
    ['ls *', 'ls -l', true],
    ['ls *', 'lsof', false],
    ['ls*', 'lsof', true],
    ['ls:*', 'ls -l', true],
    ['ls:*', 'lsof', false],
    ['a:* b', 'a: b', true],
    ['a:* b', 'a b', false],
    ['a:* b', 'a:x b', true],
    ['git * main *', 'git push main', false],
    ['git * main *', 'git push main x', true],
    ['* x', 'a x', true],
    ['a*b*a', 'aba', true],
    ['a*b*a', 'aa', false],
    ['a\\*', 'a*', true],
    ['a\\*', 'ab', false],
    ['', 'anything', true],
    ['*', 'anything', true],
    ['a *', 'a\nb', false],
    ['a *', 'a b\nc', true],
  ])('%j on %j', (rule, text, expected) => {
    expect(parseBashRule(rule).matches(text)).toBe(expected);
  });

  it.each<[string, string, boolean, boolean]>([
    ['* --help *', 'npm --help x', true, true],
    ['* --help *', 'npm --help', false, true],
    ['git *', 'git', true, true],
    ['* --version', 'node', false, false],
  ])('%j on %j: the bare command needs a single wildcard where the rule allows, not where it forbids', (rule, text, allows, forbids) => {
    expect(parseBashRule(rule).matches(text)).toBe(allows);
    expect(parseBashRule(rule).forbids(text)).toBe(forbids);
  });
});

describe('sed', () => {
  it('knows its options', () => {
    expect(parseSed(['-n', '1p', 'a'])).toEqual({ inPlace: false, scripts: ['1p'], files: ['a'], odd: false, quiet: true });
    expect(parseSed(['-i.bak', '-e', 's/a/b/', 'a'])).toMatchObject({ inPlace: true, scripts: ['s/a/b/'], files: ['a'] });
    expect(parseSed(['-f', 'x', 'a']).odd).toBe(true);
  });

  it.each<[string, boolean]>([
    ['s/a/b/', true],
    ['s|a|b|g', true],
    ['s/a\\/x/b/gi', true],
    ['s/a/b/e', false],
    ['s/a/b/w x', false],
    ['s/a/b/;1e x', false],
    ['d', false],
    ['s/a', false],
    ['s/a/b', false],
    [' s/a/b/ ', true],
  ])('%s', (script, plain) => {
    expect(plainSubstitution(script)).toBe(plain);
  });

  it.each<[string, boolean]>([
    ['e', true],
    ['1e x', true],
    ['/a/,$e x', true],
    ['$!e x', true],
    ['p;e x', true],
    ['{p;e x}', true],
    ['s/a/b/e', true],
    ['s|a|b|ge', true],
    ['s/a/b/;s/c/d/e', true],
    ['p\ne x', true],
    ['s/a/e/', false],
    ['s/e/e/g', false],
    ['/e/d', false],
    ['/x/,/e/p', false],
    ['y/e/x/', false],
    ['s/a/b/w e', false],
    ['1,5p', false],
  ])('runs a command: %j is %s', (script, runs) => {
    expect(sedRuns(script)).toBe(runs);
  });
});
