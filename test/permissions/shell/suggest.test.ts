import { describe, expect, it } from 'vitest';
import { analyzeCommand, coverage, suggestRules } from '../../../src/permissions/shell/index.js';

const suggest = (command: string, allowed: string[] = []) => suggestRules(analyzeCommand(command), allowed);

describe("rules for don't ask again", () => {
  it.each<[string, string[]]>([
    ['git status && npm test', ['npm test *']],
    ['npm run build -- --x', ['npm run build *']],
    ['git commit -m "$(cat <<\'EOF\'\nlong\ntext\nEOF\n)"', ['git commit *']],
    ['curl http://x', ['curl *']],
    ['bash script.sh', ['bash script.sh']],
    ['python3 a.py', ['python3 a.py']],
    ['sudo rm x', ['sudo rm x']],
    ['a; b; c; d; e; f; g', ['a *', 'b *', 'c *', 'd *', 'e *']],
    ['ls', []],
    ['echo $(x)', []],
    ['ls "', []],
    [`bash -c '${'x'.repeat(300)}'`, []],
  ])('%s', (command, expected) => {
    expect(suggest(command)).toEqual(expected);
  });

  it('names only what needed approval', () => {
    expect(suggest('npm test && make x', ['npm test *'])).toEqual(['make x *']);
  });

  it('covers the command that it was made for', () => {
    for (const command of ['npm run build', 'git fetch && git push', 'make -j4 && cargo test', 'node a.js']) {
      expect(coverage(analyzeCommand(command), { allow: suggest(command) }).covered, command).toBe(true);
    }
  });
});
