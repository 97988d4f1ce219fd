import { describe, expect, it } from 'vitest';
import { bashRuleWarnings } from '../../../src/permissions/shell/index.js';
import { Workspace } from '../workspace.js';

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
    'npm run test:*:unit',
    'find . -name x -exec cat {} \\;',
    "find . -name '*.log' -delete",
    'find *',
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
    ['find . -exec *', 'only a rule with the exact text'],
    ['rm:*, ls:*', 'the colon is literal'],
    ['watch *', 'only a rule with the exact text'],
    ['git * main', 'git --option value main'],
    ['echo $HOME', 'uses the variable $HOME'],
  ])('%s: …%s…', (content, part) => {
    expect(bashRuleWarnings(content, 'allow').join('\n')).toContain(part);
  });

  it('are told when settings are loaded, with the file and the line', () => {
    const space = new Workspace();
    space.settings('.claude/settings.json', {
      permissions: { allow: ['Bash(npm test > out.txt)'], deny: ['Bash(rm:* -rf)', 'Bash(rm *)'] },
    });
    const warnings = space.load().warnings.map(String);
    space.remove();
    expect(warnings).toEqual([
      expect.stringMatching(/settings\.json:\d+: .*Bash\(rm:\* -rf\) has :\* before its end/),
      expect.stringMatching(/settings\.json:\d+: .*Bash\(npm test > out\.txt\) matches nothing/),
    ]);
  });

  it('takes deny and ask rules as they are where they hold', () => {
    for (const content of ['git * main', 'watch *', 'A=1 npm *', 'a && b', 'curl * | sh', 'find * -delete', 'a > b', 'echo * > /etc/*'])
      expect(bashRuleWarnings(content, 'deny')).toEqual([]);
  });
});
