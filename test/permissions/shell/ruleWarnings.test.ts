import { describe, expect, it } from 'vitest';
import { bashRuleWarnings } from '../../../src/permissions/shell/index.js';

describe('warnings for Bash rules', () => {
  it.each([
    'npm test',
    'npm run *',
    'git log:*',
    '*',
    '* --version',
    'npm run *:fix',
    'timeout 5 npm test',
    'git commit -m "wip *',
    'ls*',
    'A=1 npm test',
  ])('has none for: %s', (content) => {
    expect(bashRuleWarnings(content, 'allow')).toEqual([]);
  });

  it.each([
    ['git:* push', 'the colon is literal; write git * push'],
    ['git add . && git commit *', 'write Bash(git add .), Bash(git commit *)'],
    ['npm test | tee *', 'compared one by one'],
    ['npm test > out.txt', 'write Bash(npm test), and Edit(path)'],
    ['ls "', 'does not parse'],
    ['A=1 npm *', 'write it without a wildcard'],
    ['watch *', 'only a rule with the exact text'],
    ['git * main', 'git --option value main'],
    ['echo $HOME', 'uses the variable $HOME'],
  ])('%s: …%s…', (content, part) => {
    expect(bashRuleWarnings(content, 'allow').join('\n')).toContain(part);
  });

  it('takes deny and ask rules as they are where they hold', () => {
    for (const content of ['git * main', 'watch *', 'A=1 npm *', 'a && b']) expect(bashRuleWarnings(content, 'deny')).toEqual([]);
    expect(bashRuleWarnings('a && b *', 'deny')).toHaveLength(1);
  });
});
