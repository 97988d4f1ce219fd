import { describe, expect, it } from 'vitest';
import { analyzeCommand, coverage, fileAccesses, matchesDenyOrAsk, mayMatchDenyOrAsk } from '../../../src/permissions/shell/index.js';

const ALLOW = [
  'npm run *',
  'npm test *',
  'npm ci',
  'npx tsc *',
  'npx vitest *',
  'node *',
  'git add *',
  'git commit *',
  'git checkout *',
  'git fetch *',
  'make *',
  'cargo *',
  'go *',
  'pytest *',
  'python -m pytest *',
  'docker compose *',
  'mkdir *',
  'kubectl get *',
  './gradlew *',
  'pnpm --filter * test',
  'terraform plan:*',
];
const GUARDED = ['rm -rf *', 'git push *', 'curl:*', 'sudo *', 'npm publish*', 'git reset --hard*', 'docker rm *', 'eval *'];

const COMMANDS = `
ls
ls -la
ls -la src test
ls *.ts
ls src/*.ts
ls -1 | wc -l
ls 2>/dev/null
ls && pwd
ls; pwd; date
ls || true
ls # what is here
pwd
whoami
id
date
date +%s
date -u "+%Y-%m-%d"
uptime
uname -a
hostname
df -h
du -sh .
free -m
ps aux
ps aux | grep node
echo hi
echo "a && b; c | d > e"
echo 'costs $5'
echo "it's"
echo -n x
echo $((1 + 2))
printf '%s\\n' x
cat package.json
cat a.txt b.txt
cat < a.txt
cat package.json | jq .scripts
cat 'a b.txt'
head -20 src/x.ts
head -n 3 a.txt
tail -5 a.txt
tail -n +10 a.txt
wc -l a.txt
wc -l src/*.ts
sort a.txt
sort -u -k2 a.txt | head
sort a.txt | uniq -c | sort -rn | head -5
cut -d, -f1 a.txt
tr a b < a.txt
tr -d '\\r' < a.txt
paste a.txt b.txt
comm a.txt b.txt
diff a.txt b.txt
diff -u a.txt b.txt | head
nl a.txt
tac a.txt
rev a.txt
fold -w 80 a.txt
column -t a.txt
od -c a.txt
hexdump -C a.txt
strings a.txt
md5sum a.txt
sha256sum a.txt
stat a.txt
file a.txt
readlink -f a.txt
realpath a.txt
basename a/b
dirname a/b
which node
type ls
tree -L 2
test -f a.txt && echo yes
[ -d src ] && ls src
[[ -f a.txt ]] && cat a.txt
expr 1 + 1
seq 1 5
true
sleep 1
grep -n foo src/x.ts
grep -rn "a|b" src | head -5
grep -E 'a|b' a.txt
grep -v '^#' a.txt
grep -c 'foo\\.bar' a.txt
rg export src
rg -n 'fn \\w+' src | head
rg --files | wc -l
find . -name "*.ts"
find src -type f | wc -l
find . -name "*.ts" -not -path "./node_modules/*"
find . -maxdepth 2 -type d
find . \\( -name '*.ts' -o -name '*.js' \\) -newer a.txt
find . -name "*.ts" | xargs grep -n foo
find . -name "*.ts" -print0 | xargs -0 wc -l
sed -n 1,20p src/x.ts
sed -n '5p' a.txt
cat a.txt | sed 's/a/b/g'
jq . a.json
jq -r '.scripts | keys[]' package.json
man ls
git status
git status --short
git log --oneline -5
git log --format='%h %s' | head
git log -p -- src/x.ts
git diff
git diff --stat HEAD~1
git diff main...HEAD -- src
git show HEAD
git show HEAD:src/x.ts
git blame src/x.ts
git branch
git branch --show-current
git branch -a
git rev-parse HEAD
git ls-files | wc -l
git remote -v
git stash list
git tag
git tag -l 'v*'
git config --get user.name
git describe --tags
git grep -n foo
git add .
git add -A
git commit -m "feat: x (#12)"
git commit -m "a; b | c > d"
git commit -m 'literal $(touch p)'
git commit --amend --no-edit
git add . && git commit -m "x"
git commit -m "$(cat <<'EOF'\\Nfeat: several lines; rm -rf /\\N\\Nbody with \`ticks\` and $vars\\NEOF\\N)"
git add a.md && \\\\N  git commit -m "x"
git checkout -b topic
git fetch origin
npm run build
npm run build 2>&1 | tail -20
npm run build > /dev/null
npm run build && npm test
npm run lint; npm run typecheck
npm run test:unit -- --watch=false
npm run build || echo failed
npm test
npm test -- --grep "a && b"
npm test 2>&1 | grep -i error
npm ci
cd src && npm test
cd src; npm run build
npx tsc --noEmit
npx tsc --noEmit 2>&1 | head
npx vitest run test/a.test.ts -t 'adds (1 + 2)'
NODE_ENV=test npm test
NO_COLOR=1 FORCE_COLOR=0 npm test
timeout 60 npm test
timeout -k 5 60s npm test
time npm run build
nice -n 10 make
nohup make all
command npm test
! npm test
node --version
node a.js
node a.js --flag "a b"
node scripts/x.mjs | head
node a.js < a.txt
node ../x.js
python --version
python3 --version
python -m pytest -q
pytest -q tests/test_a.py::test_x
pytest -k "a and not b"
make
make -j4 all
make test VERBOSE=1
cargo build --release
cargo test -- --nocapture
cargo fmt && cargo clippy
go build ./...
go test ./... | tail
./gradlew build
docker ps
docker images
docker logs x
docker compose up -d
docker compose logs | tail
kubectl get pods -n x
terraform plan -out=x
pnpm --filter web test
mkdir -p dist
if [ -f a.txt ]; then node a.js; fi
if npm test; then echo ok; else echo bad; fi
for i in 1 2 3; do npm test; done
while false; do ls; done
case x in x) ls ;; esac
git log \\\\N  --oneline
# only a comment
`
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => line.replaceAll('\\N', '\n'));

describe('harmless everyday commands under ordinary rules', () => {
  it('are at least 150', () => {
    expect(new Set(COMMANDS).size).toBeGreaterThanOrEqual(150);
  });

  it.each(COMMANDS)('runs unasked: %s', (command) => {
    const analysis = analyzeCommand(command, { cwd: '/work/project' });
    expect(GUARDED.filter((rule) => matchesDenyOrAsk(analysis, rule) !== null || mayMatchDenyOrAsk(analysis, rule) !== null)).toEqual([]);
    expect(coverage(analysis, { allow: ALLOW })).toMatchObject({ covered: true });
    const outside = fileAccesses(analysis).filter(
      (file) => file.path === null || /^(\/|~|\.\.)/.test(file.path) || (file.redirect && file.access !== 'read'),
    );
    expect(outside).toEqual([]);
  });
});
