/** Options, also abbreviated, that make a reading git command write, run a program or leave the repository. */
const NEVER = /^(-O|--(ou|ext-|textc|op|upload-p|exec|no-ind))/;

type Check = (args: readonly string[]) => boolean;

const anything: Check = () => true;
const flagsOnly =
  (allowed: RegExp): Check =>
  (args) =>
    args.every((arg) => allowed.test(arg));

/** Subcommands that read, with the forms in which they do. */
const READING: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['status', anything],
  ['log', anything],
  ['diff', anything],
  ['show', anything],
  ['blame', anything],
  ['shortlog', anything],
  ['describe', anything],
  ['rev-parse', anything],
  ['rev-list', anything],
  ['ls-files', anything],
  ['ls-tree', anything],
  ['cat-file', anything],
  ['merge-base', anything],
  ['for-each-ref', anything],
  ['grep', anything],
  ['name-rev', anything],
  ['diff-tree', anything],
  ['diff-index', anything],
  ['diff-files', anything],
  ['show-ref', (args) => !args.some((arg) => /^(-d|--delete)/.test(arg))],
  ['stash', (args) => args[0] === 'list' || args[0] === 'show'],
  [
    'reflog',
    (args) => args[0] === undefined || args[0] === 'show' || args[0].startsWith('-') || !/^(expire|delete|drop|write)$/.test(args[0]),
  ],
  ['worktree', (args) => args[0] === 'list'],
  ['remote', (args) => args.length === 0 || flagsOnly(/^(-v|--verbose)$/)(args) || (args[0] === 'get-url' && args.length === 2)],
  [
    'config',
    (args) =>
      // Not `--list`: it prints the credentials that stand in addresses and headers.
      /^(--get|--get-all|--get-regexp|get)$/.test(
        args.find(
          (arg) => !/^--(global|local|system|worktree|null|name-only|show-origin|show-scope|type=\w+|bool|int|path)$|^-z$/.test(arg),
        ) ?? '',
      ),
  ],
  ['branch', branchReads],
  ['tag', tagReads],
]);

export function readOnlyGit(args: readonly string[]): boolean {
  if (args.length === 1 && /^(--version|-v|--help|-h)$/.test(args[0] ?? '')) return true;
  const rest = args[0] === '--no-pager' ? args.slice(1) : args;
  const check = READING.get(rest[0] ?? '');
  if (check === undefined) return false;
  const own = rest.slice(1);
  return !own.some((arg) => NEVER.test(arg)) && check(own);
}

const BRANCH_FLAG =
  /^(-a|--all|-r|--remotes|-v|-vv|--verbose|--show-current|--list|-l|--no-color|--color(=\w+)?|--column(=\w+)?|--no-column|--sort=.*|--format=.*|-i|--ignore-case|--abbrev(=\d+)?|--no-abbrev)$/;
const BRANCH_VALUED = /^(--contains|--no-contains|--merged|--no-merged|--points-at|--sort|--format)(=|$)/;

function branchReads(args: readonly string[]): boolean {
  const listing = args.some((arg) => arg === '--list' || arg === '-l' || BRANCH_VALUED.test(arg));
  return args.every(
    (arg, index) =>
      BRANCH_FLAG.test(arg) || BRANCH_VALUED.test(arg) || (!arg.startsWith('-') && (listing || BRANCH_VALUED.test(args[index - 1] ?? ''))),
  );
}

const TAG_FLAG = /^(-l|--list|-n\d*|--no-color|--color(=\w+)?|--column(=\w+)?|--sort=.*|--format=.*|-i|--ignore-case)$/;

function tagReads(args: readonly string[]): boolean {
  const listing = args.some((arg) => arg === '-l' || arg === '--list' || /^-n\d*$/.test(arg) || BRANCH_VALUED.test(arg));
  return args.every((arg) => TAG_FLAG.test(arg) || BRANCH_VALUED.test(arg) || (!arg.startsWith('-') && listing));
}
