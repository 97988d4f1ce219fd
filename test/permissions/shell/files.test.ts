import { describe, expect, it } from 'vitest';
import { analyzeCommand, fileAccesses } from '../../../src/permissions/shell/index.js';

function files(command: string): string[] {
  return fileAccesses(analyzeCommand(command, { cwd: '/work/project' })).map(
    (file) => `${file.access} ${file.path ?? '?'}${file.glob ? ' (glob)' : ''}${file.indirect ? ' (indirect)' : ''}`,
  );
}

describe('files that a command names', () => {
  it.each<[string, string[]]>([
    ['cat a b', ['read a', 'read b']],
    ['cat "a b"', ['read a b']],
    ['head -n 3 a', ['read a']],
    ['tail -n1 a', ['read a']],
    ['grep -rn x a b', ['read a', 'read b']],
    ['grep -e x a', ['read a']],
    ['grep -f p a', ['read p', 'read a']],
    ['grep --file=p x', ['read p', 'read x']],
    ['grep -ifp x', ['read p', 'read x']],
    ['grep --exclude-from=e x a', ['read e', 'read a']],
    ['rg --ignore-file i x a', ['read i', 'read x', 'read a']],
    ['wc --files0-from=a', ['read a']],
    ['du --files0 a', ['read a']],
    ['diff -X x a b', ['read x', 'read a', 'read b']],
    ['date -fa', ['read a']],
    ['sed -n 1p a', ['read a']],
    ['sed -i -e s/a/b/ a b', ['write a', 'write b']],
    ['touch a', ['write a']],
    ['mkdir -p a/b', ['write a/b']],
    ['rm -rf a -- -b', ['remove a', 'remove -b']],
    ['mv a b', ['remove a', 'write b']],
    ['cp -r a b c', ['read a', 'read b', 'write c']],
    ['cp -t d a b', ['read a', 'read b', 'write d']],
    ['cp -td a', ['read a', 'write d']],
    ['cp -rt d a', ['read a', 'write d']],
    ['mv --target=d a', ['remove a', 'write d']],
    ['fd -e ts x a', ['read a']],
    ['git diff /etc/a', ['read /etc/a', 'read /etc/a (indirect)']],
    ['git show HEAD:a', ['read HEAD:a (indirect)', 'read a (indirect)']],
    ['git grep x -- a', ['read a (indirect)']],
    ['git status', []],
    ["sed 'r b' a", ['read b (indirect)', 'read a']],
    ["sed -n 's/x/y/w b' a", ['write b (indirect)', 'read a']],
    ["awk '1' a", ['read a']],
    ['tee a', ['write a']],
    ['find src -name x', ['read src']],
    ['find a b -delete', ['remove a', 'remove b']],
    ['dd if=a of=b', ['read a', 'write b']],
    ['uniq a b', ['read a', 'write b']],
    ['jq .a b', ['read b']],
    ['cat s*/k', ['read s*/k (glob)']],
    ['cat ~/.ssh/id', ['read ~/.ssh/id']],
    ["cat '~/x'", ['read ./~/x']],
    ['cat $X', ['read ?']],
    ['timeout 5 cat a', ['read a']],
    ['sudo -u x cat a', ['read a']],
    ['sh -c "cat a"', ['read a']],
    ['find . | xargs cat', ['read .']],
    ['echo $(cat a)', ['read a']],
    ['cat /dev/null', []],
    ['node a', []],
  ])('%s', (command, expected) => {
    expect(files(command)).toEqual(expected);
  });

  it.each<[string, string[]]>([
    ['echo > a', ['write a']],
    ['echo >> a 2> b', ['write a', 'write b']],
    ['echo &> a', ['write a']],
    ['echo >| a', ['write a']],
    ['> a', ['write a']],
    ['tr a b < a', ['read a']],
    ['echo 2>&1 > /dev/null', []],
    ['echo > $X', ['write ?']],
    ['echo > "$(x)"', ['write ?']],
    ['{ echo; } > a', ['write a']],
    ['if true; then echo > a; fi', ['write a']],
    ['sh -c "echo > a"', ['write a']],
    ['echo <> a', ['write a']],
    ['cat <<EOF > a\nx\nEOF', ['write a']],
  ])('redirections: %s', (command, expected) => {
    expect(files(command)).toEqual(expected);
  });

  it.each<[string, string[]]>([
    ['cd a && cat b', ['enter a', 'read a/b']],
    ['cd a; cat b', ['enter a', 'read a/b', 'read b']],
    ['cd a && cd ../c && cat b', ['enter a', 'enter c', 'read c/b']],
    ['(cd a && true); cat b', ['enter a', 'read b']],
    ['cd $X && cat b', ['enter ?', 'read b', 'read ?']],
    ['cd - && cat b', ['enter ?', 'read b', 'read ?']],
    ['cd a && echo > b', ['write a/b', 'enter a']],
    ['cd /work/project && cat b', ['enter /work/project', 'read b']],
    ['cd /work/project/a && cat b', ['enter /work/project/a', 'read a/b']],
    ['cd && cat b', ['enter ~', 'read ~/b']],
    ['if x; then cd a; fi; cat b', ['enter a', 'read b', 'read a/b']],
    ['cd a | cat b', ['enter a', 'read b']],
    ['command cd a && cat b', ['enter a', 'read a/b']],
  ])('directory changes: %s', (command, expected) => {
    expect(files(command).sort()).toEqual([...expected].sort());
  });
});
