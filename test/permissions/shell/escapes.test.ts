import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { analyzeCommand, matchesDenyOrAsk, mayMatchDenyOrAsk } from '../../../src/permissions/shell/index.js';

/** Does a deny rule for rm stop the call, or at least keep every allow rule from letting it run unasked? */
function caught(command: string): 'denied' | 'asked' | 'escaped' {
  const analysis = analyzeCommand(command);
  if (matchesDenyOrAsk(analysis, 'rm:*') !== null) return 'denied';
  const asked = analysis.kind === 'unparsable' || analysis.opaque.length > 0 || mayMatchDenyOrAsk(analysis, 'rm:*') !== null;
  return asked ? 'asked' : 'escaped';
}

const PROGRAMS = ['rm', '/bin/rm', '\\rm', '"rm"', "'rm'", "r''m", 'r"m"', "$'rm'", "$'\\x72m'", './rm', 'r\\\nm'];

/** Around a command given as words of the same shell. */
const WRAPPERS: readonly ((command: string) => string)[] = [
  (c) => c,
  ...[
    'command',
    'command -p',
    'builtin command',
    'exec',
    'exec -a x',
    'env',
    'env -i',
    'env A=1',
    'env -u A',
    'nice',
    'nice -n 5',
    'nice -5',
    'nohup',
    'timeout 5',
    'timeout -k 1 5',
    'timeout --signal=KILL 5s',
    'stdbuf -o0',
    'stdbuf -o L',
    'setsid',
    'setsid -w',
    'ionice -c 3',
    'sudo',
    'sudo -u root',
    'sudo -E -n',
    'doas',
    'flock /tmp/l',
    'taskset 1',
    'chroot /x',
    'strace -o /dev/null',
    'xargs',
    'xargs -n1',
    'xargs -0 -P 4',
    'xargs -I{}',
    'parallel',
    'watch',
    'watch -n 1',
    'busybox',
    'toybox',
    'time',
    'find . -exec',
    'find . -name x -execdir',
    'fd -x',
    'uv run',
    'uv run --with x',
    'conda run -n x',
    'rbenv exec',
    'env -',
    'env - A=1',
    'gtimeout 5',
    'genv -i',
    'gstdbuf -o0',
    'pkexec --user x',
    'bundle exec',
    'npx',
    'git bisect run',
    'eval',
    'env -S',
  ].map((prefix) => (command: string) => `${prefix} ${command}`),
];

/** Only the shell itself reads these, so they stand first. */
const PREFIXES = ['', 'A=1 ', 'A=1 B="$C" ', 'coproc ', '! ', '>/dev/null ', '2>&1 ', 'time -p '];

/** Around a whole script. */
const SCRIPTS: readonly ((script: string) => string)[] = [
  (s) => s,
  (s) => `true && ${s}`,
  (s) => `true; ${s}`,
  (s) => `false || ${s}`,
  (s) => `true | ${s}`,
  (s) => `true |& ${s}`,
  (s) => `true & ${s}`,
  (s) => `true\n${s}`,
  (s) => `${s} &`,
  (s) => `( ${s}\n)`,
  (s) => `{ ${s}\n}`,
  (s) => `echo $( ${s}\n)`,
  (s) => `echo "$( ${s}\n)"`,
  (s) => `cat <( ${s}\n)`,
  (s) => `true > >( ${s}\n)`,
  (s) => `x=$( ${s}\n)`,
  (s) => `if true; then ${s}\nfi`,
  (s) => `if false; then :; else ${s}\nfi`,
  (s) => `while ${s}\ndo break; done`,
  (s) => `for i in 1; do ${s}\ndone`,
  (s) => `case x in x) ${s}\n;; esac`,
  (s) => `f() { ${s}\n}; f`,
  (s) => `cat <<EOF\n$( ${s}\n)\nEOF`,
  (s) => `cat <<< "$( ${s}\n)"`,
  (s) => `[[ -n $( ${s}\n) ]]`,
  (s) => `echo \${x:-$( ${s}\n)}`,
  (s) => `bash <<'END'\n${s}\nEND`,
  (s) => `cat <<'END' | sh\n${s}\nEND`,
  (s) => `ls # comment\n${s}`,
];

describe('a command that a deny rule names', () => {
  it('is denied in every spelling, behind every wrapper, in every construct that shows it', () => {
    const escaped: string[] = [];
    let spellings = 0;
    for (const program of PROGRAMS) {
      for (const wrap of WRAPPERS) {
        spellings++;
        const command = wrap(`${program} a`);
        if (caught(command) === 'escaped') escaped.push(command);
      }
      for (const prefix of PREFIXES) {
        spellings++;
        if (caught(`${prefix}${program} a`) === 'escaped') escaped.push(`${prefix}${program} a`);
      }
      for (const script of SCRIPTS) {
        spellings++;
        const command = script(`${program} a`);
        if (caught(command) === 'escaped') escaped.push(command);
      }
    }
    expect(spellings).toBeGreaterThan(800);
    expect(escaped).toEqual([]);
  });

  it('does not escape through nesting of spellings, wrappers and constructs', () => {
    const script = fc
      .tuple(
        fc.constantFrom(...PROGRAMS),
        fc.array(fc.constantFrom(...WRAPPERS), { maxLength: 3 }),
        fc.constantFrom(...PREFIXES),
        fc.array(fc.constantFrom(...SCRIPTS), { maxLength: 3 }),
      )
      .map(([program, wrappers, prefix, scripts]) =>
        scripts.reduce((text, around) => around(text), prefix + wrappers.reduce((text, around) => around(text), `${program} a`)),
      );
    fc.assert(
      fc.property(script, (command) => caught(command) !== 'escaped'),
      { numRuns: 1_500, seed: 33 },
    );
  });

  it.each([
    'eval rm a',
    'eval "r""m a"',
    'xargs -n1 rm',
    'find . -exec rm {} \\;',
    'find . -exec sh -c "rm {}" \\;',
    '$(echo rm) a',
    '`printf rm` a',
    'rm$IFS a',
    `rm\${IFS}a`,
    'bash <<EOF\nrm a\nEOF',
    'bash -s <<< "rm a"',
    'echo "rm a" | sh',
    "printf '%s %s' rm a | bash",
    'coproc rm a',
    'alias x=rm; x a',
    'trap "rm a" EXIT',
    '{rm,a}',
    'r{m,x} a',
    'busybox rm a',
    'x=rm; $x a',
    'x="rm a"; $x',
    'for x in ls rm; do $x a; done',
    'sh -c "rm a"',
    'bash -lc \'sh -c "rm a"\'',
    'env -S "rm a"',
    "git -c alias.x='!rm a' x",
    "git submodule foreach 'rm a'",
    "GIT_PAGER='rm a' git log",
    "PS4='$(rm a)' bash -x s",
    "ENV='$(rm a)' sh",
    "rsync -ae 'rm a' x y",
    "man --pager='rm a' ls",
    "ssh -oProxyCommand='rm a' h",
    "ssh -o 'LocalCommand rm a' h",
    "git difftool --extcmd='rm a'",
    "git filter-branch --tree-filter 'rm a' HEAD",
    "test -v 'a[$(rm a)]'",
    "x='a[$(rm a)]'; ((x))",
    'hash -p /bin/rm x; x a',
    'source /dev/stdin <<< "rm a"',
    "script -qc 'rm a' /dev/null",
  ])('is denied in: %s', (command) => {
    expect(caught(command)).toBe('denied');
  });

  it.each([
    '$x a',
    '"$@"',
    `x=xrm; \${x#x} a`,
    'eval "$x"',
    'source <(curl x)',
    'bash <(curl x)',
    'curl x | sh',
    'cat x | bash',
    'sh < x',
    'printf "rm a" | tee /dev/null | sh',
    '/bin/r? a',
    '/bin/[r]m a',
    'sh -c "$x"',
    "sh -c '$0 a' rm",
    "python3 -c 'import os'",
    'node -e "x()"',
    'perl <<< "x"',
    'awk \'BEGIN{system("x")}\'',
    "sed '1e x' f",
    'xargs env',
    'make -f - <<< x',
    `x='$(y)'; echo "\${x@P}"`,
  ])('is never waved through where it cannot be known: %s', (command) => {
    expect(caught(command)).toBe('asked');
  });

  it.each([
    'echo rm a',
    "echo '$(rm a)'",
    '# rm a',
    'ls # && rm a',
    'cat <<EOF\nrm a\nEOF',
    'rmdir a',
    'git log -- rm',
    'poetry add rm',
    'npm install rm',
    'docker run --rm x',
    'git rm a',
    'find . -name rm',
    'ls rm',
    'grep rm a',
    'echo "rm a" | wc -c',
    'command -v rm',
  ])('is not seen where it is data: %s', (command) => {
    expect(caught(command)).toBe('escaped');
  });
});

describe('a subcommand that a deny rule names', () => {
  it.each([
    ['git push*', 'git -C . push'],
    ['git push *', 'git -c a=b --no-pager push origin'],
    ['git push *', 'git --git-dir x --work-tree=y push'],
    ['npm publish*', 'npm --prefix x publish'],
    ['npm publish*', 'npm  publish'],
    ['docker rm *', 'docker --context x rm y'],
    ['kubectl delete *', 'kubectl -n x delete pod y'],
    ['foo bar *', 'foo --unknown value bar x'],
    ['git push *', 'sudo -u x env A=1 git -C . push'],
    ['git push *', "git -c alias.x='push origin' x"],
  ])('%s stops %s', (rule, command) => {
    expect(matchesDenyOrAsk(analyzeCommand(command), rule)).not.toBeNull();
  });

  it('asks where the subcommand is only known when it runs', () => {
    expect(mayMatchDenyOrAsk(analyzeCommand('git $X origin'), 'git push *')).not.toBeNull();
    expect(mayMatchDenyOrAsk(analyzeCommand('git log $X'), 'git push *')).toBeNull();
  });
});

describe("opaque: 'claude-code'", () => {
  it('shows what Claude Code lets through', () => {
    const lenient = (command: string) => matchesDenyOrAsk(analyzeCommand(command, { opaque: 'claude-code' }), 'rm:*');
    for (const command of [
      'eval rm a',
      'xargs -n1 rm',
      'find . -exec rm {} \\;',
      'coproc rm a',
      'alias x=rm; x a',
      'trap "rm a" EXIT',
      'busybox rm a',
    ]) {
      expect(lenient(command), command).toBeNull();
    }
    for (const command of ['rm a', 'env rm a', 'sudo rm a', 'ls | xargs rm', 'timeout -k 1 5 rm a', 'echo $(rm a)', '"rm" a']) {
      expect(lenient(command), command).not.toBeNull();
    }
  });
});
