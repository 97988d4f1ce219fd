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
    ['git -C a diff b', ['read a/b (indirect)']],
    ['git -C a -C b blame c', ['read a/b/c (indirect)']],
    ['git checkout -- a', ['write a (indirect)']],
    ['git mv a b', ['write a (indirect)', 'write b (indirect)']],
    ['git rm -f a', ['remove a (indirect)']],
    ['sort -o a b', ['write a', 'read a', 'read b']],
    ['sort b -uoa', ['write a', 'read b']],
    ['sort --output=a b', ['write a', 'read b']],
    ['tree -o a', ['write a', 'read a']],
    ['curl -so a https://x.test', ['write a (indirect)']],
    ['wget -O a https://x.test', ['write a (indirect)']],
    ["sed 'r b' a", ['read b (indirect)', 'read a']],
    ["sed -n 's/x/y/w b' a", ['write b (indirect)', 'read a']],
    ["awk '1' a", ['read a']],
    ['tee a', ['write a']],
    ['find src -name x', ['read src']],
    ['find a b -delete', ['remove a', 'remove b']],
    ['find a -name .env -exec cat {} +', ['read a/.env (indirect)', 'read a']],
    ["find . -name '*.key' -delete", ['remove *.key (indirect)', 'remove .']],
    ['find -L a -iname x -execdir wc {} +', ['read a/x (indirect)', 'read a']],
    ['find a -name .env -print', ['read a']],
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
    ['cat $HOME/a', ['read ?', 'read ~/a (indirect)']],
    [`cat "\${HOME}/a"`, ['read ?', 'read ~/a (indirect)']],
    ['cat $PWD/a', ['read ?', 'read a (indirect)']],
    ['cd b && cat "$PWD"/a', ['enter b', 'read ?', 'read b/a (indirect)']],
    ['HOME=/x; cat $HOME/a', ['read ?', 'read /x/a (indirect)']],
    ['f=a; cat $f', ['read ?', 'read a (indirect)']],
    ['f=$HOME/a; cat "$f"', ['read ?', 'read ~/a (indirect)']],
    ['cat {a,b}', ['read ?', 'read a (indirect)', 'read b (indirect)']],
    ['cat d/{a,b}c', ['read ?', 'read d/ac (indirect)', 'read d/bc (indirect)']],
    ['for f in a b*; do cat "$f"; done', ['read ?', 'read a (indirect)', 'read b* (glob) (indirect)']],
    ['cat $(echo a)', ['read ?', 'read a (indirect)']],
    ['echo > $HOME/a', ['write ?', 'write ~/a (indirect)']],
    ['cat < {a,}', ['read ?', 'read a (indirect)']],
    ['{cat,a}', ['read a (indirect)']],
    ['x=cat; $x a', ['read a (indirect)']],
    ['cd $HOME && cat a', ['enter ?', 'enter ~ (indirect)', 'read a', 'read ~/a', 'read ?']],
    ['d=a; d=b; cd $d; cat c', ['enter ?', 'enter a (indirect)', 'enter b (indirect)', 'read a/c', 'read b/c', 'read c']],
    [`cat \${X:-a}`, ['read ?', 'read a (indirect)']],
    ['cat $X/a', ['read ?']],
  ])('words that may become one: %s', (command, expected) => {
    expect(files(command).sort()).toEqual([...expected].sort());
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
