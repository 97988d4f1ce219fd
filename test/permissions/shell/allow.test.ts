import { describe, expect, it } from 'vitest';
import { analyzeCommand, coverage } from '../../../src/permissions/shell/index.js';

function covered(command: string, allow: readonly string[], acceptEdits = false): boolean {
  return coverage(analyzeCommand(command, { cwd: '/work/project' }), { allow, acceptEdits }).covered;
}

describe('an allow rule that spells a whole command out', () => {
  it.each(['find . -name x -exec cat {} \\;', "find . -name '*.log' -delete", 'make a\\ b', 'watch ls'])(
    'covers it, and nothing but it: %s',
    (command) => {
      expect(covered(command, [command])).toBe(true);
      expect(covered(`${command}; rm a`, [command])).toBe(false);
      expect(covered(`${command} && ${command.replace('x', 'y')}x`, [command])).toBe(false);
    },
  );

  it.each(['npm test &&', 'make "$X"', '(npm test)', 'make $(npm x)', 'make; npm x', 'make > f\\;'])('does not cover: %s', (command) => {
    expect(covered(command, [command])).toBe(false);
  });
});

describe('an allow rule for one exact command', () => {
  const allow = ['npm run build'];

  it.each([
    'npm run build',
    '  npm run build ',
    'npm run build # note',
    'npm run \\\nbuild',
    'npm run build && npm run build',
    'npm run build;',
    '! npm run build',
    'time npm run build',
    'command npm run build',
    'nice npm run build',
    'nice -n 5 npm run build',
    'nohup npm run build',
    'timeout 10 npm run build',
    'timeout -k 1 10s npm run build',
    'stdbuf -o0 npm run build',
    'timeout 5 nice nohup npm run build',
    'NODE_ENV=test npm run build',
    'npm run build > /dev/null',
    'npm run build 2>&1 | cat',
    'cd src && npm run build',
    'npm  run\tbuild',
    'NODE_ENV=test; npm run build',
  ])('covers: %s', (command) => {
    expect(covered(command, allow)).toBe(true);
  });

  it.each([
    'npm run build --x',
    'npm run builds',
    'npm run "build"',
    'npm run build $(true)',
    'npm run build `true`',
    'npm run build $X',
    'npm run build; rm a',
    'npm run build & rm a',
    'npm run build &',
    'npm run build | sh',
    'npm run build |& tee x',
    'npm run build\nrm a',
    'npm run build &&',
    '(npm run build)',
    '{ npm run build; }',
    'A=1 npm run build',
    'PATH=/x npm run build',
    'NODE_ENV=$X npm run build',
    'LD_PRELOAD=./x.so npm run build',
    'env npm run build',
    'sudo npm run build',
    'exec npm run build',
    'xargs npm run build',
    'bash -c "npm run build"',
    'eval npm run build',
    'setsid npm run build',
    'watch npm run build',
    './x npm run build',
    'npx npm run build',
    'echo $(npm run build)',
    'npm() { rm a; }; npm run build',
    'alias npm=rm; npm run build',
    'x=1; npm run build',
    'PATH=/x; npm run build',
    'cd a && cd b && npm run build',
  ])('does not cover: %s', (command) => {
    expect(covered(command, allow)).toBe(false);
  });
});

describe('an allow rule with a wildcard', () => {
  it.each([
    ['docker:*', 'docker'],
    ['docker:*', 'docker ps -a'],
    ['docker *', 'docker ps && docker kill x'],
    ['make *', 'make "a && b"'],
    ['make *', "make '$(x)'"],
    ['git * main', 'git push origin main'],
    ['* --version', 'node --version'],
    ['ls*', 'lsblk x'],
    ['npm run *:fix', 'npm run lint:fix'],
    ['npm run *:fix', 'npm run :fix'],
    ['make *', 'make\nmake'],
    ['xargs *', 'xargs -n1 foo'],
    ['grep *', 'ls | xargs grep x'],
    ['sudo *', 'sudo foo'],
    ['a \\* b', 'a * b'],
  ])('%s covers: %s', (rule, command) => {
    expect(covered(command, [rule])).toBe(true);
  });

  it.each([
    ['docker:*', 'dockerd'],
    ['docker:*', 'docker-compose up'],
    ['docker:*', 'docker run $(cat x)'],
    ['docker:*', 'docker ps | tee f'],
    ['npm run test:*', 'npm run'],
    ['npm run test:*', 'npm run test:unit'],
    ['make *', 'make a\\ b'],
    ['make *', 'make {a,b}'],
    ['make *', "make $'a'"],
    ['git * main', 'git main'],
    ['* --version', '--version'],
    ['node *', 'node <(echo 1)'],
    ['find *', 'find . -delete'],
    ['find *', 'find . -exec rm {} \\;'],
    ['watch *', 'watch ls -x'],
    ['setsid *', 'setsid foo'],
    ['flock *', 'flock x foo'],
    ['ionice *', 'ionice foo'],
    ['git *', 'cd sub && git add .'],
    ['git *', 'cd sub && timeout 5 git add .'],
    ['git *', 'cd sub && xargs git add'],
    ['git commit *', 'git commit -m "$(touch p)"'],
    ['a \\* b', 'a x b'],
    ['* --help *', 'npm --help'],
  ])('%s does not cover: %s', (rule, command) => {
    expect(covered(command, [rule])).toBe(false);
  });

  it('needs several rules for several commands', () => {
    expect(covered('make && docker ps x', ['make *'])).toBe(true);
    expect(covered('make && docker kill x', ['make *'])).toBe(false);
    expect(covered('make && docker kill x', ['make *', 'docker kill *'])).toBe(true);
  });
});

describe('an allow rule for the whole tool', () => {
  it.each(['echo $(x) > f', 'x=1; $x', '{ a; } &', 'find . -exec rm {} \\;'])('covers: %s', (command) => {
    expect(covered(command, ['*'])).toBe(true);
    expect(covered(command, [''])).toBe(true);
  });

  it.each(['ls "', 'ls &&', 'if true', `echo ${'x'.repeat(10_000)}`, 'ls\u00a0-l', 'ls\u202e'])(
    'does not cover what cannot be analysed: %s',
    (command) => {
      expect(covered(command, ['*'])).toBe(false);
    },
  );
});

describe('acceptEdits', () => {
  it.each([
    'touch n',
    'rm -rf src',
    'mkdir n && touch n/x',
    'timeout 5 mkdir n',
    'mv a b',
    'cp a b',
    'rmdir x',
    "sed -i 's/a/b/' f",
    'LANG=C touch n',
  ])('covers: %s', (command) => {
    expect(covered(command, [], true)).toBe(true);
    expect(covered(command, [], false)).toBe(false);
  });

  it.each([
    'ln -s a b',
    'git add .',
    'chmod +x a',
    'A=1 mkdir n',
    'tee f',
    'find . -delete',
    'ls | xargs rm',
    "sed -i 's/a/b/e' f",
    "sed -i '1w x' f",
    'touch $X',
    'rm $(x)',
  ])('does not cover: %s', (command) => {
    expect(covered(command, [], true)).toBe(false);
  });
});
