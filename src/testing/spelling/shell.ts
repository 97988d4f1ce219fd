import { quoted } from './quote.js';

/** A command that does what a pattern names, and how it is spelled. */
export interface SpelledCommand {
  readonly command: string;
  /** For a person: `behind timeout`, `after &&`. Empty for the plain spelling. */
  readonly spelling: string;
}

/** How many spellings of a call are derived: the plain one; each production once and some in pairs; or all pairs. */
export type Thoroughness = 'plain' | 'common' | 'thorough';

/** Arguments that give a bare program something harmless-looking to do. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  rm: '-rf build',
  git: 'push origin main',
  'git push': 'origin main',
  'git add': '-A',
  curl: 'https://example.com',
  wget: 'https://example.com',
  sudo: 'id',
  npm: 'install left-pad',
  'npm run': 'build',
  npx: 'left-pad',
  docker: 'ps',
  ssh: 'host id',
  kill: '-9 1234',
  chmod: '777 build',
  mv: 'build gone',
  cp: 'build copy',
  make: 'all',
  python: 'build.py',
  python3: 'build.py',
  node: 'build.js',
};

/** The plainest command that the content of a Bash rule speaks of. */
export function plainCommand(content: string): string {
  const text = content.trim();
  if (text === '' || text === '*') return 'touch made-by-exploration';
  const open = /^(.*?)(?::\*|[ ]\*)$/s.exec(text)?.[1];
  if (open !== undefined) return `${filled(open)} ${ARGUMENTS[open] ?? 'build'}`;
  return filled(text);
}

const filled = (text: string): string => text.replaceAll('\\*', '\u0000').replaceAll('*', 'x').replaceAll('\u0000', '*').trim();

interface Production {
  readonly spelling: string;
  readonly apply: (command: string) => string;
}

/** Other ways to write the first word. */
const NAMES: readonly Production[] = [
  { spelling: 'by its full path', apply: (word) => `/bin/${word}` },
  { spelling: 'with a backslash', apply: (word) => `\\${word}` },
  { spelling: 'in double quotes', apply: (word) => `"${word}"` },
  { spelling: 'in single quotes', apply: (word) => `'${word}'` },
  { spelling: 'with quotes inside', apply: (word) => `${word.slice(0, 1)}''${word.slice(1)}` },
  { spelling: "in $'…'", apply: (word) => `$'${word}'` },
  { spelling: 'with an escaped character', apply: (word) => `$'\\x${word.charCodeAt(0).toString(16)}${word.slice(1)}'` },
  { spelling: 'over two lines', apply: (word) => `${word.slice(0, 1)}\\\n${word.slice(1)}` },
];

const wrapper = (prefix: string): Production => ({ spelling: `behind ${prefix}`, apply: (command) => `${prefix} ${command}` });

/** Programs and words that run the command that follows. */
const WRAPPERS: readonly Production[] = [
  'command',
  'builtin command',
  'exec',
  'env',
  'env A=1',
  'A=1',
  'FOO="$BAR"',
  'nice -n 5',
  'nohup',
  'time',
  'timeout 5',
  'timeout -k 1 5',
  'stdbuf -o0',
  'setsid',
  'ionice -c 3',
  'flock /tmp/lock',
  'xargs',
  'xargs -n1',
  'sudo',
  'sudo -u root',
  'doas',
  'busybox',
  'watch -n 1',
  'strace -o /dev/null',
  '!',
  '>/dev/null',
  '2>&1',
].map((prefix) => wrapper(prefix));

const around = (spelling: string, apply: Production['apply']): Production => ({ spelling, apply });

/** `$((` would begin arithmetic: a subshell inside a substitution needs the space. */
const substituted = (c: string): string => (c.startsWith('(') ? `$( ${c} )` : `$(${c})`);

/** Scripts around the command. */
const SCRIPTS: readonly Production[] = [
  around('after &&', (c) => `true && ${c}`),
  around('after ;', (c) => `true; ${c}`),
  around('after ||', (c) => `false || ${c}`),
  around('after |', (c) => `true | ${c}`),
  around('after |&', (c) => `true |& ${c}`),
  around('after &', (c) => `true & ${c}`),
  around('on a second line', (c) => `true\n${c}`),
  around('in the background', (c) => `${c} &`),
  around('after a comment', (c) => `ls # nothing\n${c}`),
  around('in a subshell', (c) => `(${c})`),
  around('in a group', (c) => `{ ${c}; }`),
  around('in $(…)', (c) => `echo ${substituted(c)}`),
  around('in $(…) inside quotes', (c) => `echo "${substituted(c)}"`),
  around('in backquotes', (c) => `echo \`${c}\``),
  around('in <(…)', (c) => `cat <(${c})`),
  around('in an assignment', (c) => `x=${substituted(c)}`),
  around('in an if', (c) => `if true; then ${c}; fi`),
  around('in a loop', (c) => `for i in 1; do ${c}; done`),
  around('in a function', (c) => `f() { ${c}; }; f`),
  around('in a here document', (c) => `cat <<EOF\n${substituted(c)}\nEOF`),
  around('as a script of bash', (c) => `bash <<'END'\n${c}\nEND`),
  around('in bash -c', (c) => `bash -c ${quoted(c)}`),
  around('in sh -c after &&', (c) => `sh -c ${quoted(`true && ${c}`)}`),
  around('in eval', (c) => `eval ${quoted(c)}`),
  around('piped into sh', (c) => `echo ${quoted(c)} | sh`),
  around('in a trap', (c) => `trap ${quoted(c)} EXIT`),
  around('by find -exec', (c) => `find . -maxdepth 0 -exec ${c} \\;`),
  around('behind cd', (c) => `cd sub && ${c}`),
];

/** Spellings that show the command only when they run. */
const HIDDEN: readonly Production[] = [
  around('by a variable', (c) => {
    const [word = c, ...rest] = c.split(' ');
    return [`p=${word}; $p`, ...rest].join(' ');
  }),
  around('by a substitution', (c) => {
    const [word = c, ...rest] = c.split(' ');
    return [`$(echo ${word})`, ...rest].join(' ');
  }),
  around('decoded by base64', (c) => `echo ${Buffer.from(c).toString('base64')} | base64 -d | sh`),
  around('by an alias of git', (c) => `git -c alias.x=${quoted(`!${c}`)} x`),
];

const PLAIN: Production = { spelling: '', apply: (command) => command };

/** Pairs that are tried in `common`, out of all pairs: every n-th, so that each production is met. */
const PAIR_STRIDE = 29;
const MOST = 2_500;

/**
 * Ways to write a command: names, wrappers, scripts, nesting. `allowed` are the contents of Bash allow rules: what a wildcard in one of
 * them would cover is tried too, and commands joined to one that is allowed.
 */
export function spellCommand(plain: string, thoroughness: Thoroughness, allowed: readonly string[] = []): readonly SpelledCommand[] {
  if (thoroughness === 'plain') return [{ command: plain, spelling: '' }];
  const [word = plain, ...rest] = plain.split(' ');
  const named = /^[\w.-]+$/.test(word)
    ? NAMES.map(({ spelling, apply }) => ({ spelling, apply: () => [apply(word), ...rest].join(' ') }))
    : [];
  const inner = [...named, ...WRAPPERS];
  const singles: readonly Production[] = [PLAIN, ...inner, ...SCRIPTS, ...HIDDEN, ...withAllowed(allowed)];
  const pairs = inner
    .flatMap((first) => SCRIPTS.map((second) => pair(first, second)))
    .concat(SCRIPTS.flatMap((first) => SCRIPTS.map((second) => pair(first, second))));
  const chosen = thoroughness === 'thorough' ? pairs : pairs.filter((_, index) => index % PAIR_STRIDE === 0);
  const seen = new Map<string, SpelledCommand>();
  for (const { spelling, apply } of [...singles, ...chosen]) {
    const command = apply(plain);
    if (!seen.has(command)) seen.set(command, { command, spelling });
    if (seen.size >= MOST) break;
  }
  return [...seen.values()];
}

const pair = (first: Production, second: Production): Production => ({
  spelling: `${first.spelling}, ${second.spelling}`,
  apply: (command) => second.apply(first.apply(command)),
});

/** Beginnings of commands that run the words after them, and of those that run a text as a script. */
const RUNS_WORDS =
  /^(?:env|xargs|sudo|doas|nohup|nice|time|command|exec|watch|setsid|timeout \S+|flock \S+|busybox|(?:docker|podman) exec \S+|kubectl exec \S+ --|ssh \S+)$/;
const RUNS_SCRIPT = /(?:^|[ /])(?:ba|z|da|k)?sh(?: -\w+)* -\w*c$|^eval$|^ssh \S+$/;

/** What stands where an allow rule has its wildcard, and what follows a command that a rule allows. */
function withAllowed(contents: readonly string[]): readonly Production[] {
  return contents.flatMap((content) => {
    const text = content.trim();
    if (text === '' || text === '*') return [];
    const plain = plainCommand(text);
    const joined = ['&&', ';', '|', '||'].map((operator) =>
      around(`after ${plain} ${operator}`, (command) => `${plain} ${operator} ${command}`),
    );
    const head = /^(.*?)(?::\*|[ ]?\*)$/s.exec(text)?.[1];
    if (head === undefined) return joined;
    const bare = RUNS_WORDS.test(head) ? [around(`where ${text} has its wildcard`, (command) => `${head} ${command}`)] : [];
    const script = RUNS_SCRIPT.test(head)
      ? [
          around(`quoted where ${text} has its wildcard`, (command) => `${head} ${quoted(command)}`),
          around(`after && inside the quotes where ${text} has its wildcard`, (command) => `${head} ${quoted(`true && ${command}`)}`),
        ]
      : [];
    return [...joined, ...bare, ...script];
  });
}
