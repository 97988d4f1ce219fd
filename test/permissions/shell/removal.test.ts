import { describe, expect, it } from 'vitest';
import { analyzeCommand, criticalRemoval } from '../../../src/permissions/shell/index.js';

const context = { cwd: '/home/u/work/app', home: '/home/u', directories: ['/data/lib'] };
const critical = (command: string) => criticalRemoval(analyzeCommand(command, { cwd: context.cwd }), context);

describe('removals that only a person may allow', () => {
  it.each([
    'rm -rf /',
    'rm -rf /*',
    'rm -rf /etc',
    'rm -rf //',
    'rm -rf /./',
    'rmdir /usr',
    'rm -rf ~',
    'rm -rf ~/',
    'rm -rf $HOME',
    'rm -rf "$HOME"',
    'rm -rf "$HOME/"',
    'rm -rf ~/*',
    'rm -rf .',
    'rm -rf ./',
    'rm -rf ..',
    'rm -rf ../..',
    'rm -rf $PWD',
    'rm -rf "$(pwd)"',
    'rm -rf /home/u/work',
    'rm -rf ../*',
    'rm -rf *',
    'rm -rf "$X"/*',
    'rm -rf $X/',
    'rm -rf "$X/"',
    'rm -rf $1',
    'rm -r "$@"',
    `rm -rf \${1}/x`,
    'sh -c \'rm -rf "$1"\' x /',
    'rm -rf /data/lib/*',
    'rm -rf C:\\\\',
    'sudo rm -rf /',
    'env rm -rf /',
    '/bin/rm -rf /',
    'echo $(rm -rf /)',
    'cat <(rm -rf ~)',
    'sh -c "rm -rf /"',
    'cd / && rm -rf usr',
    'ls; rm -rf -- /',
    'x=/; rm -rf $x',
    'rm -rf {/,a}',
    'rm --recursive /',
  ])('asks: %s', (command) => {
    expect(critical(command)).not.toBeNull();
  });

  it.each([
    'rm a',
    'rm -rf src',
    'rm -rf ./dist',
    'rm -rf dist/*',
    'rm *.log',
    'rm -rf /tmp/x',
    'rm -rf /data/lib',
    'rm -rf ~/x',
    'ls /',
    'echo rm -rf /',
    'rm -rf "$X"',
    'rm -rf $X/a',
    `rm -rf "\${X:?}"/*`,
    `rm -rf "\${X:?is not set}/"*`,
    'rm "$1"',
  ])('does not ask: %s', (command) => {
    expect(critical(command)).toBeNull();
  });
});
